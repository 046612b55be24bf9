import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/** Curator's InterProcessMutex, one object an acquire; with an argument, one object. */
public class Recipe extends OneGrant {
    private final boolean perProcess;
    private InterProcessMutex mutex;

    public static void main(String[] arguments) throws Exception {
        Zooquake.run(new Recipe(arguments.length > 0));
    }

    private Recipe(boolean perProcess) {
        super("/lock");
        this.perProcess = perProcess;
    }

    @Override
    boolean acquired(long milliseconds) throws Exception {
        if (mutex == null || !perProcess) mutex = new InterProcessMutex(curator, "/lock");
        return mutex.acquire(milliseconds, TimeUnit.MILLISECONDS);
    }

    @Override
    void giveBack() throws Exception {
        mutex.release();
    }
}
