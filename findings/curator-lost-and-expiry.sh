#!/usr/bin/env bash
# Curator 2.13.0 (Apache's jars, with a server 3.6.3), 5.4.0 (Debian 12, 3.8.0) and 5.9.0 (Apache's jars, 3.9.5): when LOST is reported, and
# when the session is over for others. Over a connection that goes silent (a proxy keeps what both sides send), with a session of 3 s and
# defaults otherwise, 5.x reports SUSPENDED when it has heard nothing for two thirds of the timeout, and LOST a whole timeout after that:
# the ephemeral is gone for others well before, so a holder that works until LOST works beside the next one. 2.13.0 reports LOST as soon as
# a retry policy has given up, here of a session of 20 s that goes on: its ephemeral never goes.
# Seen: Curator 5.4.0: silent connection: SUSPENDED, the ephemeral is gone for others, LOST 1 to 4 s later
#       Curator 5.9.0: silent connection: SUSPENDED, the ephemeral is gone for others, LOST 1 to 4 s later
#       Curator 2.13.0: a read given up in a short cut: SUSPENDED, LOST, RECONNECTED in the same session, the ephemeral is there
#       Curator 5.4.0: a read given up in a short cut: SUSPENDED, RECONNECTED in the same session, the ephemeral is there
#       Curator 5.9.0: a read given up in a short cut: SUSPENDED, RECONNECTED in the same session, the ephemeral is there
. "$(dirname "$0")/lib/versions.sh"
get 3.6.3 3.9.5
python3 - <<'P'
from zk import *

PROGRAM = """
import java.util.*;
import java.util.concurrent.*;
import org.apache.curator.framework.*;
import org.apache.curator.retry.*;
import org.apache.zookeeper.CreateMode;

class Program {
    static final List<String> seen = new CopyOnWriteArrayList<>();

    static CuratorFramework client(int port, int timeout, int retries) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient("127.0.0.1:" + port, timeout, 1000, new RetryNTimes(retries, 100));
        client.start();
        client.blockUntilConnected();
        return client;
    }

    static void note(String what) {
        seen.add(what + " " + System.nanoTime() / 1_000_000);
    }

    static void await(String what) throws Exception {
        while (seen.stream().noneMatch(line -> line.startsWith(what))) {
            Thread.sleep(10);
        }
    }

    public static void main(String[] arguments) throws Exception {
        boolean silent = arguments[1].equals("silent");
        int port = Integer.parseInt(arguments[0]);
        Proxy proxy = new Proxy(port);
        CuratorFramework other = client(port, 30000, 50), one = client(proxy.port, silent ? 3000 : 20000, silent ? 200 : 1);
        one.create().withMode(CreateMode.EPHEMERAL).forPath("/e");
        long session = one.getZookeeperClient().getZooKeeper().getSessionId();
        one.getConnectionStateListenable().addListener((client, state) -> note(state.name()));
        if (silent) {
            proxy.hold();
            while (other.checkExists().forPath("/e") != null) {
                Thread.sleep(10);
            }
            note("GONE");
            await("LOST");
        } else {
            proxy.cut();
            await("SUSPENDED");
            try {
                one.getData().forPath("/e");
                note("READ");
            } catch (Exception error) {
                Thread.sleep(1000);
            }
            proxy.mend();
            await("RECONNECTED");
            boolean there = other.checkExists().forPath("/e") != null && one.getZookeeperClient().getZooKeeper().getSessionId() == session;
            note(there ? "THERE" : "GONE");
        }
        System.out.println(String.join(", ", seen));
        System.exit(0);
    }
}
"""
def run(server, how):
    [line] = program(server.version, PROGRAM, server.port, how)
    return {word.split()[0]: int(word.split()[1]) / 1000 for word in line.split(", ")}

for version in "3.8.0", "3.9.5":
    server = Server(version)
    seen = run(server, "silent")
    print(f"Curator {CURATOR[version]}: silent connection: SUSPENDED, the ephemeral is gone for others, LOST 1 to 4 s later")
    assert seen["SUSPENDED"] < seen["GONE"] and 1 < seen["LOST"] - seen["GONE"] < 4, seen
    server.kill()
for version in "3.6.3", "3.8.0", "3.9.5":
    server = Server(version)
    seen = list(run(server, "cut"))
    states = ["SUSPENDED", "LOST", "RECONNECTED"] if version == "3.6.3" else ["SUSPENDED", "RECONNECTED"]
    print(f"Curator {CURATOR[version]}: a read given up in a short cut: {', '.join(states)} in the same session, the ephemeral is there")
    assert seen == states + ["THERE"], seen
    server.kill()
P
