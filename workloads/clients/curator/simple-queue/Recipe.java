import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Set;
import org.apache.curator.framework.recipes.queue.SimpleDistributedQueue;

/** Curator's SimpleDistributedQueue. */
public class Recipe extends CuratorRecipe {
    private SimpleDistributedQueue queue;

    public static void main(String[] arguments) throws Exception {
        Zooquake.run(new Recipe());
    }

    @Override
    protected List<String> cannot() {
        return List.of("czxid", "taking");
    }

    @Override
    protected boolean knows(String f) {
        return Set.of("enqueue", "dequeue").contains(f);
    }

    @Override
    protected ObjectNode operate(String f, JsonNode value, Zooquake.Deadline deadline) throws Exception {
        if (queue == null) queue = new SimpleDistributedQueue(curator, "/queue");
        if (f.equals("dequeue")) {
            byte[] data = queue.poll();
            return Zooquake.object().put("item", data == null ? null : Long.valueOf(new String(data)));
        }
        long item = number(value, "item");
        if (!queue.offer(Long.toString(item).getBytes())) throw new Zooquake.Failed("it was not added");
        return Zooquake.object().put("item", item).putNull("path").putNull("czxid");
    }
}
