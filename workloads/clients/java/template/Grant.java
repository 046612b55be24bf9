import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.Ids;

/** Each contender creates a znode of its own; the first in the queue holds, each other one waits for the one before it to go. */
public class Recipe extends Zooquake.Grants {
    private static final String PARENT = "@PARENT@";

    public static void main(String[] arguments) throws Exception {
        Zooquake.run(new Recipe());
    }

    @Override
    protected String acquire(Zooquake.Deadline deadline) throws Exception {
        String prefix = UUID.randomUUID() + "-";
        try {
            String path = retry(() -> join(prefix));
            created(path);
            while (true) {
                List<String> queue = retry(this::queue);
                int place = queue.indexOf(path);
                if (place < 0) throw new IllegalStateException("the znode went with its session");
                if (place == 0) return path;
                CountDownLatch gone = new CountDownLatch(1);
                if (retry(() -> zk().exists(queue.get(place - 1), event -> gone.countDown())) != null) deadline.await(gone);
            }
        } catch (Exception error) {
            for (String path : retry(this::queue)) if (path.contains(prefix)) remove(path);
            throw error;
        }
    }

    /** Joins the queue once, though an earlier try may have done so without hearing of it. */
    private String join(String prefix) throws KeeperException, InterruptedException {
        for (String path : queue()) if (path.contains(prefix)) return path;
        return zk().create(PARENT + "/" + prefix, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL);
    }

    private List<String> queue() throws KeeperException, InterruptedException {
        return zk().getChildren(PARENT, false).stream()
                .sorted(Comparator.comparing(name -> name.substring(name.length() - 10)))
                .map(name -> PARENT + "/" + name)
                .collect(Collectors.toList());
    }
}
