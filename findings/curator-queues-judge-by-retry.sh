#!/usr/bin/env bash
# Curator 2.13.0 (Apache's jars, with a server 3.6.3), 5.4.0 (Debian 12, 3.8.0) and 5.9.0 (Apache's jars, 3.9.5), queues over a connection
# that ends with one reply lost: the retry policy sends the request again, and the recipe judges by the second answer. `poll` of
# SimpleDistributedQueue deletes an item, is told NoNode, takes it for another consumer's and answers with the next item: the first one is
# lost, with one consumer. `offer`, and `put` of DistributedQueue, leave the item twice, though Curator can protect such creates, and its
# locks do.
# Seen: Curator 2.13.0: a, b offered; polled, reply of the delete lost: b, left 0; offered once, of the create: left 2; put once: left 2
#       Curator 5.4.0: a, b offered; polled, reply of the delete lost: b, left 0; offered once, of the create: left 2; put once: left 2
#       Curator 5.9.0: a, b offered; polled, reply of the delete lost: b, left 0; offered once, of the create: left 2; put once: left 2
. "$(dirname "$0")/lib/versions.sh"
get 3.6.3 3.9.5
python3 - <<'P'
from zk import *

PROGRAM = """
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.*;
import org.apache.curator.framework.recipes.queue.*;
import org.apache.curator.retry.*;

class Program {
    public static void main(String[] arguments) throws Exception {
        Proxy proxy = new Proxy(Integer.parseInt(arguments[0]));
        CuratorFramework client = CuratorFrameworkFactory.newClient("127.0.0.1:" + proxy.port, 30000, 5000, new RetryNTimes(50, 100));
        client.start();
        SimpleDistributedQueue simple = new SimpleDistributedQueue(client, "/simple");
        simple.offer("a".getBytes());
        simple.offer("b".getBytes());
        proxy.lose(Proxy.DELETE);
        String polled = new String(simple.poll());
        int left = client.getChildren().forPath("/simple").size();
        proxy.lose(Proxy.CREATE, Proxy.CREATE2);
        simple.offer("c".getBytes());
        int offered = client.getChildren().forPath("/simple").size();
        QueueSerializer<String> serializer = new QueueSerializer<>() {
            public byte[] serialize(String item) {
                return item.getBytes();
            }

            public String deserialize(byte[] bytes) {
                return new String(bytes);
            }
        };
        DistributedQueue<String> queue = QueueBuilder.builder(client, null, serializer, "/queue").buildQueue();
        queue.start();
        proxy.lose(Proxy.CREATE, Proxy.CREATE2);
        queue.put("d");
        queue.flushPuts(20, TimeUnit.SECONDS);
        int put = client.getChildren().forPath("/queue").size();
        System.out.printf("%s %d %d %d %d%n", polled, left, offered, put, proxy.lost);
        System.exit(0);
    }
}
"""
for version in "3.6.3", "3.8.0", "3.9.5":
    server = Server(version)
    [line] = program(version, PROGRAM, server.port)
    polled, left, offered, put, lost = line.split()
    print(f"Curator {CURATOR[version]}: a, b offered; polled, reply of the delete lost: {polled}, left {left}; offered once, of the create: "
          f"left {offered}; put once: left {put}")
    assert (polled, left, offered, put, lost) == ("b", "0", "2", "2", "3"), line
    server.kill()
P
