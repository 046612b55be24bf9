import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.framework.recipes.shared.VersionedValue;

/** Curator's SharedCount, one object an operation: `trySetCount` of the version that was read until it succeeds. */
public class Recipe extends CuratorCounter {
    public static void main(String[] arguments) throws Exception {
        Zooquake.run(new Recipe());
    }

    private Recipe() {
        super(Integer.BYTES);
    }

    @Override
    long increment(Zooquake.Deadline deadline) throws Exception {
        try (SharedCount count = started()) {
            while (deadline.left() > 0) {
                VersionedValue<Integer> read = count.getVersionedValue();
                if (count.trySetCount(read, read.getValue() + 1)) return read.getValue() + 1;
            }
        }
        throw new Zooquake.Failed("others were always first");
    }

    @Override
    long get() throws Exception {
        try (SharedCount count = started()) {
            return count.getCount();
        }
    }

    private SharedCount started() throws Exception {
        SharedCount count = new SharedCount(curator, COUNTER, 0);
        count.start();
        return count;
    }
}
