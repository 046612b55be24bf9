#!/usr/bin/env bash
# Curator 5.4.0 (Debian 12, with a server 3.8.0) and 5.9.0 (Apache's jars, 3.9.5), DistributedDoubleBarrier for two members: `leave` with a
# time-out that runs out, while the other member is inside, answers false or true by chance: false if the random name of its own znode is
# the first in the alphabet, true ("leaving was successful") if it is the second.
# Seen: Curator 5.4.0: leave for 1 s of the first by name: false, inside: 2; of the second by name: true, inside: 1
#       Curator 5.9.0: leave for 1 s of the first by name: false, inside: 2; of the second by name: true, inside: 1
. "$(dirname "$0")/lib/versions.sh"
get 3.9.5
python3 - <<'P'
from zk import *

PROGRAM = """
import java.util.*;
import java.util.concurrent.*;
import org.apache.curator.framework.*;
import org.apache.curator.framework.recipes.barriers.*;
import org.apache.curator.retry.*;

class Program {
    public static void main(String[] arguments) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient("127.0.0.1:" + arguments[0], 30000, 5000, new RetryNTimes(5, 100));
        client.start();
        ExecutorService threads = Executors.newCachedThreadPool();
        Map<Boolean, String> seen = new TreeMap<>();
        for (int n = 0; seen.size() < 2; n++) {
            String path = "/barrier" + n;
            client.create().forPath(path);
            DistributedDoubleBarrier one = new DistributedDoubleBarrier(client, path, 2), two = new DistributedDoubleBarrier(client, path, 2);
            Future<Boolean> entered = threads.submit(() -> one.enter(20, TimeUnit.SECONDS));
            while (client.getChildren().forPath(path).isEmpty()) Thread.sleep(10);
            String own = client.getChildren().forPath(path).get(0);
            if (!two.enter(20, TimeUnit.SECONDS) || !entered.get()) throw new IllegalStateException("not entered");
            List<String> names = new ArrayList<>(client.getChildren().forPath(path));
            names.remove("ready");
            Collections.sort(names);
            boolean left = one.leave(1, TimeUnit.SECONDS);
            int inside = 0;
            for (String name : client.getChildren().forPath(path)) if (!name.equals("ready")) inside++;
            seen.put(names.indexOf(own) == 1, left + ", inside: " + inside);
        }
        System.out.printf("leave for 1 s of the first by name: %s; of the second by name: %s%n", seen.get(false), seen.get(true));
        System.exit(0);
    }
}
"""
for version in "3.8.0", "3.9.5":
    server = Server(version)
    [seen] = program(version, PROGRAM, server.port)
    print(f"Curator {CURATOR[version]}: {seen}")
    assert seen == "leave for 1 s of the first by name: false, inside: 2; of the second by name: true, inside: 1", seen
    server.kill()
P
