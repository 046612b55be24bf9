#!/usr/bin/env bash
# ZooKeeper's Java client 3.6.3 (Apache's jar), 3.8.0 (Debian 12), 3.9.3 and 3.9.5 (Apache's jars), connected with a chroot: two of its calls do not
# know of it. A `multi` answers with the path on the server where a `create` answers with that in the chroot: who goes on with the path of
# a sequential znode from a transaction is told NoNode, or meets another znode. `getEphemerals(prefix)` takes the prefix for one on the server and
# lists the paths there: the application's own prefix finds nothing, without an error. The programmer's guide: "all paths would be
# relative to this root". kazoo 2.11.0 and aiozk answer transactions inside their chroot.
# Seen: 3.6.3: create: /n-0000000001, in a multi: /app/n-0000000002, which getData does not find; getEphemerals: [/app/own/e], of /own: [], of /app/own: [/app/own/e]
#       3.8.0: create: /n-0000000001, in a multi: /app/n-0000000002, which getData does not find; getEphemerals: [/app/own/e], of /own: [], of /app/own: [/app/own/e]
#       3.9.3: create: /n-0000000001, in a multi: /app/n-0000000002, which getData does not find; getEphemerals: [/app/own/e], of /own: [], of /app/own: [/app/own/e]
#       3.9.5: create: /n-0000000001, in a multi: /app/n-0000000002, which getData does not find; getEphemerals: [/app/own/e], of /own: [], of /app/own: [/app/own/e]
. "$(dirname "$0")/lib/versions.sh"
get 3.6.3 3.9.3 3.9.5
python3 - <<'P'
from zk import *

PROGRAM = """
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.zookeeper.*;

class Program {
    static ZooKeeper client;

    static String create(String path, CreateMode mode) throws Exception {
        return client.create(path, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, mode);
    }

    static boolean found(String path) throws Exception {
        try {
            client.getData(path, false, null);
            return true;
        } catch (KeeperException.NoNodeException missing) {
            return false;
        }
    }

    public static void main(String[] arguments) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        client = new ZooKeeper("127.0.0.1:" + arguments[0] + "/app", 30000, event -> connected.countDown());
        connected.await();
        create("/own", CreateMode.PERSISTENT);
        create("/own/e", CreateMode.EPHEMERAL);
        Op op = Op.create("/n-", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_SEQUENTIAL);
        String alone = create("/n-", CreateMode.PERSISTENT_SEQUENTIAL);
        String together = ((OpResult.CreateResult) client.multi(List.of(op)).get(0)).getPath();
        System.out.printf("create: %s, in a multi: %s, which getData %s; getEphemerals: %s, of /own: %s, of /app/own: %s%n", alone, together,
            found(together) ? "finds" : "does not find", client.getEphemerals(), client.getEphemerals("/own"), client.getEphemerals("/app/own"));
        System.exit(0);
    }
}
"""
for version in "3.6.3", "3.8.0", "3.9.3", "3.9.5":
    server = Server(version)
    Client(server).create("/app")
    [seen] = program(version, PROGRAM, server.port)
    print(f"{version}: {seen}")
    assert seen == ("create: /n-0000000001, in a multi: /app/n-0000000002, which getData does not find; getEphemerals: [/app/own/e], of /own: [], "
                    "of /app/own: [/app/own/e]"), seen
    server.kill()
P
