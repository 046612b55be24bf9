import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.zookeeper.data.Stat;

/** Curator's DistributedDoubleBarrier, one object an `enter`. */
public class Recipe extends CuratorRecipe {
    private DistributedDoubleBarrier barrier;
    /** Those of a member that enters or is inside; null when it is neither. */
    private volatile MadeZnodes made;

    public static void main(String[] arguments) throws Exception {
        Zooquake.run(new Recipe());
    }

    @Override
    protected List<String> cannot() {
        return List.of("removed");
    }

    @Override
    protected boolean knows(String f) {
        return Set.of("enter", "leave").contains(f);
    }

    @Override
    protected ObjectNode operate(String f, JsonNode value, Zooquake.Deadline deadline) throws Exception {
        long round = number(value, "round");
        try {
            return f.equals("enter") ? enter(round, (int) number(value, "members")) : leave(round);
        } finally {
            if (f.equals("leave")) made = null;
        }
    }

    private ObjectNode enter(long round, int members) throws Exception {
        String parent = "/barrier/" + round;
        made = new MadeZnodes(this, parent);
        barrier = new DistributedDoubleBarrier(curator, parent, members);
        try {
            barrier.enter();
            String path = made.now().get(0);
            Stat stat = retry(() -> zk().exists(path, false));
            ObjectNode answer = Zooquake.object().put("round", round).put("path", path).put("czxid", stat.getCzxid());
            return answer.put("session", Zooquake.hex(stat.getEphemeralOwner()));
        } catch (Exception error) {
            made = null;
            throw error;
        }
    }

    private ObjectNode leave(long round) throws Exception {
        barrier.leave();
        return Zooquake.object().put("round", round).putNull("removed");
    }

    /** Also the one that it waits with. */
    @Override
    protected Map<String, Long> znodes() {
        MadeZnodes present = made;
        return present == null ? Map.of() : present.named();
    }
}
