import java.util.List;
import org.apache.zookeeper.data.Stat;

/** Each contender joins a queue of ephemeral znodes; the first holds, each other one waits for the one before it to go. */
public class Recipe extends Zooquake.Grants {
    public static void main(String[] arguments) throws Exception {
        Zooquake.run(new Recipe());
    }

    /** The path of the znode that holds. */
    @Override
    protected String acquire(Zooquake.Deadline deadline) throws Exception {
        String path = join("@PARENT@", "");
        List<String> ahead = ahead(path);
        while (!ahead.isEmpty()) {
            waitGone(ahead.get(ahead.size() - 1), deadline);
            ahead = ahead(path);
        }
        return path;
    }

    /** Each holder's is higher than that of all before it: the resource refuses a lower one. */
    @Override
    protected Long token(Stat stat) {
        return stat.getCzxid();
    }
}
