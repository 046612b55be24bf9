#!/usr/bin/env bash
# Curator 2.13.0 (Apache's jars, with a server 3.6.3), 5.4.0 (Debian 12, 3.8.0), 5.7.1 and 5.9.0 (Apache's jars, 3.9.3, 3.9.5), `delete().guaranteed()`:
# what failed with a lost connection is tried again in the background, by path alone, for as long as the client lives: FailedDeleteManager
# keeps neither the version that was asked for nor anything of the znode that was meant. A `withVersion(0)` that failed deletes what others
# have written since; a delete that was applied and whose reply was lost deletes the znode that another client has made at that path after
# it. Both calls raised ConnectionLoss. The javadoc of Guaranteeable promises attempts "to delete the node" for as long as the client is open;
# that they drop the condition is not said.
# Seen: Curator 2.13.0: withVersion(0) not sent, then version 3 written: deleted; reply lost, then made again by another client: deleted
#       Curator 5.4.0: withVersion(0) not sent, then version 3 written: deleted; reply lost, then made again by another client: deleted
#       Curator 5.7.1: withVersion(0) not sent, then version 3 written: deleted; reply lost, then made again by another client: deleted
#       Curator 5.9.0: withVersion(0) not sent, then version 3 written: deleted; reply lost, then made again by another client: deleted
. "$(dirname "$0")/lib/versions.sh"
get 3.6.3 3.9.3 3.9.5
python3 - <<'P'
from zk import *

PROGRAM = """
import org.apache.curator.framework.*;
import org.apache.curator.retry.*;
import org.apache.zookeeper.*;

class Program {
    static CuratorFramework client(int port) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient("127.0.0.1:" + port, 30000, 5000, new RetryOneTime(50));
        client.start();
        client.blockUntilConnected();
        return client;
    }

    static CuratorFramework other;

    /** What has become of the znode once the proxy is mended. */
    static String mended(Proxy proxy, String path) throws Exception {
        proxy.mend();
        long end = System.nanoTime() + 15_000_000_000L;
        while (System.nanoTime() < end) {
            if (other.checkExists().forPath(path) == null) {
                return "deleted";
            }
            Thread.sleep(20);
        }
        return "stays";
    }

    static void delete(CuratorFramework client, String path) throws Exception {
        try {
            client.delete().guaranteed().withVersion(0).forPath(path);
            throw new AssertionError("it did not raise");
        } catch (KeeperException.ConnectionLossException lost) {
            // The outcome is unknown to the caller.
        }
    }

    public static void main(String[] arguments) throws Exception {
        Proxy proxy = new Proxy(Integer.parseInt(arguments[0]));
        other = client(Integer.parseInt(arguments[0]));
        CuratorFramework client = client(proxy.port);
        other.create().forPath("/a", new byte[0]);
        proxy.cut();
        delete(client, "/a");
        for (int n = 0; n < 3; n++) {
            other.setData().forPath("/a", "another's".getBytes());
        }
        String written = mended(proxy, "/a");

        client.blockUntilConnected();
        other.create().forPath("/b", new byte[0]);
        proxy.lose(Proxy.DELETE);
        Thread cutter = new Thread(() -> {
            while (proxy.lost == 0) {
                Thread.onSpinWait();
            }
            proxy.cut();
        });
        cutter.start();
        delete(client, "/b");
        if (other.checkExists().forPath("/b") != null) {
            throw new AssertionError("the first delete was not applied");
        }
        other.create().forPath("/b", "another's".getBytes());
        String made = mended(proxy, "/b");
        System.out.printf("withVersion(0) not sent, then version 3 written: %s; reply lost, then made again by another client: %s%n", written, made);
        System.exit(0);
    }
}
"""
for version in "3.6.3", "3.8.0", "3.9.3", "3.9.5":
    server = Server(version)
    [seen] = program(version, PROGRAM, server.port)
    print(f"Curator {CURATOR[version]}: {seen}")
    assert seen == "withVersion(0) not sent, then version 3 written: deleted; reply lost, then made again by another client: deleted", seen
    server.kill()
P
