#!/usr/bin/env bash
# Curator 2.13.0 (Apache's jars, with a server 3.6.3), 5.4.0 (Debian 12, 3.8.0) and 5.9.0 (Apache's jars, 3.9.5), InterProcessMultiLock:
# `acquire` with a time-out gives the whole of it to each of its locks, one after the other: with three locks that others release one by
# one, two seconds become four and a half. And where one of its locks raises, here below an ephemeral znode, it goes on to wait for the
# others, and raises then.
# Seen: Curator 2.13.0: acquire for 2 s, three locks released after 1.5, 3 and 4.5 s: true after 4.5 s; the first raises, the second is held: NoChildrenForEphemerals after 2 s
#       Curator 5.4.0: acquire for 2 s, three locks released after 1.5, 3 and 4.5 s: true after 4.5 s; the first raises, the second is held: NoChildrenForEphemerals after 2 s
#       Curator 5.9.0: acquire for 2 s, three locks released after 1.5, 3 and 4.5 s: true after 4.5 s; the first raises, the second is held: NoChildrenForEphemerals after 2 s
. "$(dirname "$0")/lib/versions.sh"
get 3.6.3 3.9.5
python3 - <<'P'
from zk import *

PROGRAM = """
import java.util.*;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.*;
import org.apache.curator.framework.recipes.locks.*;
import org.apache.curator.retry.*;
import org.apache.zookeeper.*;

class Program {
    static CuratorFramework client(String port) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient("127.0.0.1:" + port, 30000, 5000, new RetryNTimes(5, 100));
        client.start();
        client.blockUntilConnected();
        return client;
    }

    static String acquire(CuratorFramework client, String... paths) {
        long start = System.nanoTime();
        String answer;
        try {
            answer = "" + new InterProcessMultiLock(client, List.of(paths)).acquire(2, TimeUnit.SECONDS);
        } catch (KeeperException.NoChildrenForEphemeralsException error) {
            answer = "NoChildrenForEphemerals";
        } catch (Exception error) {
            answer = "" + error;
        }
        return answer + " " + (System.nanoTime() - start) / 1e9;
    }

    public static void main(String[] arguments) throws Exception {
        CuratorFramework client = client(arguments[0]), other = client(arguments[0]);
        String[] paths = {"/a", "/b", "/c"};
        List<InterProcessMutex> held = new ArrayList<>();
        for (String path : paths) {
            InterProcessMutex mutex = new InterProcessMutex(other, path);
            mutex.acquire();
            held.add(mutex);
        }
        String[] seen = new String[1];
        Thread waits = new Thread(() -> seen[0] = acquire(client, paths));
        waits.start();
        for (InterProcessMutex mutex : held) {
            Thread.sleep(1500);
            mutex.release();
        }
        waits.join();
        System.out.println(seen[0]);
        other.create().withMode(CreateMode.EPHEMERAL).forPath("/ephemeral");
        new InterProcessMutex(other, "/held").acquire();
        System.out.println(acquire(client, "/ephemeral/lock", "/held"));
        System.exit(0);
    }
}
"""
for version in "3.6.3", "3.8.0", "3.9.5":
    server = Server(version)
    (answer, seconds), (error, later) = (line.split() for line in program(version, PROGRAM, server.port))
    print(f"Curator {CURATOR[version]}: acquire for 2 s, three locks released after 1.5, 3 and 4.5 s: {answer} after {float(seconds):.1f} s; the first raises, the "
          f"second is held: {error} after {float(later):.0f} s")
    assert answer == "true" and 4.2 < float(seconds) < 5.5 and error == "NoChildrenForEphemerals" and 1.9 < float(later) < 4, (answer, seconds, error, later)
    server.kill()
P
