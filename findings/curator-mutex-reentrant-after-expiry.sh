#!/usr/bin/env bash
# Curator 2.13.0 (Apache's jars, with a server 3.6.3), 5.4.0 (Debian 12, 3.8.0) and 5.9.0 (Apache's jars, 3.9.5), InterProcessMutex: a
# thread that held the lock when its session expired holds it for that object until it releases. Connected again in a new session, its next
# `acquire(0, SECONDS)` answers true as a reentrant one, while another client holds the lock and has its only znode. So to ask for the lock
# again does not tell that it is lost, and gives two holders.
# Seen: Curator 2.13.0: the other has acquired: true; the first one, in its new session: still held true, acquire true; lock znodes: 1
#       Curator 5.4.0: the other has acquired: true; the first one, in its new session: still held true, acquire true; lock znodes: 1
#       Curator 5.9.0: the other has acquired: true; the first one, in its new session: still held true, acquire true; lock znodes: 1
. "$(dirname "$0")/lib/versions.sh"
get 3.6.3 3.9.5
python3 - <<'P'
from zk import *

PROGRAM = """
import java.util.concurrent.*;
import org.apache.curator.framework.*;
import org.apache.curator.framework.recipes.locks.*;
import org.apache.curator.retry.*;
import org.apache.zookeeper.*;

class Program {
    static CuratorFramework client(String port) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient("127.0.0.1:" + port, 30000, 5000, new RetryNTimes(50, 100));
        client.start();
        client.blockUntilConnected();
        return client;
    }

    public static void main(String[] arguments) throws Exception {
        CuratorFramework first = client(arguments[0]), other = client(arguments[0]);
        InterProcessMutex mine = new InterProcessMutex(first, "/lock"), others = new InterProcessMutex(other, "/lock");
        mine.acquire();
        // ZooKeeper's way to let a session expire in a test: it is closed from a second connection.
        ZooKeeper session = first.getZookeeperClient().getZooKeeper();
        long expired = session.getSessionId();
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper second = new ZooKeeper("127.0.0.1:" + arguments[0], 30000, event -> connected.countDown(), expired, session.getSessionPasswd());
        connected.await();
        second.close();
        boolean taken = CompletableFuture.supplyAsync(() -> {
            try {
                return others.acquire(20, TimeUnit.SECONDS);
            } catch (Exception error) {
                throw new CompletionException(error);
            }
        }).get();
        while (first.checkExists().forPath("/") == null || first.getZookeeperClient().getZooKeeper().getSessionId() == expired) {
            Thread.sleep(20);
        }
        System.out.printf("the other has acquired: %s; the first one, in its new session: still held %s, acquire %s; lock znodes: %d%n", taken,
            mine.isAcquiredInThisProcess(), mine.acquire(0, TimeUnit.SECONDS), first.getChildren().forPath("/lock").size());
        System.exit(0);
    }
}
"""
for version in "3.6.3", "3.8.0", "3.9.5":
    server = Server(version)
    [seen] = program(version, PROGRAM, server.port)
    print(f"Curator {CURATOR[version]}: {seen}")
    assert seen == "the other has acquired: true; the first one, in its new session: still held true, acquire true; lock znodes: 1", seen
    server.kill()
P
