#!/usr/bin/env bash
# Curator 2.13.0 (Apache's jars, with a server 3.6.3), 5.4.0 (Debian 12, 3.8.0), 5.7.1 and 5.9.0 (Apache's jars, 3.9.3 and 3.9.5),
# LeaderLatch: a leader whose connection ends for less than its session timeout is told `notLeader` by all of them. Connected again, 2.13.0
# drops its znode and another one leads; 5.x keeps it and leads again. That is a second term in the znode of the first: what is made of its
# number or its czxid to fence off former terms does not change, and while the client was cut off nobody led.
# Seen: Curator 2.13.0: a leads, a does not, b leads; a's znode: another one
#       Curator 5.4.0: a leads, a does not, a leads; a's znode: the same
#       Curator 5.7.1: a leads, a does not, a leads; a's znode: the same
#       Curator 5.9.0: a leads, a does not, a leads; a's znode: the same
. "$(dirname "$0")/lib/versions.sh"
get 3.6.3 3.9.3 3.9.5
python3 - <<'P'
from zk import *

PROGRAM = """
import java.util.*;
import java.util.concurrent.*;
import org.apache.curator.framework.*;
import org.apache.curator.framework.recipes.leader.*;
import org.apache.curator.retry.*;

class Program {
    static final List<String> seen = new CopyOnWriteArrayList<>();

    static void latch(CuratorFramework client, String name) throws Exception {
        LeaderLatch latch = new LeaderLatch(client, "/latch", name);
        latch.addListener(new LeaderLatchListener() {
            public void isLeader() {
                seen.add(name + " leads");
            }

            public void notLeader() {
                seen.add(name + " does not");
            }
        });
        latch.start();
    }

    static CuratorFramework client(int port) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient("127.0.0.1:" + port, 20000, 5000, new RetryNTimes(100, 100));
        client.start();
        client.blockUntilConnected();
        return client;
    }

    static void await(int events) throws Exception {
        while (seen.size() < events) {
            Thread.sleep(10);
        }
    }

    static Set<String> znodes(CuratorFramework client) throws Exception {
        return new TreeSet<>(client.getChildren().forPath("/latch"));
    }

    public static void main(String[] arguments) throws Exception {
        Proxy proxy = new Proxy(Integer.parseInt(arguments[0]));
        CuratorFramework one = client(proxy.port), other = client(Integer.parseInt(arguments[0]));
        latch(one, "a");
        await(1);
        Set<String> first = znodes(other);
        latch(other, "b");
        while (znodes(other).size() < 2) {
            Thread.sleep(10);
        }
        proxy.cut();
        await(2);
        Thread.sleep(300);
        proxy.mend();
        await(3);
        while (znodes(other).size() < 2) {
            Thread.sleep(10);
        }
        System.out.println(String.join(", ", seen) + "; a's znode: " + (znodes(other).containsAll(first) ? "the same" : "another one"));
        System.exit(0);
    }
}
"""
for version in "3.6.3", "3.8.0", "3.9.3", "3.9.5":
    server = Server(version)
    [seen] = program(version, PROGRAM, server.port)
    print(f"Curator {CURATOR[version]}: {seen}")
    old = version == "3.6.3"
    assert seen == f"a leads, a does not, {'b' if old else 'a'} leads; a's znode: {'another one' if old else 'the same'}", seen
    server.kill()
P
