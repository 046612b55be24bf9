import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.QueueConsumer;
import org.apache.curator.framework.recipes.queue.QueueSerializer;
import org.apache.curator.framework.state.ConnectionState;

/** A queue of Curator's that gives its consumer each message. It may work at one while a dequeue is asked for, and does not otherwise. */
abstract class PushedQueue extends CuratorRecipe implements QueueConsumer<Long>, QueueSerializer<Long> {
    private static final String QUEUE = "/queue";
    private static final String LOCKS = "/queue-locks";
    private static final long LOOK_MS = 100;

    private final boolean acknowledges;
    private boolean started;
    /** What allows the queue to work at one more message. */
    private final Semaphore wanted = new Semaphore(0);
    private boolean asked;
    private final BlockingQueue<Long> given = new LinkedBlockingQueue<>();
    /** The message that the queue works at. */
    private volatile Message message;

    private static final class Message {
        final MadeZnodes made;
        final CountDownLatch acknowledged = new CountDownLatch(1);
        final CountDownLatch ended = new CountDownLatch(1);
        volatile String path;
        volatile Long item;

        Message(MadeZnodes made) {
            this.made = made;
        }
    }

    /** Whether a message is locked, and is the consumer's until that returns. */
    PushedQueue(boolean acknowledges) {
        this.acknowledges = acknowledges;
    }

    /** Builds the queue and starts it. */
    abstract void start(QueueBuilder<Long> builder) throws Exception;

    abstract void put(long item) throws Exception;

    @Override
    protected List<String> cannot() {
        return List.of("czxid", "taking");
    }

    @Override
    protected boolean knows(String f) {
        return Set.of("enqueue", "dequeue").contains(f) || acknowledges && f.equals("acknowledge");
    }

    @Override
    protected ObjectNode operate(String f, JsonNode value, Zooquake.Deadline deadline) throws Exception {
        if (!started) {
            QueueBuilder<Long> builder = QueueBuilder.builder(curator, this, this, QUEUE).putInBackground(false).executor(this::work);
            start(acknowledges ? builder.lockPath(LOCKS) : builder);
            started = true;
        }
        if (f.equals("dequeue")) return Zooquake.object().put("item", dequeue(deadline));
        long item = number(value, "item");
        if (f.equals("acknowledge")) return acknowledge(item, deadline);
        put(item);
        return Zooquake.object().put("item", item).putNull("path").putNull("czxid");
    }

    /** An item, or null where the queue was empty. */
    private Long dequeue(Zooquake.Deadline deadline) throws Exception {
        // What is worked at was given before, and is not acknowledged.
        Message present = message;
        if (acknowledges && present != null && present.item != null) return present.item;
        // One dequeue alone is allowed a message, also after one that raised.
        if (!asked) wanted.release();
        asked = true;
        while (true) {
            Long item = given.poll(LOOK_MS, TimeUnit.MILLISECONDS);
            if (item != null) {
                asked = false;
                return item;
            }
            boolean empty = deadline.left() > 0 && curator.getChildren().forPath(QUEUE).isEmpty();
            if ((empty || deadline.left() == 0) && wanted.tryAcquire()) {
                asked = false;
                if (empty) return null;
                throw new TimeoutException("no message came");
            }
        }
    }

    /** Does the queue's work at one message, which others may have taken meanwhile. */
    private void work(Runnable work) {
        Message present = null;
        try {
            wanted.acquire();
            present = new Message(new MadeZnodes(this, LOCKS));
            message = present;
            work.run();
        } catch (Exception error) {
            throw new IllegalStateException(error);
        } finally {
            message = null;
            if (present != null) present.ended.countDown();
            if (present == null || present.item == null) wanted.release();
        }
    }

    @Override
    public void consumeMessage(Long item) throws Exception {
        Message present = message;
        if (acknowledges) {
            // The lock of a message has its name.
            List<String> locks = present.made.now();
            present.path = locks.isEmpty() ? null : QUEUE + locks.get(0).substring(LOCKS.length());
        }
        present.item = item;
        given.put(item);
        if (acknowledges) present.acknowledged.await();
    }

    private ObjectNode acknowledge(long item, Zooquake.Deadline deadline) throws Exception {
        Message present = message;
        if (present == null || present.item == null || present.item != item) throw new Zooquake.Failed("not-held");
        present.acknowledged.countDown();
        deadline.await(present.ended);
        // The queue tells nobody whether it has removed a message.
        if (present.path == null || retry(() -> zk().exists(present.path, false)) != null) {
            throw new IllegalStateException("it may be in the queue still");
        }
        return Zooquake.object().put("item", item);
    }

    @Override
    public void stateChanged(CuratorFramework client, ConnectionState state) {}

    @Override
    public byte[] serialize(Long item) {
        return Long.toString(item).getBytes();
    }

    @Override
    public Long deserialize(byte[] data) {
        return Long.valueOf(new String(data));
    }

    /** That of the lock of the message that the queue works at. */
    @Override
    protected Map<String, Long> znodes() {
        Message present = message;
        return present == null ? Map.of() : present.made.named();
    }
}
