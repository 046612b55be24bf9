import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.framework.recipes.queue.QueueBuilder;

/** Curator's DistributedQueue without a lockPath. */
public class Recipe extends PushedQueue {
    private DistributedQueue<Long> queue;

    public static void main(String[] arguments) throws Exception {
        Zooquake.run(new Recipe());
    }

    private Recipe() {
        super(false);
    }

    @Override
    void start(QueueBuilder<Long> builder) throws Exception {
        queue = builder.buildQueue();
        queue.start();
    }

    @Override
    void put(long item) throws Exception {
        queue.put(item);
    }
}
