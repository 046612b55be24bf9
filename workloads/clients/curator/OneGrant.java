import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.data.Stat;

/** What is held by an object of Curator's, in the session that Curator opens. */
abstract class OneGrant extends Zooquake.Grants {
    protected CuratorFramework curator;
    private final String parent;
    /** Those of the attempt or the grant; null when there is none. */
    private volatile MadeZnodes made;
    private Stat stat;

    /** The znode of a grant is the first one below this parent. */
    OneGrant(String parent) {
        this.parent = parent;
    }

    /** Whether an object has acquired within so many milliseconds. What is false or raises leaves nothing that goes on. */
    abstract boolean acquired(long milliseconds) throws Exception;

    /** Gives back what that object holds. */
    abstract void giveBack() throws Exception;

    /** Curator opens each later session itself. */
    @Override
    protected void connect(String hosts, int timeoutMs) {
        if (curator == null) curator = Curator.start(this, hosts, timeoutMs);
    }

    @Override
    protected List<String> cannot() {
        return List.of("removed");
    }

    @Override
    protected String acquire(Zooquake.Deadline deadline) throws Exception {
        made = new MadeZnodes(this, parent);
        boolean holds = false;
        try {
            holds = acquired(deadline.left());
            if (!holds) throw new TimeoutException("it was not acquired");
            List<String> paths = made.now();
            stat = paths.isEmpty() ? null : retry(() -> zk().exists(paths.get(0), false));
            if (stat == null) throw new IllegalStateException("its znode has gone");
            return paths.get(0);
        } catch (Exception error) {
            if (holds) giveBack();
            made = null;
            throw error;
        }
    }

    @Override
    protected Stat created(String path) {
        return stat;
    }

    @Override
    protected JsonNode release(ObjectNode held, Zooquake.Deadline deadline) throws Exception {
        try {
            giveBack();
        } finally {
            made = null;
        }
        return null;
    }

    /** Also those that it waits with. */
    @Override
    protected Map<String, Long> znodes() {
        MadeZnodes present = made;
        return present == null ? Map.of() : present.named();
    }
}
