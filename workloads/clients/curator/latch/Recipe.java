import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;

/** Curator's LeaderLatch, one object a candidacy. A term ends when the latch says so. */
public class Recipe extends OneGrant {
    private Candidacy candidacy;

    public static void main(String[] arguments) throws Exception {
        Zooquake.run(new Recipe());
    }

    private Recipe() {
        super("/election");
    }

    @Override
    boolean acquired(long milliseconds) throws Exception {
        candidacy = new Candidacy(new LeaderLatch(curator, "/election", client));
        try {
            if (candidacy.latch.await(milliseconds, TimeUnit.MILLISECONDS)) return true;
        } catch (Exception error) {
            giveBack();
            throw error;
        }
        giveBack();
        return false;
    }

    @Override
    void giveBack() throws Exception {
        candidacy.latch.close();
    }

    @Override
    protected String lost(ObjectNode held, String state) {
        return candidacy.over ? "notLeader" : null;
    }

    /** A latch, and whether its term is over. */
    private static final class Candidacy implements LeaderLatchListener {
        final LeaderLatch latch;
        volatile boolean over;

        Candidacy(LeaderLatch latch) throws Exception {
            this.latch = latch;
            latch.addListener(this);
            latch.start();
        }

        @Override
        public void isLeader() {}

        @Override
        public void notLeader() {
            over = true;
        }
    }
}
