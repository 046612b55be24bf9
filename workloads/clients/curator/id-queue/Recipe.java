import org.apache.curator.framework.recipes.queue.DistributedIdQueue;
import org.apache.curator.framework.recipes.queue.QueueBuilder;

/** Curator's DistributedIdQueue, the id of an item being its number. */
public class Recipe extends PushedQueue {
    private DistributedIdQueue<Long> queue;

    public static void main(String[] arguments) throws Exception {
        Zooquake.run(new Recipe());
    }

    private Recipe() {
        super(false);
    }

    @Override
    void start(QueueBuilder<Long> builder) throws Exception {
        queue = builder.buildIdQueue();
        queue.start();
    }

    @Override
    void put(long item) throws Exception {
        queue.put(item, Long.toString(item));
    }
}
