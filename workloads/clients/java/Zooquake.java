import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * The client protocol of zooquake: everything but the recipe. Needs Java 11, ZooKeeper's client and Jackson, which comes with it.
 *
 * <p>A recipe is a subclass of {@link Recipe}, or, of what is held (locks, elections, semaphores), of {@link Grants}, or, of groups
 * whose members watch each other, of {@link Group}. {@link #run} does the rest and never returns. Its result is the value of the reply. {@link Failed} means that the operation certainly
 * did not happen and that nothing of it is left; any other exception is an unknown outcome. What the kit does in place of the recipe
 * (`connect`, `release`, `lost`, `znodes`, `created`) a class replaces by a method of that name; what it leaves to the kit is not on trial,
 * and `hello` states it. A recipe that replaces another method of the kit marks it with {@link Hook}; what has the name of one by accident
 * is refused.
 */
public final class Zooquake {
    static final String NOT_REGISTERED = "not-registered";
    static final String REGISTERED_ALREADY = "registered already";
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String SCRATCH = "/zooquake/scratch/";
    private static final long CONFIRM_MS = 10_000;
    /** A write has arrived this long after its reply. */
    private static final long ARRIVAL_MS = 200;
    /** How long after its deadline an operation is answered that did not answer by itself. */
    private static final long GRACE_MS = 100;

    /** The operation certainly did not happen, and nothing of it is left. */
    public static class Failed extends Exception {
        private static final long serialVersionUID = 1;

        public Failed(String why) {
            super(why);
        }
    }

    /** Marks a method that replaces one of the kit on purpose. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.METHOD)
    public @interface Hook {}

    /** The moment by which an operation has to answer. */
    public static final class Deadline {
        private final long at;

        Deadline(JsonNode request, long usual) {
            long milliseconds = request.path("timeout_ms").asLong(usual);
            at = milliseconds < 0 ? Long.MAX_VALUE : System.nanoTime() / 1_000_000 + milliseconds;
        }

        /** Milliseconds that are left, at least 0. */
        public long left() {
            return Math.max(0, at - System.nanoTime() / 1_000_000);
        }

        /** Waits for a latch; a TimeoutException at the deadline. */
        public void await(CountDownLatch latch) throws Exception {
            if (!latch.await(left(), TimeUnit.MILLISECONDS)) throw new TimeoutException("timed out");
        }
    }

    /** Work of a recipe in the present session. */
    public interface Request<T> {
        T send() throws KeeperException, InterruptedException;
    }

    /** What every recipe has. */
    public abstract static class Recipe {
        /** The contenders' znodes that are this client's own, with the zxid that created each. */
        protected final Map<String, Long> own = new ConcurrentHashMap<>();
        /** The client's name. */
        protected String client;
        Zooquake kit;

        /** Answers an operation. Values that make no sense are {@link Failed}. */
        protected abstract ObjectNode operate(String f, JsonNode value, Deadline deadline) throws Exception;

        /** Whether there is an operation of this name. */
        protected abstract boolean knows(String f);

        /** What the client cannot give, as docs/protocol.md names it. */
        protected List<String> cannot() {
            return List.of();
        }

        /**
         * Opens a session by {@link #open}, or has the recipe's own library open one by it; is called again when that is over, and half a
         * second after an exception. A library that opens the next one itself does nothing then. By the kit: one of its own.
         */
        protected void connect(String hosts, int timeoutMs) throws Exception {
            open(hosts, timeoutMs, event -> {});
        }

        /** The client that {@link #open} opens. By the kit: ZooKeeper's own. */
        protected ZooKeeper newClient(String hosts, int timeoutMs, Watcher watcher) throws Exception {
            return new ZooKeeper(hosts, timeoutMs, watcher);
        }

        /** A client whose session the kit follows from now on; what happens to that is given to this watcher as well. */
        protected final ZooKeeper open(String hosts, int timeoutMs, Watcher also) throws Exception {
            return kit.open(hosts, timeoutMs, also);
        }

        /**
         * The contenders' znodes that are the client's own, because it holds or waits with them, with the zxid that created each. Where
         * that is 0, the kit looks it up. By the kit: those that it was named.
         */
        protected Map<String, Long> znodes() {
            return own;
        }

        /** The names of {@link #hooks} that the recipe has not, so that the kit does it. */
        List<String> byKit() {
            List<String> left = new ArrayList<>(hooks());
            for (Class<?> its = getClass(); its.getEnclosingClass() != Zooquake.class; its = its.getSuperclass()) {
                for (Method method : its.getDeclaredMethods()) if (!method.isSynthetic()) left.remove(method.getName());
            }
            return left;
        }

        /** The methods by which a class does itself what the kit does otherwise. */
        List<String> hooks() {
            return List.of("connect", "znodes");
        }

        /** The present session's client. */
        protected final ZooKeeper zk() {
            return kit.zk;
        }

        /** The present session as the protocol writes it; null before there is one. */
        protected final String session() {
            return kit.session();
        }

        /** Sends a request again for as long as its connection is lost; the end of the session is an exception. */
        protected final <T> T retry(Request<T> request) throws Exception {
            ZooKeeper before = zk();
            while (true) {
                try {
                    return request.send();
                } catch (KeeperException.ConnectionLossException lost) {
                    Thread.sleep(50);
                    if (zk() != before) throw new KeeperException.SessionExpiredException();
                }
            }
        }

        /** Names a znode as this client's own; returns its stat. NoNode if it is gone. */
        protected Stat created(String path) throws Exception {
            return lookUp(path);
        }

        final Stat lookUp(String path) throws Exception {
            own.put(path, 0L);
            Stat stat = retry(() -> zk().exists(path, false));
            if (stat == null) {
                own.remove(path);
                throw new KeeperException.NoNodeException(path);
            }
            own.put(path, stat.getCzxid());
            return stat;
        }

        /** Deletes a znode of this client's own, and again after an unknown outcome; what it removed, null if it was gone. */
        protected final JsonNode remove(String path) throws Exception {
            Long czxid = own.get(path);
            try {
                retry(() -> {
                    zk().delete(path, -1);
                    return null;
                });
                return object().put("path", path).put("czxid", czxid);
            } catch (KeeperException.NoNodeException gone) {
                return null;
            } finally {
                // Any other error is the end of the session, which takes its ephemeral znodes with it.
                own.remove(path);
            }
        }

        /** The names of a znode's children, in the order of their sequence numbers; the watcher may be null. */
        protected final List<String> children(String parent, Watcher watcher) throws Exception {
            List<String> names = retry(() -> zk().getChildren(parent, watcher));
            names.sort(Comparator.comparing(name -> name.substring(Math.max(0, name.length() - 10))));
            return names;
        }

        /** Creates a znode, and its parents, unless it is there; again after an unknown outcome. */
        protected final void make(String path, CreateMode mode) throws Exception {
            make(path, new byte[0], mode);
        }

        private void make(String path, byte[] data, CreateMode mode) throws Exception {
            try {
                retry(() -> zk().create(path, data, Ids.OPEN_ACL_UNSAFE, mode));
            } catch (KeeperException.NodeExistsException there) {
                // It is there.
            } catch (KeeperException.NoNodeException missing) {
                make(path.substring(0, path.lastIndexOf('/')), CreateMode.PERSISTENT);
                make(path, data, mode);
            }
        }

        /** Makes an ephemeral znode of this client's own, in the place of one that a former session of it left. */
        protected final Stat makeOwn(String path) throws Exception {
            return makeOwn(path, new byte[0]);
        }

        /** The same with data, also in the place of one that has other data. */
        protected final Stat makeOwn(String path, byte[] data) throws Exception {
            while (true) {
                make(path, data, CreateMode.EPHEMERAL);
                try {
                    Stat stat = lookUp(path);
                    boolean ours = hex(stat.getEphemeralOwner()).equals(kit.session());
                    if (ours && (data.length == 0 || Arrays.equals(retry(() -> zk().getData(path, false, null)), data))) return stat;
                    retry(() -> {
                        zk().delete(path, -1);
                        return null;
                    });
                } catch (KeeperException.NoNodeException gone) {
                    // The former session's end has removed it.
                }
            }
        }

        /**
         * Joins a queue: creates an ephemeral sequential znode below the parent, once, though the reply to an earlier try may have been
         * lost. What an acquire has joined that grants nothing, the kit removes.
         */
        protected final String join(String parent, String name) throws Exception {
            String prefix = UUID.randomUUID() + "-" + name;
            int[] tries = new int[1];
            String path = retry(() -> {
                if (tries[0]++ > 0) {
                    // A follower that lags lists no znode of an earlier try before it has applied a later write of the session.
                    kit.quorumWrite(zk());
                    for (String other : zk().getChildren(parent, false)) if (other.startsWith(prefix)) return parent + "/" + other;
                }
                return zk().create(parent + "/" + prefix, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL);
            });
            lookUp(path);
            return path;
        }

        /** Those that joined a queue before this one did, in order. NoNode if it has gone with its session. */
        protected final List<String> ahead(String path) throws Exception {
            String parent = path.substring(0, path.lastIndexOf('/'));
            List<String> queue = children(parent, null);
            queue.replaceAll(name -> parent + "/" + name);
            int place = queue.indexOf(path);
            if (place < 0) throw new KeeperException.NoNodeException(path);
            return queue.subList(0, place);
        }

        /** Waits until a znode is gone, or the session changes: look again. */
        protected final void waitGone(String path, Deadline deadline) throws Exception {
            CountDownLatch gone = new CountDownLatch(1);
            if (retry(() -> zk().exists(path, event -> gone.countDown())) != null) deadline.await(gone);
        }

        /** A whole number of a value; Failed if it is missing or another type. */
        protected static long number(JsonNode value, String name) throws Failed {
            if (!value.path(name).isIntegralNumber()) throw new Failed("the value has no number `" + name + "`");
            return value.get(name).asLong();
        }

        /** Says which item is about to be taken: to be called before the request that takes it. */
        protected final void taking(long item) {
            kit.notice("taking", object().put("item", item));
        }

        /** Receives that the session is connected, disconnected or expired. Must not wait. */
        protected void sessionChanged(String state) {}

        /** Receives that the reply of an operation was sent. */
        protected void replied() {}

        /** Is given the result of an operation that was answered as unknown at its deadline. */
        protected void cameLate(ObjectNode value) {}

        /** The value of the grant that the client believes to hold; null if it holds nothing. */
        protected ObjectNode holds() {
            return null;
        }

        /** Waits until nothing goes on in the background. */
        protected void settle(Deadline deadline) throws Exception {}
    }

    /** What is held: locks, elections, semaphores. */
    public abstract static class Grants extends Recipe {
        /** The states of the session in which the kit revokes a grant, by policy. */
        private static final Map<String, List<String>> POLICIES =
            Map.of("disconnected", List.of("disconnected", "expired"), "expired", List.of("expired"), "none", List.of());

        private ObjectNode held;
        private volatile CountDownLatch quiet = new CountDownLatch(0);
        private volatile CountDownLatch idle = new CountDownLatch(0);
        /** The one thread in which the recipe acquires and releases, since some locks are a thread's. */
        private final ExecutorService hand = Executors.newSingleThreadExecutor(Zooquake::daemon);
        /** The mode of the acquire: "shared" of a read-write lock's readers, "exclusive" of everybody else. */
        protected String mode;

        /** Waits until it holds; the path of its znode. */
        protected abstract String acquire(Deadline deadline) throws Exception;

        /**
         * Gives back what is held, whose "grant", "path", "czxid" and "session" these are, or clears away what is left of it after it was
         * lost; what it removed, as {@link #remove}, or null. By the kit: removes the znode.
         */
        protected JsonNode release(ObjectNode held, Deadline deadline) throws Exception {
            return remove(held.path("path").asText());
        }

        /**
         * Why a grant is lost, now that the session is in this state; null if it is not. Is asked when that changes, before each work and
         * `confirm`, and after each operation. Must not wait. By the kit: as {@link #policy} has it.
         */
        protected String lost(ObjectNode held, String state) {
            if (revokes(state)) return state;
            boolean over = !held.path("session").asText().equals(session());
            return over && !policy().equals("none") ? "expired" : null;
        }

        /** The stat of the znode that holds, at least "czxid" and "ephemeralOwner". By the kit: as ZooKeeper has it. */
        @Override
        protected Stat created(String path) throws Exception {
            return lookUp(path);
        }

        /** The token that is sent with each write, in a fenced variant; null for none. */
        protected Long token(Stat stat) {
            return null;
        }

        @Override
        List<String> hooks() {
            return List.of("connect", "release", "lost", "znodes", "created");
        }

        @Override
        List<String> byKit() {
            List<String> left = super.byKit();
            if (policy().equals("none")) left.remove("lost");
            return left;
        }

        /**
         * The state of the session at which the kit revokes a grant: "disconnected", "expired", or "none": then only the recipe
         * revokes, by {@link #lose}.
         */
        protected String policy() {
            return "disconnected";
        }

        private boolean revokes(String state) {
            return POLICIES.get(policy()).contains(state);
        }

        @Override
        protected boolean knows(String f) {
            return List.of("acquire", "elect", "release", "resign", "write", "work", "read").contains(f);
        }

        @Override
        protected ObjectNode operate(String f, JsonNode value, Deadline deadline) throws Exception {
            if (!value.path("grant").isTextual()) throw new Failed("the value has no `grant`");
            String grant = value.get("grant").asText();
            ObjectNode answer = object().put("grant", grant);
            switch (f) {
                case "acquire":
                case "elect":
                    deadline.await(quiet);
                    mode = value.path("mode").asText("exclusive");
                    String path = acquireOrLeave(deadline);
                    Stat stat = created(path);
                    own.put(path, stat.getCzxid());
                    answer.put("path", path).put("czxid", stat.getCzxid()).put("session", hex(stat.getEphemeralOwner()));
                    if (token(stat) != null) answer.put("token", token(stat));
                    synchronized (this) {
                        held = answer;
                    }
                    return answer;
                case "release":
                case "resign":
                    ObjectNode given = taken(grant);
                    if (given == null) {
                        deadline.await(quiet);
                        throw new Failed("not-held");
                    }
                    try {
                        answer.set("removed", inHand(() -> release(given, deadline)));
                    } finally {
                        // Given back or not, it is held no more.
                        own.remove(given.get("path").asText());
                    }
                    return answer;
                default:
                    ObjectNode under = holds();
                    if (under == null || !under.path("grant").asText().equals(grant)) throw new Failed("not-held");
                    idle = new CountDownLatch(1);
                    Thread.sleep(value.path("work_ms").asLong());
                    if (f.equals("write")) answer.<ObjectNode>set("value", value.get("value")).set("token", under.get("token"));
                    return answer;
            }
        }

        private String acquireOrLeave(Deadline deadline) throws Exception {
            try {
                return inHand(() -> acquire(deadline));
            } catch (Exception error) {
                for (String path : List.copyOf(own.keySet())) remove(path);
                throw error;
            }
        }

        private <T> T inHand(Callable<T> work) throws Exception {
            try {
                return hand.submit(work).get();
            } catch (ExecutionException error) {
                if (error.getCause() instanceof Exception) throw (Exception) error.getCause();
                throw new IllegalStateException(error.getCause().toString(), error.getCause());
            }
        }

        private synchronized ObjectNode taken(String grant) {
            if (held == null || grant != null && !held.path("grant").asText().equals(grant)) return null;
            ObjectNode taken = held;
            held = null;
            return taken;
        }

        @Override
        protected ObjectNode holds() {
            return stillHeld(kit.state);
        }

        /** What is held, unless it is lost now. */
        private ObjectNode stillHeld(String state) {
            ObjectNode now;
            synchronized (this) {
                now = held;
            }
            String why = now == null ? null : lost(now, state);
            if (why == null) return now;
            lose(why);
            return null;
        }

        @Override
        protected void sessionChanged(String state) {
            stillHeld(state);
        }

        @Override
        protected void replied() {
            idle.countDown();
            stillHeld(kit.state);
        }

        @Override
        protected void cameLate(ObjectNode value) {
            if (value.has("session")) lose("answered too late");
        }

        @Override
        protected void settle(Deadline deadline) throws Exception {
            deadline.await(quiet);
        }

        /**
         * Revokes the grant that is held, if one is: the notice `lost`, and its znode is cleared away. Who works on under it keeps the
         * znode, if the session lives, until the work has arrived.
         */
        protected final void lose(String why) {
            ObjectNode lost = taken(null);
            if (lost == null) return;
            ObjectNode notice = object().put("why", why);
            kit.notice("lost", notice.set("grant", lost.get("grant")));
            CountDownLatch clearing = new CountDownLatch(1);
            quiet = clearing;
            start(() -> {
                String path = lost.get("path").asText();
                try {
                    idle.await();
                    Thread.sleep(ARRIVAL_MS);
                    boolean gone = byKit().contains("release") && !lost.get("session").asText().equals(kit.session());
                    if (!gone) inHand(() -> release(lost, new Deadline(object(), -1)));
                } catch (Exception error) {
                    System.err.println("clearing away " + path + ": " + error);
                } finally {
                    own.remove(path);
                    clearing.countDown();
                }
            });
        }
    }

    /** A group whose members watch each other. What was not given to {@link #show} is in no answer. */
    public abstract static class Group extends Recipe {
        private final ExecutorService inOrder = Executors.newSingleThreadExecutor(Zooquake::daemon);
        private ObjectNode view = object().put("n", 0).putNull("session").putNull("members");
        private long changes;

        /** The own entry: "member", "path" and "czxid"; null if there is none in the present session. Must not wait. */
        protected abstract ObjectNode registered();

        /** How often the session has changed its state so far: what {@link #show} takes as `since`. */
        protected final synchronized long moment() {
            return changes;
        }

        /**
         * The view that the application is given from now on: {"member", "path", "czxid", "mzxid", "value"} of each member; null for
         * nothing. Does nothing if the session has changed its state since that moment.
         */
        protected final synchronized void show(ArrayNode members, long since) {
            String session = kit.session() == null ? view.path("session").textValue() : kit.session();
            JsonNode shown = members == null ? object().putNull("members").get("members") : members;
            boolean same = shown.equals(view.get("members")) && Objects.equals(session, view.path("session").textValue());
            if (same || since != changes) return;
            view = object().put("n", view.path("n").asLong() + 1).put("session", session);
            view.set("members", shown);
            kit.notice("view", view);
        }

        /** Does work in one thread, after what was put there before. It may wait there for ZooKeeper's answers. */
        protected final void inOrder(Callable<Void> work) {
            inOrder.execute(() -> {
                try {
                    work.call();
                } catch (Exception error) {
                    System.err.println("in order: " + error);
                }
            });
        }

        /** Waits until the work that was put in order is done; a TimeoutException at the deadline. */
        protected void caughtUp(Deadline deadline) throws Exception {
            CountDownLatch done = new CountDownLatch(1);
            inOrder.execute(done::countDown);
            deadline.await(done);
        }

        final ObjectNode answer() {
            ObjectNode answer = object();
            synchronized (this) {
                ObjectNode shown = view.deepCopy();
                if (!shown.path("session").isTextual()) shown.put("session", kit.session());
                answer.set("view", shown);
            }
            return answer.set("registered", registered());
        }

        @Override
        protected boolean knows(String f) {
            return List.of("register", "update", "deregister").contains(f);
        }

        @Override
        protected void sessionChanged(String state) {
            synchronized (this) {
                changes++;
            }
            // The znodes that were its own have gone with the session.
            if (state.equals("expired")) own.clear();
        }

        @Override
        protected void cameLate(ObjectNode value) {
            if (!value.has("czxid")) return;
            try {
                // Nobody was told that it is a member.
                operate("deregister", object(), new Deadline(object(), -1));
            } catch (Exception error) {
                System.err.println("giving back: " + error);
            }
        }

        @Override
        protected void settle(Deadline deadline) throws Exception {
            caughtUp(deadline);
        }
    }

    private final PrintStream output;
    private final Recipe recipe;
    private final String client = System.getenv("ZOOQUAKE_CLIENT");
    private final CountDownLatch connected = new CountDownLatch(1);
    private final ScheduledExecutorService timeouts = Executors.newSingleThreadScheduledExecutor(Zooquake::daemon);
    private final ExecutorService operations = Executors.newSingleThreadExecutor(Zooquake::daemon);
    private volatile ZooKeeper zk;
    private volatile String state = "connected";
    private volatile CountDownLatch late = new CountDownLatch(0);
    private Long pending;

    /** Runs a client with a recipe on stdin and stdout. Whatever else prints goes to stderr. */
    public static void run(Recipe recipe) throws Exception {
        new Zooquake(recipe).serve();
    }

    /** Refuses a recipe that replaces a method of the kit without {@link Hook}, or has a policy that there is not. */
    private static void check(Recipe recipe) {
        List<String> free = new ArrayList<>(List.of("knows", "operate", "acquire", "cannot", "policy", "token", "registered"));
        free.addAll(recipe.hooks());
        for (Class<?> own = recipe.getClass(); own.getEnclosingClass() != Zooquake.class; own = own.getSuperclass()) {
            for (Method method : own.getDeclaredMethods()) {
                boolean marked = method.isAnnotationPresent(Hook.class) || method.isSynthetic();
                if (!marked && !free.contains(method.getName()) && replaces(method, own.getSuperclass())) {
                    throw new IllegalStateException(
                        own.getName() + "." + method.getName() + " replaces what the kit itself calls `" + method.getName()
                            + "`: give it another name, or mark it with @Zooquake.Hook if that is meant");
                }
            }
        }
        if (recipe instanceof Grants) {
            String policy = ((Grants) recipe).policy();
            if (!Grants.POLICIES.containsKey(policy)) {
                throw new IllegalStateException("the policy is \"" + policy + "\", not disconnected, expired or none");
            }
        }
    }

    /** Whether a class of the kit at or above `from` has a method of the same name and parameters. */
    private static boolean replaces(Method method, Class<?> from) {
        for (Class<?> kit = from; kit != Object.class; kit = kit.getSuperclass()) {
            if (kit.getEnclosingClass() != Zooquake.class) continue;
            try {
                Method replaced = kit.getDeclaredMethod(method.getName(), method.getParameterTypes());
                return !Modifier.isPrivate(replaced.getModifiers()) && !Modifier.isStatic(replaced.getModifiers());
            } catch (NoSuchMethodException none) {
                // Look further up.
            }
        }
        return false;
    }

    private Zooquake(Recipe recipe) throws Exception {
        check(recipe);
        output = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        this.recipe = recipe;
        recipe.kit = this;
        recipe.client = client;
        ObjectNode hello = object().put("type", "hello").put("protocol", 1).put("pid", ProcessHandle.current().pid()).putNull("session");
        recipe.cannot().forEach(hello.putArray("cannot")::add);
        recipe.byKit().forEach(hello.putArray("kit")::add);
        send(hello);
        connect();
    }

    static ObjectNode object() {
        return JSON.createObjectNode();
    }

    /** A session's id as the protocol writes it. */
    static String hex(long session) {
        return "0x" + Long.toHexString(session);
    }

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        return thread;
    }

    private static void start(Runnable work) {
        daemon(work).start();
    }

    /** Has a session opened; the end of one opens the next. */
    private void connect() {
        int timeout = Integer.parseInt(System.getenv("ZOOQUAKE_SESSION_MS"));
        start(() -> {
            while (true) {
                try {
                    recipe.connect(System.getenv("ZOOQUAKE_CONNECT"), timeout);
                    return;
                } catch (Throwable error) {
                    System.err.println("connecting: " + error);
                }
                try {
                    Thread.sleep(500);
                } catch (InterruptedException error) {
                    return;
                }
            }
        });
    }

    synchronized ZooKeeper open(String hosts, int timeoutMs, Watcher also) throws Exception {
        ZooKeeper[] opened = new ZooKeeper[1];
        CountDownLatch made = new CountDownLatch(1);
        opened[0] = recipe.newClient(hosts, timeoutMs, event -> {
            changed(event, opened, made);
            also.process(event);
        });
        zk = opened[0];
        made.countDown();
        return zk;
    }

    private void changed(WatchedEvent event, ZooKeeper[] of, CountDownLatch made) {
        if (event.getType() != Watcher.Event.EventType.None) return;
        try {
            made.await();
        } catch (InterruptedException error) {
            return;
        }
        KeeperState now = event.getState();
        String told = now == KeeperState.SyncConnected ? "connected" : now == KeeperState.Disconnected ? "disconnected"
            : now == KeeperState.Closed ? "closed" : "expired";
        boolean present = zk == of[0];
        if (told.equals("closed") && (!present || state.equals("expired"))) return;
        notice("session", object().put("session", hex(of[0].getSessionId())).put("state", told));
        if (!present) return;
        // To a grant it is the same.
        state = told.equals("closed") ? "expired" : told;
        recipe.sessionChanged(state);
        if (told.equals("connected")) connected.countDown();
        if (state.equals("expired")) connect();
    }

    /** The present session; null before there is one. */
    String session() {
        ZooKeeper present = zk;
        return present == null || present.getSessionId() == 0 ? null : hex(present.getSessionId());
    }

    void notice(String name, JsonNode value) {
        ObjectNode line = object().put("type", "notice").put("notice", name);
        send(line.set("value", value));
    }

    private void send(JsonNode line) {
        synchronized (output) {
            output.print(line + "\n");
            output.flush();
        }
    }

    private void reply(long id, String outcome, JsonNode value, String error) {
        ObjectNode line = object().put("type", "reply").put("id", id).put("outcome", outcome);
        line.set("value", value);
        if (error != null) line.put("error", error);
        send(line);
    }

    private void serve() throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (!line.isBlank()) take(line);
        }
        // Not exit: nothing is to be closed or released any more.
        Runtime.getRuntime().halt(0);
    }

    private void take(String line) {
        JsonNode request;
        try {
            request = JSON.readTree(line);
        } catch (Exception error) {
            System.err.println("not a request: " + line);
            return;
        }
        boolean whole = request.path("f").isTextual() && (!request.has("timeout_ms") || request.get("timeout_ms").isNumber());
        if (!request.path("id").isIntegralNumber() || !whole) {
            System.err.println("not a request: " + line);
            if (request.path("id").isIntegralNumber()) reply(request.get("id").asLong(), "fail", null, "not a request");
            return;
        }
        long id = request.get("id").asLong();
        String f = request.get("f").asText();
        JsonNode value = request.path("value").isObject() ? request.get("value") : object();
        if (f.equals("ping")) {
            reply(id, "ok", object(), null);
        } else if (f.equals("confirm")) {
            beside(id, () -> confirm(new Deadline(request, CONFIRM_MS)), new Deadline(request, CONFIRM_MS));
        } else if (f.equals("view") && recipe instanceof Group) {
            beside(id, () -> view((Group) recipe, new Deadline(request, CONFIRM_MS)), new Deadline(request, CONFIRM_MS));
        } else if (f.equals("quiesce")) {
            beside(id, () -> quiesce(new Deadline(request, -1)), new Deadline(request, -1));
        } else if (!recipe.knows(f)) {
            reply(id, "fail", null, "no operation `" + f + "`");
        } else {
            begin(id, f, value, new Deadline(request, -1));
        }
    }

    /** Answers a control request in a thread of its own, by its deadline. */
    private void beside(long id, Callable<ObjectNode> work, Deadline deadline) {
        boolean[] answered = new boolean[1];
        CountDownLatch done = new CountDownLatch(1);
        start(() -> {
            Object[] outcome = outcome(work);
            synchronized (answered) {
                if (!answered[0]) reply(id, (String) outcome[0], (JsonNode) outcome[1], (String) outcome[2]);
                answered[0] = true;
            }
            done.countDown();
        });
        start(() -> {
            try {
                deadline.await(done);
            } catch (Exception timeout) {
                synchronized (answered) {
                    if (!answered[0]) reply(id, "info", null, "timed out");
                    answered[0] = true;
                }
            }
        });
    }

    private void begin(long id, String f, JsonNode value, Deadline deadline) {
        synchronized (this) {
            if (pending != null) {
                reply(id, "fail", null, "busy: `" + f + "` was asked for while another operation runs");
                return;
            }
            pending = id;
        }
        if (deadline.at != Long.MAX_VALUE) {
            Object[] timedOut = {"info", null, "timed out"};
            timeouts.schedule(() -> end(id, timedOut), deadline.left() + GRACE_MS, TimeUnit.MILLISECONDS);
        }
        operations.execute(() -> {
            CountDownLatch done = new CountDownLatch(1);
            late = done;
            Object[] outcome = outcome(() -> {
                deadline.await(connected);
                return recipe.operate(f, value, deadline);
            });
            if (!end(id, outcome) && outcome[0].equals("ok")) recipe.cameLate((ObjectNode) outcome[1]);
            recipe.replied();
            done.countDown();
        });
    }

    /** Answers the pending operation; false if it was answered already. */
    private synchronized boolean end(long id, Object[] outcome) {
        if (pending == null || pending != id) return false;
        reply(id, (String) outcome[0], (JsonNode) outcome[1], (String) outcome[2]);
        pending = null;
        return true;
    }

    private static Object[] outcome(Callable<ObjectNode> work) {
        try {
            return new Object[] {"ok", work.call(), null};
        } catch (Failed error) {
            return new Object[] {"fail", null, error.getMessage()};
        } catch (Throwable error) {
            return new Object[] {"info", null, error.toString()};
        }
    }

    /** Writes the client's scratch znode: what is read after it in the same session has all that was acknowledged before. */
    Stat quorumWrite(ZooKeeper present) throws KeeperException, InterruptedException {
        String path = SCRATCH + client;
        try {
            return present.setData(path, new byte[0], -1);
        } catch (KeeperException.NoNodeException missing) {
            try {
                present.create(path, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            } catch (KeeperException.NodeExistsException made) {
                // An attempt of unknown outcome has made it.
            }
            return present.setData(path, new byte[0], -1);
        }
    }

    private ObjectNode confirm(Deadline deadline) throws Exception {
        deadline.await(connected);
        ZooKeeper present = zk;
        String session = hex(present.getSessionId());
        Stat stat = quorumWrite(present);
        // Belief is looked at after the write, and not before.
        ObjectNode held = recipe.holds();
        if (zk != present || held != null && !held.path("session").asText().equals(session)) {
            throw new IllegalStateException("the session changed meanwhile");
        }
        ObjectNode answer = object().put("holds", held != null).put("zxid", stat.getMzxid());
        if (held != null) answer.set("grant", held.get("grant"));
        return answer;
    }

    private ObjectNode view(Group group, Deadline deadline) throws Exception {
        deadline.await(connected);
        ZooKeeper present = zk;
        Stat stat = quorumWrite(present);
        // An answer to an asynchronous request comes in the thread of events, after those that came before it.
        CountDownLatch heard = new CountDownLatch(1);
        present.exists(SCRATCH + client, false, (code, path, context, found) -> heard.countDown(), null);
        deadline.await(heard);
        group.caughtUp(deadline);
        ObjectNode answer = group.answer().put("zxid", stat.getMzxid());
        if (zk != present) throw new IllegalStateException("the session changed meanwhile");
        return answer;
    }

    private ObjectNode quiesce(Deadline deadline) throws Exception {
        boolean none;
        synchronized (this) {
            none = pending == null;
        }
        if (none) deadline.await(late);
        ObjectNode answer = object();
        ArrayNode sessions = answer.putArray("sessions");
        ArrayNode znodes = answer.putArray("znodes");
        // Without a session that there has been, there is nothing that lives with one.
        if (connected.getCount() > 0) return answer;
        recipe.settle(deadline);
        if (session() != null) sessions.add(session());
        for (Map.Entry<String, Long> named : Map.copyOf(recipe.znodes()).entrySet()) {
            long czxid = named.getValue();
            if (czxid == 0) {
                Stat stat = zk.exists(named.getKey(), false);
                // What is gone is nobody's.
                if (stat == null) continue;
                czxid = stat.getCzxid();
            }
            znodes.addObject().put("path", named.getKey()).put("czxid", czxid);
        }
        return answer;
    }
}
