import org.apache.curator.framework.CuratorFramework;

/** A recipe of Curator's that holds nothing. */
abstract class CuratorRecipe extends Zooquake.Recipe {
    protected CuratorFramework curator;

    /** Curator opens each later session itself. */
    @Override
    protected void connect(String hosts, int timeoutMs) {
        if (curator == null) curator = Curator.start(this, hosts, timeoutMs);
    }
}
