import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;

/** Curator's InterProcessReadWriteLock, one object an acquire. */
public class Recipe extends OneGrant {
    private InterProcessLock lock;

    public static void main(String[] arguments) throws Exception {
        Zooquake.run(new Recipe());
    }

    private Recipe() {
        super("/rwlock");
    }

    @Override
    boolean acquired(long milliseconds) throws Exception {
        InterProcessReadWriteLock both = new InterProcessReadWriteLock(curator, "/rwlock");
        lock = mode.equals("shared") ? both.readLock() : both.writeLock();
        return lock.acquire(milliseconds, TimeUnit.MILLISECONDS);
    }

    @Override
    void giveBack() throws Exception {
        lock.release();
    }
}
