import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;

/** Curator's CuratorCache, with PersistentNode. */
public class Recipe extends PersistentMember {
    public static void main(String[] arguments) throws Exception {
        Zooquake.run(new Recipe());
    }

    @Override
    void watch(CuratorFramework curator) {
        CuratorCache cache = CuratorCache.build(curator, PARENT);
        cache.listenable().addListener(CuratorCacheListener.builder().forAll((kind, before, now) -> show(cache.stream()))
            .forInitialized(() -> show(cache.stream())).build());
        cache.start();
    }
}
