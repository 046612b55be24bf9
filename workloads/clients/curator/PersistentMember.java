import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.cache.ChildData;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.data.Stat;

/** A member by Curator's PersistentNode, which makes its znode again in each new session, of a group that a cache of Curator's watches. */
abstract class PersistentMember extends Zooquake.Group {
    static final String PARENT = "/members";

    private CuratorFramework curator;
    private PersistentNode node;
    private String path;
    private volatile ObjectNode entry;

    /** Begins to watch the group; is called once. */
    abstract void watch(CuratorFramework curator) throws Exception;

    /** Shows what the cache has now. */
    final synchronized void show(Stream<ChildData> cached) {
        ArrayNode members = Zooquake.object().putArray("members");
        cached.filter(child -> child.getPath().startsWith(PARENT + "/")).sorted().forEach(child -> {
            ObjectNode member = members.addObject().put("member", nameOf(child.getPath())).put("path", child.getPath());
            member.put("czxid", child.getStat().getCzxid()).put("mzxid", child.getStat().getMzxid());
            member.put("value", Long.parseLong(new String(child.getData())));
        });
        show(members, moment());
    }

    private static String nameOf(String path) {
        return path.substring(PARENT.length() + 1);
    }

    /** Curator opens each later session itself. */
    @Override
    protected void connect(String hosts, int timeoutMs) throws Exception {
        if (curator != null) return;
        curator = Curator.start(this, hosts, timeoutMs);
        watch(curator);
    }

    @Override
    protected ObjectNode operate(String f, JsonNode asked, Zooquake.Deadline deadline) throws Exception {
        if (f.equals("register")) return register(asked.path("member").asText(), data(asked), deadline);
        if (node == null) throw new Zooquake.Failed(Zooquake.NOT_REGISTERED);
        if (f.equals("update")) return update(data(asked), deadline);
        close();
        return Zooquake.object().putNull("removed");
    }

    private static byte[] data(JsonNode asked) throws Zooquake.Failed {
        return Long.toString(number(asked, "value")).getBytes();
    }

    private ObjectNode register(String member, byte[] data, Zooquake.Deadline deadline) throws Exception {
        if (member.isEmpty()) throw new Zooquake.Failed("the value has no `member`");
        if (registered() != null) throw new Zooquake.Failed(Zooquake.REGISTERED_ALREADY);
        if (node != null) close();
        path = PARENT + "/" + member;
        node = new PersistentNode(curator, CreateMode.EPHEMERAL, false, path, data);
        node.getListenable().addListener(made -> inOrder(() -> entered(made)));
        node.start();
        try {
            if (!node.waitForInitialCreate(deadline.left(), TimeUnit.MILLISECONDS)) throw new TimeoutException("it was not created");
            // Its listener is told after that.
            String made = path;
            inOrder(() -> entered(made));
            caughtUp(deadline);
            ObjectNode now = entry;
            if (now == null) throw new IllegalStateException("its znode has gone");
            return now.deepCopy().without("member");
        } catch (Exception error) {
            close();
            throw error;
        }
    }

    /** The node tells that it has made its znode, and not which one. */
    private Void entered(String made) throws Exception {
        Stat stat = created(made);
        ObjectNode now = Zooquake.object().put("member", nameOf(made)).put("path", made).put("czxid", stat.getCzxid());
        entry = now.put("session", Zooquake.hex(stat.getEphemeralOwner()));
        return null;
    }

    /** The node writes in the background and does not tell when that is done. */
    private ObjectNode update(byte[] data, Zooquake.Deadline deadline) throws Exception {
        node.setData(data);
        Stat stat = new Stat();
        while (!Arrays.equals(retry(() -> zk().getData(path, false, stat)), data)) {
            if (deadline.left() == 0) throw new TimeoutException("it was not written");
            Thread.sleep(10);
        }
        return Zooquake.object().put("path", path).put("mzxid", stat.getMzxid());
    }

    private void close() throws Exception {
        try {
            node.close();
        } finally {
            own.remove(path);
            node = null;
            entry = null;
        }
    }

    @Override
    protected ObjectNode registered() {
        ObjectNode now = entry;
        if (now == null || !now.get("session").asText().equals(session())) return null;
        return now.deepCopy().without("session");
    }
}
