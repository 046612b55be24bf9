import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.data.Stat;

/** A queue of ephemeral znodes that does itself all that the kit does otherwise. TWIN names what it does wrong, or is `correct`. */
public class Recipe extends Zooquake.Grants {
    private static final String PARENT = "/lock";
    private static final String TWIN = System.getenv("TWIN");
    private static final long BEGUN = System.nanoTime();

    private volatile String mine;

    public static void main(String[] arguments) throws Exception {
        Zooquake.run(new Recipe());
    }

    @Override
    protected void connect(String hosts, int timeoutMs) throws Exception {
        open(hosts, timeoutMs, event -> {});
    }

    @Override
    protected String acquire(Zooquake.Deadline deadline) throws Exception {
        String path = mine = join(PARENT, "");
        try {
            for (List<String> ahead = ahead(path); !ahead.isEmpty(); ahead = ahead(path)) {
                waitGone(ahead.get(ahead.size() - 1), deadline);
            }
            return path;
        } catch (Exception error) {
            mine = null;
            throw error;
        }
    }

    @Override
    protected JsonNode release(ObjectNode held, Zooquake.Deadline deadline) throws Exception {
        String path = held.get("path").asText();
        mine = null;
        if (TWIN.equals("thief") && client.equals("c1")) {
            List<String> queue = children(PARENT, null);
            int behind = queue.indexOf(path.substring(PARENT.length() + 1)) + 1;
            if (behind > 0 && behind < queue.size()) {
                String other = PARENT + "/" + queue.get(behind);
                Stat stat = zk().exists(other, false);
                zk().delete(other, -1);
                remove(path);
                return Zooquake.object().put("path", other).put("czxid", stat.getCzxid());
            }
        }
        if (TWIN.equals("thief") && client.equals("c2") && System.nanoTime() - BEGUN > 5_000_000_000L) {
            throw new IllegalStateException("the lock's own mistake");
        }
        return remove(path);
    }

    @Override
    protected String lost(ObjectNode held, String state) {
        if (TWIN.equals("deaf")) return null;
        if (!state.equals("connected")) return state;
        return held.get("session").asText().equals(session()) ? null : "expired";
    }

    @Override
    protected Map<String, Long> znodes() {
        String present = mine;
        return present == null ? Map.of() : Map.of(present, 0L);
    }

    @Override
    protected Stat created(String path) throws Exception {
        return retry(() -> zk().exists(path, false));
    }

    @Override
    protected Long token(Stat stat) {
        return stat.getCzxid();
    }
}
