import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Set;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.Ids;

/** Items are sequential znodes; a consumer reads the first one and deletes it, and the delete is the delivery: at most once. */
public class Recipe extends Zooquake.Recipe {
    private static final String PARENT = "@PARENT@";

    public static void main(String[] arguments) throws Exception {
        Zooquake.run(new Recipe());
    }

    @Override
    protected boolean knows(String f) {
        return Set.of("enqueue", "dequeue").contains(f);
    }

    @Override
    protected ObjectNode operate(String f, JsonNode value, Zooquake.Deadline deadline) throws Exception {
        return f.equals("enqueue") ? enqueue(number(value, "item")) : dequeue();
    }

    private ObjectNode enqueue(long item) throws Exception {
        byte[] data = Long.toString(item).getBytes();
        String path = zk().create(PARENT + "/item-", data, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_SEQUENTIAL);
        return Zooquake.object().put("item", item).put("path", path).putNull("czxid");
    }

    private ObjectNode dequeue() throws Exception {
        for (String name : children(PARENT, null)) {
            try {
                long item = Long.parseLong(new String(zk().getData(PARENT + "/" + name, false, null)));
                taking(item);
                zk().delete(PARENT + "/" + name, -1);
                return Zooquake.object().put("item", item);
            } catch (KeeperException.NoNodeException gone) {
                // Another consumer has it.
            }
        }
        return Zooquake.object().putNull("item");
    }
}
