import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A proxy on 127.0.0.1 before a ZooKeeper server, frame by frame: ends connections, holds bytes back, loses the reply of a request. */
public class Proxy {
    public static final int CREATE = 1, DELETE = 2, SET = 5, CREATE2 = 15;
    public final int port;
    private final ServerSocket listener;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private volatile boolean refuse, hold;
    private volatile Set<Integer> lose = Set.of();
    /** How many replies were lost. */
    public volatile int lost;

    public Proxy(int target) throws IOException {
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        port = listener.getLocalPort();
        run(() -> {
            while (true) {
                Socket client = listener.accept();
                if (refuse) {
                    client.close();
                    continue;
                }
                Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
                for (Socket socket : new Socket[] {client, server}) {
                    socket.setTcpNoDelay(true);
                    sockets.add(socket);
                }
                int[] doomed = {0};
                run(() -> pass(client, server, doomed, true));
                run(() -> pass(server, client, doomed, false));
            }
        });
    }

    /** Ends all connections, and new ones at once. */
    public void cut() {
        refuse = true;
        for (Socket socket : sockets) {
            close(socket);
        }
    }

    /** Keeps what either side sends from now on, and takes connections. */
    public void hold() {
        hold = true;
    }

    public void mend() {
        refuse = hold = false;
    }

    /** The reply of the next request of one of these kinds is lost, and its connection with it. */
    public void lose(Integer... kinds) {
        lose = Set.of(kinds);
    }

    private void pass(Socket from, Socket to, int[] doomed, boolean requests) throws Exception {
        try {
            DataInputStream in = new DataInputStream(from.getInputStream());
            DataOutputStream out = new DataOutputStream(to.getOutputStream());
            for (boolean first = true;; first = false) {
                byte[] frame = new byte[in.readInt()];
                in.readFully(frame);
                int xid = number(frame, 0);
                if (!first && requests && lose.contains(number(frame, 4))) {
                    doomed[0] = xid;
                    lose = Set.of();
                }
                while (hold && !from.isClosed()) {
                    Thread.sleep(5);
                }
                if (!first && !requests && xid == doomed[0] && xid > 0) {
                    lost++;
                    return;
                }
                byte[] whole = new byte[4 + frame.length];
                java.nio.ByteBuffer.wrap(whole).putInt(frame.length).put(frame);
                out.write(whole);
            }
        } catch (IOException ended) {
            // The other side goes with it.
        } finally {
            close(from);
            close(to);
        }
    }

    private static int number(byte[] frame, int at) {
        return frame.length < at + 4 ? 0 : java.nio.ByteBuffer.wrap(frame, at, 4).getInt();
    }

    private void close(Socket socket) {
        sockets.remove(socket);
        try {
            socket.close();
        } catch (IOException gone) {
            // It is closed.
        }
    }

    private interface Task {
        void run() throws Exception;
    }

    private static void run(Task task) {
        Thread thread = new Thread(() -> {
            try {
                task.run();
            } catch (Exception ended) {
                // The connection has ended.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }
}
