import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Set;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;

/** A counter of Curator's. */
abstract class CuratorCounter extends CuratorRecipe {
    static final String COUNTER = "/counter";

    private final int width;

    /** Curator stores its number in so many bytes. */
    CuratorCounter(int width) {
        this.width = width;
    }

    /** Adds 1; the value that it made. {@link Zooquake.Failed} if nothing was added. */
    abstract long increment(Zooquake.Deadline deadline) throws Exception;

    /** The value. */
    abstract long get() throws Exception;

    @Override
    @Zooquake.Hook
    protected ZooKeeper newClient(String hosts, int timeoutMs, Watcher watcher) throws Exception {
        return new DecimalZnode(hosts, timeoutMs, watcher, COUNTER, width);
    }

    @Override
    protected boolean knows(String f) {
        return Set.of("increment", "get").contains(f);
    }

    @Override
    protected ObjectNode operate(String f, JsonNode value, Zooquake.Deadline deadline) throws Exception {
        ObjectNode answer = Zooquake.object();
        if (f.equals("get")) answer.put("value", get());
        else answer.put("id", increment(deadline));
        return answer.putNull("mzxid").put("session", session()).putNull("server");
    }
}
