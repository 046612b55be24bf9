#!/usr/bin/env bash
# Curator 5.4.0 (Debian 12, with a server 3.8.0), 5.7.1 and 5.9.0 (Apache's jars, 3.9.3, 3.9.5), CuratorCache: after a reconnect it reads every znode
# that it has, and compares by counters that begin anew with a znode (CuratorCacheImpl: `checkChildrenChanged` compares the cversion,
# `putStorage` calls listeners if the version is another). A znode that was deleted and made again in the meantime and has had as many
# children is not listed: a child of another name is not in the cache, for as long as nobody writes it. One that has been written as often
# has its new data in the cache, and no listener is called. TreeCache, which is deprecated in favour of it, compares neither and sees both.
# Its javadoc warns that a cache lags ("not possible to stay transactionally in sync"), not that it stays wrong.
# Seen: Curator 5.4.0: made again in an outage: CuratorCache misses the child, its listener is told [NODE_DELETED /c/dir/old], of /c/leaf it has new; TreeCache has the child, its listener is told of NODE_UPDATED /c/leaf
#       Curator 5.7.1: made again in an outage: CuratorCache misses the child, its listener is told [NODE_DELETED /c/dir/old], of /c/leaf it has new; TreeCache has the child, its listener is told of NODE_UPDATED /c/leaf
#       Curator 5.9.0: made again in an outage: CuratorCache misses the child, its listener is told [NODE_DELETED /c/dir/old], of /c/leaf it has new; TreeCache has the child, its listener is told of NODE_UPDATED /c/leaf
. "$(dirname "$0")/lib/versions.sh"
get 3.9.3 3.9.5
python3 - <<'P'
from zk import *

PROGRAM = """
import java.util.*;
import java.util.concurrent.*;
import org.apache.curator.framework.*;
import org.apache.curator.framework.recipes.cache.*;
import org.apache.curator.retry.*;

class Program {
    static final List<String> told = new CopyOnWriteArrayList<>(), treeTold = new CopyOnWriteArrayList<>();

    static CuratorFramework client(int port) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient("127.0.0.1:" + port, 30000, 5000, new RetryNTimes(100, 100));
        client.start();
        client.blockUntilConnected();
        return client;
    }

    static void until(Callable<Boolean> check) throws Exception {
        for (long end = System.nanoTime() + 30_000_000_000L; !check.call();) {
            if (System.nanoTime() > end) {
                throw new AssertionError("not within 30 s; told " + told + ", " + treeTold);
            }
            Thread.sleep(10);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Proxy proxy = new Proxy(Integer.parseInt(arguments[0]));
        CuratorFramework other = client(Integer.parseInt(arguments[0])), client = client(proxy.port), second = client(proxy.port);
        other.create().creatingParentsIfNeeded().forPath("/c/dir/old", "old".getBytes());
        other.create().forPath("/c/leaf", "old".getBytes());
        CuratorCache cache = CuratorCache.build(client, "/c");
        CountDownLatch ready = new CountDownLatch(2);
        cache.listenable().addListener((type, old, now) -> told.add(type + " " + (now == null ? old : now).getPath()));
        cache.listenable().addListener(CuratorCacheListener.builder().forInitialized(ready::countDown).build());
        cache.start();
        TreeCache tree = new TreeCache(second, "/c");
        tree.getListenable().addListener((from, event) -> {
            treeTold.add(event.getType() + (event.getData() == null ? "" : " " + event.getData().getPath()));
            if (event.getType() == TreeCacheEvent.Type.INITIALIZED) {
                ready.countDown();
            }
        });
        tree.start();
        ready.await();

        proxy.cut();
        until(() -> !client.getZookeeperClient().isConnected() && !second.getZookeeperClient().isConnected());
        told.clear();
        treeTold.clear();
        other.delete().forPath("/c/leaf");
        other.create().forPath("/c/leaf", "new".getBytes());
        other.delete().forPath("/c/dir/old");
        other.delete().forPath("/c/dir");
        other.create().forPath("/c/dir", new byte[0]);
        other.create().forPath("/c/dir/new", "new".getBytes());
        proxy.mend();
        until(() -> told.contains("NODE_DELETED /c/dir/old") && treeTold.contains("NODE_ADDED /c/dir/new"));
        // The answer to each of these comes after those to what was asked before.
        other.create().forPath("/c/mark", new byte[0]);
        for (int n = 1; n <= 5; n++) {
            int version = n;
            other.setData().forPath("/c/mark", new byte[0]);
            until(() -> cache.get("/c/mark").filter(mark -> mark.getStat().getVersion() == version).isPresent());
        }
        List<String> heard = new ArrayList<>(told);
        heard.removeIf(event -> event.endsWith("/c/mark"));
        System.out.printf("made again in an outage: CuratorCache %s the child, its listener is told %s, of /c/leaf it has %s; TreeCache %s the child, "
            + "its listener is told of %s%n", cache.get("/c/dir/new").isPresent() ? "has" : "misses", heard, new String(cache.get("/c/leaf").get().getData()),
            tree.getCurrentData("/c/dir/new") != null ? "has" : "misses", treeTold.contains("NODE_UPDATED /c/leaf") ? "NODE_UPDATED /c/leaf" : treeTold);
        System.exit(0);
    }
}
"""
for version in "3.8.0", "3.9.3", "3.9.5":
    server = Server(version)
    [seen] = program(version, PROGRAM, server.port)
    print(f"Curator {CURATOR[version]}: {seen}")
    assert seen == ("made again in an outage: CuratorCache misses the child, its listener is told [NODE_DELETED /c/dir/old], of /c/leaf it has new; "
                    "TreeCache has the child, its listener is told of NODE_UPDATED /c/leaf"), seen
    server.kill()
P
