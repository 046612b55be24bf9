#!/usr/bin/env bash
# Curator 2.13.0 (Apache's jars, with a server 3.6.3), 5.4.0 (Debian 12, 3.8.0) and 5.9.0 (Apache's jars, 3.9.5), DistributedDoubleBarrier
# for two members: `enter` with a time-out that runs out answers false and leaves its znode in the barrier. Whoever enters next is counted
# with it and passes alone, though the other member was told that it has not entered.
# Seen: Curator 2.13.0: first enter, alone: false, znodes left: 1; second enter, alone: true
#       Curator 5.4.0: first enter, alone: false, znodes left: 1; second enter, alone: true
#       Curator 5.9.0: first enter, alone: false, znodes left: 1; second enter, alone: true
. "$(dirname "$0")/lib/versions.sh"
get 3.6.3 3.9.5
python3 - <<'P'
from zk import *

PROGRAM = """
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.*;
import org.apache.curator.framework.recipes.barriers.*;
import org.apache.curator.retry.*;

class Program {
    public static void main(String[] arguments) throws Exception {
        boolean[] entered = new boolean[2];
        int left = 0;
        for (int n = 0; n < 2; n++) {
            CuratorFramework client = CuratorFrameworkFactory.newClient("127.0.0.1:" + arguments[0], 30000, 5000, new RetryNTimes(5, 100));
            client.start();
            client.blockUntilConnected();
            entered[n] = new DistributedDoubleBarrier(client, "/barrier", 2).enter(2, TimeUnit.SECONDS);
            left = n == 0 ? client.getChildren().forPath("/barrier").size() : left;
        }
        System.out.printf("first enter, alone: %s, znodes left: %d; second enter, alone: %s%n", entered[0], left, entered[1]);
        System.exit(0);
    }
}
"""
for version in "3.6.3", "3.8.0", "3.9.5":
    server = Server(version)
    [seen] = program(version, PROGRAM, server.port)
    print(f"Curator {CURATOR[version]}: {seen}")
    assert seen == "first enter, alone: false, znodes left: 1; second enter, alone: true", seen
    server.kill()
P
