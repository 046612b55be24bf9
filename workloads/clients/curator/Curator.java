import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator on trial. */
final class Curator {
    private Curator() {}

    /** A client that opens each of its sessions by a recipe's kit. */
    static CuratorFramework start(Zooquake.Recipe recipe, String hosts, int timeoutMs) {
        CuratorFramework client = CuratorFrameworkFactory.builder().connectString(hosts).sessionTimeoutMs(timeoutMs)
            .connectionTimeoutMs(timeoutMs).retryPolicy(new ExponentialBackoffRetry(100, 5))
            .zookeeperFactory((to, timeout, watcher, readOnly) -> recipe.open(to, timeout, watcher)).build();
        client.start();
        return client;
    }
}
