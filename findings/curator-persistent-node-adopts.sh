#!/usr/bin/env bash
# Curator 2.13.0 (Apache's jars, with a server 3.6.3), 5.4.0 (Debian 12, 3.8.0) and 5.9.0 (Apache's jars, 3.9.5), PersistentNode, ephemeral:
# started on a path where another session's znode stands, it writes its data into that one and says that it was created, though no
# znode is its own: `waitForInitialCreate` is true, `getActualPath` names the other's. Its `close` deletes the other's znode, which
# that one makes again. A member that restarts sooner than its old session ends is registered by a znode that is about to go.
# Seen: Curator 2.13.0: second node created: true, the znode is of the first's session, data: second; second closed: first's znode gone, made again with: first
#       Curator 5.4.0: second node created: true, the znode is of the first's session, data: second; second closed: first's znode gone, made again with: first
#       Curator 5.9.0: second node created: true, the znode is of the first's session, data: second; second closed: first's znode gone, made again with: first
. "$(dirname "$0")/lib/versions.sh"
get 3.6.3 3.9.5
python3 - <<'P'
from zk import *

PROGRAM = """
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.*;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.retry.*;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.data.Stat;

class Program {
    static CuratorFramework client(String port) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient("127.0.0.1:" + port, 30000, 5000, new RetryNTimes(5, 100));
        client.start();
        client.blockUntilConnected();
        return client;
    }

    public static void main(String[] arguments) throws Exception {
        CuratorFramework one = client(arguments[0]), two = client(arguments[0]);
        PersistentNode first = new PersistentNode(one, CreateMode.EPHEMERAL, false, "/member", "first".getBytes());
        first.start();
        first.waitForInitialCreate(10, TimeUnit.SECONDS);
        Stat before = one.checkExists().forPath("/member");
        PersistentNode second = new PersistentNode(two, CreateMode.EPHEMERAL, false, "/member", "second".getBytes());
        second.start();
        boolean created = second.waitForInitialCreate(10, TimeUnit.SECONDS);
        Thread.sleep(1000);
        Stat then = new Stat();
        String data = new String(one.getData().storingStatIn(then).forPath("/member"));
        boolean same = then.getCzxid() == before.getCzxid() && then.getEphemeralOwner() == one.getZookeeperClient().getZooKeeper().getSessionId();
        second.close();
        Thread.sleep(2000);
        Stat after = new Stat();
        String again = new String(one.getData().storingStatIn(after).forPath("/member"));
        System.out.printf("second node created: %s, the znode is of the %s session, data: %s; second closed: first's znode %s with: %s%n", created,
            same ? "first's" : "second's", data, after.getCzxid() == then.getCzxid() ? "stays" : "gone, made again", again);
        System.exit(0);
    }
}
"""
for version in "3.6.3", "3.8.0", "3.9.5":
    server = Server(version)
    [seen] = program(version, PROGRAM, server.port)
    print(f"Curator {CURATOR[version]}: {seen}")
    assert seen == ("second node created: true, the znode is of the first's session, data: second; second closed: first's znode gone, made again "
                    "with: first"), seen
    server.kill()
P
