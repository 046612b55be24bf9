import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.TreeSet;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * A member lists the group and reads each entry, with watches, and again after each event and each connection. It registers anew in a
 * new session.
 */
public class Recipe extends Zooquake.Group {
    private static final String PARENT = "@PARENT@";
    /** The member that this client is to be; null for none. */
    private String wanted;
    private long value;
    private volatile ObjectNode entry;
    /** One object: the client library keeps equal watches of a path as one, and sets them again after a lost connection. */
    private final Watcher watcher = event -> {
        if (event.getType() != Watcher.Event.EventType.None) inOrder(this::look);
    };

    public static void main(String[] arguments) throws Exception {
        Zooquake.run(new Recipe());
    }

    @Override
    protected synchronized ObjectNode operate(String f, JsonNode asked, Zooquake.Deadline deadline) throws Exception {
        if (f.equals("register")) return register(asked.path("member").asText(), number(asked, "value"));
        if (wanted == null) throw new Zooquake.Failed(Zooquake.NOT_REGISTERED);
        String path = PARENT + "/" + wanted;
        if (f.equals("deregister")) {
            wanted = null;
            entry = null;
            return Zooquake.object().set("removed", remove(path));
        }
        value = number(asked, "value");
        ObjectNode answer = Zooquake.object().put("path", path);
        if (registered() == null) return answer.set("mzxid", enter().get("czxid"));
        // Written again after an unknown outcome; if the session ends meanwhile, the new one begins with this value.
        return answer.put("mzxid", retry(() -> zk().setData(path, Long.toString(value).getBytes(), -1)).getMzxid());
    }

    private ObjectNode register(String member, long first) throws Exception {
        if (member.isEmpty()) throw new Zooquake.Failed("the value has no `member`");
        if (registered() != null) throw new Zooquake.Failed(Zooquake.REGISTERED_ALREADY);
        wanted = member;
        value = first;
        try {
            ObjectNode answer = enter();
            answer.remove("member");
            return answer;
        } catch (Exception error) {
            wanted = null;
            throw error;
        }
    }

    /** Its entry, with the session that it lives with. */
    private ObjectNode enter() throws Exception {
        String path = PARENT + "/" + wanted;
        Stat stat = makeOwn(path, Long.toString(value).getBytes());
        entry = Zooquake.object().put("member", wanted).put("path", path).put("czxid", stat.getCzxid());
        entry.put("session", Zooquake.hex(stat.getEphemeralOwner()));
        return entry.deepCopy();
    }

    @Override
    protected ObjectNode registered() {
        ObjectNode now = entry;
        if (now == null || !now.get("session").asText().equals(session())) return null;
        return now.deepCopy().without("session");
    }

    @Override
    @Zooquake.Hook
    protected void sessionChanged(String state) {
        super.sessionChanged(state);
        if (state.equals("connected")) inOrder(this::connected);
        else show(null, moment());
    }

    private Void connected() throws Exception {
        look();
        synchronized (this) {
            if (wanted != null && registered() == null) enter();
        }
        return null;
    }

    /** Is called in one thread alone, and in one session, so that no view is older than the one before it. */
    private Void look() throws Exception {
        long since = moment();
        ZooKeeper zk = zk();
        ArrayNode members = Zooquake.object().putArray("members");
        for (String name : new TreeSet<>(zk.getChildren(PARENT, watcher))) {
            String path = PARENT + "/" + name;
            try {
                Stat stat = new Stat();
                long shown = Long.parseLong(new String(zk.getData(path, watcher, stat)));
                ObjectNode member = members.addObject().put("member", name).put("path", path);
                member.put("czxid", stat.getCzxid()).put("mzxid", stat.getMzxid()).put("value", shown);
            } catch (KeeperException.NoNodeException left) {
                // It has left since it was listed.
            }
        }
        show(members, since);
        return null;
    }
}
