#!/usr/bin/env bash
# Curator 2.13.0 (Apache's jars, with a server 3.6.3), 5.4.0 (Debian 12, 3.8.0) and 5.9.0 (Apache's jars, 3.9.5), InterProcessSemaphoreV2
# with one lease: `acquire` takes the lease under a mutex of its own, and hands it out only after that is released. When the release fails,
# as in an outage that the session survives and the retry policy does not, `acquire` raises, and the lease's znode stays. The mutex's
# znode goes, as its delete is guaranteed; the lease belongs to nobody for as long as that session lives, and no call of the object gives
# it back.
# Seen: Curator 2.13.0: acquire: ConnectionLoss; leases left: 1, znodes of the mutex: 0; other's acquire in 5 s: null; the session lives: true
#       Curator 5.4.0: acquire: ConnectionLoss; leases left: 1, znodes of the mutex: 0; other's acquire in 5 s: null; the session lives: true
#       Curator 5.9.0: acquire: ConnectionLoss; leases left: 1, znodes of the mutex: 0; other's acquire in 5 s: null; the session lives: true
. "$(dirname "$0")/lib/versions.sh"
get 3.6.3 3.9.5
python3 - <<'P'
from zk import *

PROGRAM = """
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.*;
import org.apache.curator.framework.recipes.locks.*;
import org.apache.curator.retry.*;

class Program {
    static CuratorFramework client(int port) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient("127.0.0.1:" + port, 30000, 5000, new RetryNTimes(3, 100));
        client.start();
        client.blockUntilConnected();
        return client;
    }

    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[0]);
        Proxy proxy = new Proxy(port);
        CuratorFramework client = client(proxy.port);
        long session = client.getZookeeperClient().getZooKeeper().getSessionId();
        // The outage begins with the reply of the mutex's delete, after the lease was found free.
        proxy.lose(Proxy.DELETE);
        Thread outage = new Thread(() -> {
            while (proxy.lost == 0) Thread.onSpinWait();
            proxy.cut();
        });
        outage.start();
        String got;
        try {
            got = "" + new InterProcessSemaphoreV2(client, "/semaphore", 1).acquire(20, TimeUnit.SECONDS);
        } catch (Exception error) {
            got = error instanceof org.apache.zookeeper.KeeperException.ConnectionLossException ? "ConnectionLoss" : "" + error;
        }
        outage.join();
        proxy.mend();
        client.blockUntilConnected();
        CuratorFramework other = client(port);
        InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(other, "/semaphore", 1);
        Lease free = semaphore.acquire(5, TimeUnit.SECONDS);
        boolean same = client.getZookeeperClient().getZooKeeper().getSessionId() == session;
        System.out.printf("acquire: %s; leases left: %d, znodes of the mutex: %d; other's acquire in 5 s: %s; the session lives: %s%n", got,
            semaphore.getParticipantNodes().size(), other.getChildren().forPath("/semaphore/locks").size(), free, same);
        System.exit(0);
    }
}
"""
for version in "3.6.3", "3.8.0", "3.9.5":
    server = Server(version)
    [seen] = program(version, PROGRAM, server.port)
    print(f"Curator {CURATOR[version]}: {seen}")
    assert seen == "acquire: ConnectionLoss; leases left: 1, znodes of the mutex: 0; other's acquire in 5 s: null; the session lives: true", seen
    server.kill()
P
