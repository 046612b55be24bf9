import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;

/** Curator's InterProcessSemaphoreV2, one object an acquire. */
public class Recipe extends OneGrant {
    /** As `capacity` in zooquake.toml. */
    private static final int LEASES = 2;

    private InterProcessSemaphoreV2 semaphore;
    private Lease lease;

    public static void main(String[] arguments) throws Exception {
        Zooquake.run(new Recipe());
    }

    private Recipe() {
        super("/semaphore");
    }

    @Override
    boolean acquired(long milliseconds) throws Exception {
        semaphore = new InterProcessSemaphoreV2(curator, "/semaphore", LEASES);
        lease = semaphore.acquire(milliseconds, TimeUnit.MILLISECONDS);
        return lease != null;
    }

    @Override
    void giveBack() {
        semaphore.returnLease(lease);
    }
}
