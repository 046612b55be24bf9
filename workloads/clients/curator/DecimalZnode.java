import java.io.IOException;
import java.math.BigInteger;
import java.util.List;
import org.apache.zookeeper.AsyncCallback.DataCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/** A client that stores a znode's number as decimal digits, as the audit reads it, where a library gives and is given its bytes. */
final class DecimalZnode extends ZooKeeper {
    private final String path;
    private final int width;

    /** The library's number has so many bytes, the highest one first. */
    DecimalZnode(String hosts, int timeoutMs, Watcher watcher, String path, int width) throws IOException {
        super(hosts, timeoutMs, watcher);
        this.path = path;
        this.width = width;
    }

    private byte[] stored(String at, byte[] given) {
        return at.equals(path) && given.length == width ? new BigInteger(given).toString().getBytes() : given;
    }

    private byte[] given(String at, byte[] stored) {
        if (!at.equals(path) || stored == null || stored.length == 0) return stored;
        byte[] shortest = new BigInteger(new String(stored)).toByteArray(), padded = new byte[width];
        System.arraycopy(shortest, 0, padded, width - shortest.length, shortest.length);
        return padded;
    }

    @Override
    public String create(String at, byte[] data, List<ACL> acl, CreateMode mode, Stat stat, long ttl)
        throws KeeperException, InterruptedException {
        return super.create(at, stored(at, data), acl, mode, stat, ttl);
    }

    @Override
    public Stat setData(String at, byte[] data, int version) throws KeeperException, InterruptedException {
        return super.setData(at, stored(at, data), version);
    }

    @Override
    public byte[] getData(String at, Watcher watcher, Stat stat) throws KeeperException, InterruptedException {
        return given(at, super.getData(at, watcher, stat));
    }

    /** What a library reads in the background. */
    @Override
    public void getData(String at, Watcher watcher, DataCallback callback, Object context) {
        super.getData(at, watcher, (code, path, same, data, stat) -> callback.processResult(code, path, same, given(at, data), stat), context);
    }
}
