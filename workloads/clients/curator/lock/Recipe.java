import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.StandardLockInternalsDriver;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's InterProcessMutex in the session that Curator opens, one object an acquire. */
public class Recipe extends Zooquake.Grants {
    private static final String PARENT = "/lock";

    private CuratorFramework curator;
    private InterProcessMutex mutex;
    /** The znode that the present object has made; null before that, and when it has given it back. */
    private volatile String path;

    public static void main(String[] arguments) throws Exception {
        Zooquake.run(new Recipe());
    }

    /** Curator opens each later session itself. */
    @Override
    protected void connect(String hosts, int timeoutMs) {
        if (curator != null) return;
        curator = CuratorFrameworkFactory.builder().connectString(hosts).sessionTimeoutMs(timeoutMs).connectionTimeoutMs(timeoutMs)
            .retryPolicy(new ExponentialBackoffRetry(100, 5))
            .zookeeperFactory((to, timeout, watcher, readOnly) -> open(to, timeout, watcher)).build();
        curator.start();
    }

    @Override
    protected String acquire(Zooquake.Deadline deadline) throws Exception {
        path = null;
        mutex = new InterProcessMutex(curator, PARENT, new StandardLockInternalsDriver() {
            @Override
            public String createsTheLock(CuratorFramework client, String prefix, byte[] data) throws Exception {
                return path = super.createsTheLock(client, prefix, data);
            }
        });
        try {
            if (!mutex.acquire(deadline.left(), TimeUnit.MILLISECONDS)) throw new TimeoutException("it was not acquired");
            return path;
        } catch (Exception error) {
            path = null;
            throw error;
        }
    }

    @Override
    protected JsonNode release(ObjectNode held, Zooquake.Deadline deadline) throws Exception {
        try {
            mutex.release();
        } finally {
            path = null;
        }
        ObjectNode removed = Zooquake.object();
        removed.set("path", held.get("path"));
        return removed.set("czxid", held.get("czxid"));
    }

    @Override
    protected Map<String, Long> znodes() {
        Map<String, Long> named = new HashMap<>();
        String present = path;
        if (present != null) named.put(present, 0L);
        return named;
    }
}
