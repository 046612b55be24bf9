#!/usr/bin/env bash
# Curator 2.13.0 (Apache's jars, with a server 3.6.3), 5.4.0 (Debian 12, 3.8.0) and 5.9.0 (Apache's jars, 3.9.5), DistributedQueue with a
# lockPath, two consumers. A consumer whose session ends while it works at an item leaves the item, and its lock goes; but the other one,
# which has found it locked, looks again only when the list of items changes: it takes it with the next item that is put. And a lock is
# created without protection: when the reply to that is lost, the retry is told NodeExists, its consumer takes the lock for another's, and
# the item is nobody's for as long as that session lives.
# Seen: Curator 2.13.0: the worker's session is over: locks 0, consumed by the other in 5 s: []; one more put: [work, more]; reply of a lock lost: consumed [], and with one more put: [more], locks left 1
#       Curator 5.4.0: the worker's session is over: locks 0, consumed by the other in 5 s: []; one more put: [work, more]; reply of a lock lost: consumed [], and with one more put: [more], locks left 1
#       Curator 5.9.0: the worker's session is over: locks 0, consumed by the other in 5 s: []; one more put: [work, more]; reply of a lock lost: consumed [], and with one more put: [more], locks left 1
. "$(dirname "$0")/lib/versions.sh"
get 3.6.3 3.9.5
python3 - <<'P'
from zk import *

PROGRAM = """
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.apache.curator.framework.*;
import org.apache.curator.framework.recipes.queue.*;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.*;

class Program {
    static class Strings implements QueueSerializer<String> {
        public byte[] serialize(String item) {
            return item.getBytes();
        }

        public String deserialize(byte[] bytes) {
            return new String(bytes);
        }
    }

    static class Consumer implements QueueConsumer<String> {
        final CuratorFramework client;
        final List<String> consumed;
        final CountDownLatch working = new CountDownLatch(1);
        final boolean forEver;

        Consumer(int port, String path, List<String> consumed, boolean forEver) throws Exception {
            this.consumed = consumed;
            this.forEver = forEver;
            client = client(port);
            QueueBuilder.builder(client, this, new Strings(), path).lockPath(path + "-locks").buildQueue().start();
        }

        public void consumeMessage(String item) throws Exception {
            working.countDown();
            if (forEver) Thread.sleep(1000000);
            consumed.add(item);
        }

        public void stateChanged(CuratorFramework client, ConnectionState state) {}
    }

    static CuratorFramework client(int port) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient("127.0.0.1:" + port, 30000, 5000, new RetryNTimes(50, 100));
        client.start();
        client.blockUntilConnected();
        return client;
    }

    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[0]);
        CuratorFramework client = client(port);

        List<String> consumed = new CopyOnWriteArrayList<>();
        Consumer worker = new Consumer(port, "/gone", consumed, true);
        DistributedQueue<String> queue = QueueBuilder.builder(client, null, new Strings(), "/gone").putInBackground(false).buildQueue();
        queue.start();
        queue.put("work");
        worker.working.await();
        new Consumer(port, "/gone", consumed, false);
        Thread.sleep(2000);
        worker.client.getZookeeperClient().getZooKeeper().close();
        Thread.sleep(5000);
        System.out.printf("the worker's session is over: locks %d, consumed by the other in 5 s: %s; ", client.getChildren().forPath("/gone-locks").size(), consumed);
        queue.put("more");
        Thread.sleep(2000);
        System.out.printf("one more put: %s; ", consumed);

        consumed = new CopyOnWriteArrayList<>();
        Proxy proxy = new Proxy(port);
        new Consumer(proxy.port, "/lost", consumed, false);
        queue = QueueBuilder.builder(client, null, new Strings(), "/lost").putInBackground(false).buildQueue();
        queue.start();
        Thread.sleep(1000);
        proxy.lose(Proxy.CREATE, Proxy.CREATE2);
        queue.put("item");
        Thread.sleep(3000);
        System.out.printf("reply of a lock lost: consumed %s", consumed);
        new Consumer(port, "/lost", consumed, false);
        queue.put("more");
        Thread.sleep(3000);
        System.out.printf(", and with one more put: %s, locks left %d%n", consumed, client.getChildren().forPath("/lost-locks").size());
        System.exit(0);
    }
}
"""
for version in "3.6.3", "3.8.0", "3.9.5":
    server = Server(version)
    [seen] = program(version, PROGRAM, server.port)
    print(f"Curator {CURATOR[version]}: {seen}")
    assert seen == ("the worker's session is over: locks 0, consumed by the other in 5 s: []; one more put: [work, more]; reply of a lock lost: consumed [], "
                    "and with one more put: [more], locks left 1"), seen
    server.kill()
P
