import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;

/** Curator's InterProcessMultiLock over two paths, one object an acquire. A grant is named by its znode in the first one. */
public class Recipe extends OneGrant {
    private InterProcessMultiLock locks;

    public static void main(String[] arguments) throws Exception {
        Zooquake.run(new Recipe());
    }

    private Recipe() {
        super("/lock");
    }

    @Override
    boolean acquired(long milliseconds) throws Exception {
        locks = new InterProcessMultiLock(curator, List.of("/lock/a", "/lock/b"));
        return locks.acquire(milliseconds, TimeUnit.MILLISECONDS);
    }

    @Override
    void giveBack() throws Exception {
        locks.release();
    }
}
