import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;

/** Curator's InterProcessSemaphoreMutex, one object an acquire. */
public class Recipe extends OneGrant {
    private InterProcessSemaphoreMutex mutex;

    public static void main(String[] arguments) throws Exception {
        Zooquake.run(new Recipe());
    }

    private Recipe() {
        super("/lock");
    }

    @Override
    boolean acquired(long milliseconds) throws Exception {
        mutex = new InterProcessSemaphoreMutex(curator, "/lock");
        return mutex.acquire(milliseconds, TimeUnit.MILLISECONDS);
    }

    @Override
    void giveBack() throws Exception {
        mutex.release();
    }
}
