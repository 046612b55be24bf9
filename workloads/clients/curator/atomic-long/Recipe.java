import org.apache.curator.framework.recipes.atomic.AtomicValue;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.retry.RetryNTimes;

/** Curator's DistributedAtomicLong in its optimistic mode. */
public class Recipe extends CuratorCounter {
    public static void main(String[] arguments) throws Exception {
        Zooquake.run(new Recipe());
    }

    private Recipe() {
        super(Long.BYTES);
    }

    @Override
    long increment(Zooquake.Deadline deadline) throws Exception {
        return succeeded(number().increment());
    }

    @Override
    long get() throws Exception {
        return succeeded(number().get());
    }

    private DistributedAtomicLong number() {
        return new DistributedAtomicLong(curator, COUNTER, new RetryNTimes(100, 10));
    }

    private static long succeeded(AtomicValue<Long> value) throws Zooquake.Failed {
        if (!value.succeeded()) throw new Zooquake.Failed("it has not succeeded");
        return value.postValue();
    }
}
