#!/usr/bin/env bash
# Curator 2.13.0 (Apache's jars, with a server 3.6.3), 5.4.0 (Debian 12, 3.8.0) and 5.9.0 (Apache's jars, 3.9.5), DistributedDoubleBarrier
# for two members. `enter` that waits raises ConnectionLoss as soon as its connection ends, whatever the retry policy; one whose create
# loses its reply raises NodeExists, as its znode is not protected. Either leaves the znode in a session that lives, and whoever enters
# next is counted with it and passes alone. When the reply of its list is lost 5.4.0 and 5.9.0 mostly answer true to a member that is
# alone (ten tries here): the reconnect's event counts as that of `ready`.
# Seen: Curator 2.13.0: connection cut: ConnectionLoss, znodes left 1, next member, alone: true; reply of create lost: NodeExists, znodes left 1
#       Curator 5.4.0: connection cut: ConnectionLoss, znodes left 1, next member, alone: true; reply of create lost: NodeExists, znodes left 1; replies of lists lost, alone: true
#       Curator 5.9.0: connection cut: ConnectionLoss, znodes left 1, next member, alone: true; reply of create lost: NodeExists, znodes left 1; replies of lists lost, alone: true
. "$(dirname "$0")/lib/versions.sh"
get 3.6.3 3.9.5
python3 - <<'P'
from zk import *

PROGRAM = """
import java.util.concurrent.*;
import org.apache.curator.framework.*;
import org.apache.curator.framework.recipes.barriers.*;
import org.apache.curator.retry.*;

class Program {
    static final int CHILDREN = 8, CHILDREN2 = 12;
    static final ExecutorService threads = Executors.newCachedThreadPool();

    static CuratorFramework client(int port) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient("127.0.0.1:" + port, 30000, 5000, new RetryNTimes(50, 100));
        client.start();
        client.blockUntilConnected();
        return client;
    }

    /** What `enter` answers whose time-out is 2 s. */
    static String enter(CuratorFramework client, String path) throws Exception {
        try {
            return "" + threads.submit(() -> new DistributedDoubleBarrier(client, path, 2).enter(2, TimeUnit.SECONDS)).get(4, TimeUnit.SECONDS);
        } catch (TimeoutException waits) {
            return "waits";
        } catch (ExecutionException error) {
            return error.getCause().getClass().getSimpleName().replace("Curator", "").replace("Exception", "");
        }
    }

    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[0]);
        Proxy proxy = new Proxy(port);
        CuratorFramework client = client(proxy.port), other = client(port);
        for (String parent : new String[] {"/cut", "/create", "/list"}) other.create().forPath(parent);

        Future<String> waits = threads.submit(() -> enter(client, "/cut"));
        while (other.getChildren().forPath("/cut").isEmpty()) Thread.sleep(10);
        Thread.sleep(500);
        proxy.cut();
        String cut = waits.get();
        proxy.mend();
        client.blockUntilConnected();
        int left = other.getChildren().forPath("/cut").size();
        System.out.printf("connection cut: %s, znodes left %d, next member, alone: %s; ", cut, left, enter(other, "/cut"));

        proxy.lose(Proxy.CREATE, Proxy.CREATE2);
        String create = enter(client, "/create");
        System.out.printf("reply of create lost: %s, znodes left %d", create, other.getChildren().forPath("/create").size());
        if (arguments.length == 1) System.exit(0);

        // Which of the two threads comes first is not certain.
        String list = "no true";
        for (int n = 0; n < 10 && list.equals("no true"); n++) {
            proxy.lose(CHILDREN, CHILDREN2);
            if (enter(client, "/list/" + n).equals("true")) list = "true";
        }
        System.out.printf("; replies of lists lost, alone: %s%n", list);
        System.exit(0);
    }
}
"""
for version in "3.6.3", "3.8.0", "3.9.5":
    server = Server(version)
    [seen] = program(version, PROGRAM, server.port, *["lists"] * (version != "3.6.3"))
    print(f"Curator {CURATOR[version]}: {seen}")
    expected = "connection cut: ConnectionLoss, znodes left 1, next member, alone: true; reply of create lost: NodeExists, znodes left 1"
    assert seen == expected + ("" if version == "3.6.3" else "; replies of lists lost, alone: true"), seen
    server.kill()
P
