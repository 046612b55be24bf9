import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The ephemeral znodes that one object of a library makes below a parent, where the library does not name them. */
final class MadeZnodes {
    private final Zooquake.Recipe recipe;
    private final String parent;
    private final List<String> before;

    /** Those that are made from now on. */
    MadeZnodes(Zooquake.Recipe recipe, String parent) throws Exception {
        this.recipe = recipe;
        this.parent = parent;
        before = all();
    }

    /** Those that are there now and the present session's, by their parents, and below one by their sequence numbers. */
    List<String> now() throws Exception {
        List<String> made = all();
        made.removeAll(before);
        made.sort(Comparator.<String, String>comparing(path -> path.substring(0, path.lastIndexOf('/')))
            .thenComparing(path -> path.substring(Math.max(0, path.length() - 10))));
        return made;
    }

    /** What a client names of them: a czxid of 0 for each. */
    Map<String, Long> named() {
        Map<String, Long> named = new HashMap<>();
        try {
            for (String path : now()) named.put(path, 0L);
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
        return named;
    }

    private List<String> all() throws Exception {
        return recipe.retry(() -> recipe.zk().getEphemerals(parent));
    }
}
