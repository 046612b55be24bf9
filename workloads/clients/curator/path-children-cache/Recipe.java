import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.cache.PathChildrenCache;

/** Curator's PathChildrenCache, with PersistentNode. */
@SuppressWarnings("deprecation")
public class Recipe extends PersistentMember {
    public static void main(String[] arguments) throws Exception {
        Zooquake.run(new Recipe());
    }

    @Override
    void watch(CuratorFramework curator) throws Exception {
        PathChildrenCache cache = new PathChildrenCache(curator, PARENT, true);
        cache.getListenable().addListener((client, event) -> show(cache.getCurrentData().stream()));
        cache.start(PathChildrenCache.StartMode.POST_INITIALIZED_EVENT);
    }
}
