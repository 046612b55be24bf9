import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.data.Stat;

/** Who enters creates a znode below that of the round and waits for `ready`, which the last one creates; all leave together. */
public class Recipe extends Zooquake.Recipe {
    public static void main(String[] arguments) throws Exception {
        Zooquake.run(new Recipe());
    }

    @Override
    protected boolean knows(String f) {
        return Set.of("enter", "leave").contains(f);
    }

    @Override
    protected ObjectNode operate(String f, JsonNode value, Zooquake.Deadline deadline) throws Exception {
        ObjectNode answer = Zooquake.object().put("round", number(value, "round"));
        String parent = "@PARENT@/" + number(value, "round");
        if (f.equals("leave")) return answer.set("removed", leave(parent, deadline));
        Stat own = enter(parent, number(value, "members"), deadline);
        String session = Zooquake.hex(own.getEphemeralOwner());
        return answer.put("path", parent + "/" + client).put("czxid", own.getCzxid()).put("session", session);
    }

    private Stat enter(String parent, long members, Zooquake.Deadline deadline) throws Exception {
        while (true) {
            CountDownLatch opened = new CountDownLatch(1);
            Stat ready = retry(() -> zk().exists(parent + "/ready", event -> opened.countDown()));
            Stat own = makeOwn(parent + "/" + client);
            if (ready != null) return own;
            if (children(parent, null).size() >= members) make(parent + "/ready", CreateMode.PERSISTENT);
            deadline.await(opened);
        }
    }

    private JsonNode leave(String parent, Zooquake.Deadline deadline) throws Exception {
        JsonNode removed = remove(parent + "/" + client);
        while (true) {
            CountDownLatch changed = new CountDownLatch(1);
            // Only `ready`.
            if (children(parent, event -> changed.countDown()).size() == 1) return removed;
            deadline.await(changed);
        }
    }
}
