import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;

/** Curator's LeaderSelector, one object a candidacy. A term is a call of `takeLeadership`, which Curator's own listener interrupts. */
public class Recipe extends OneGrant {
    private LeaderSelector selector;
    private Term term;

    public static void main(String[] arguments) throws Exception {
        Zooquake.run(new Recipe());
    }

    private Recipe() {
        super("/election");
    }

    @Override
    boolean acquired(long milliseconds) throws Exception {
        term = new Term();
        selector = new LeaderSelector(curator, "/election", term);
        // Who waits is interrupted as well where its connection is lost, and stands again.
        selector.autoRequeue();
        selector.start();
        if (term.begun.await(milliseconds, TimeUnit.MILLISECONDS)) return true;
        giveBack();
        return false;
    }

    /** The term has ended when `takeLeadership` returns; then the selector releases its lock. */
    @Override
    void giveBack() {
        selector.close();
    }

    @Override
    protected String lost(ObjectNode held, String state) {
        return term.over ? "interrupted" : null;
    }

    private static final class Term extends LeaderSelectorListenerAdapter {
        final CountDownLatch begun = new CountDownLatch(1);
        volatile boolean over;

        @Override
        public void takeLeadership(CuratorFramework curator) throws Exception {
            begun.countDown();
            try {
                new CountDownLatch(1).await();
            } finally {
                over = true;
            }
        }
    }
}
