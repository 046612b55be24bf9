#!/usr/bin/env bash
# ZooKeeper's Java client 3.6.3 (Apache's jar), 3.8.0 (Debian 12), 3.9.3 and 3.9.5 (Apache's jars) with zookeeper.request.timeout, which the administrator's
# guide has as how long a request waits for its answer: one that waited too long ends the connection, and with it all that is under way. In the
# first three that is seen at once, and the request itself is a ConnectionLoss, not a RequestTimeout. 3.9.5 raises RequestTimeout, and closes the
# socket behind the back of the thread that uses it (ClientCnxn, `abortConnection`): the client is CONNECTED, no watcher is told, what is under way
# waits on; the next request, or the next ping, finds the connection gone and is lost. An asynchronous
# request has no limit at all. All of them were applied.
# Seen: 3.6.3: create: ConnectionLoss; watcher told within 2 s: Disconnected; an asynchronous one, 3 s old by then: CONNECTIONLOSS; the next request, once answers come again: answered; applied: both
#       3.8.0: create: ConnectionLoss; watcher told within 2 s: Disconnected; an asynchronous one, 3 s old by then: CONNECTIONLOSS; the next request, once answers come again: answered; applied: both
#       3.9.3: create: ConnectionLoss; watcher told within 2 s: Disconnected; an asynchronous one, 3 s old by then: CONNECTIONLOSS; the next request, once answers come again: answered; applied: both
#       3.9.5: create: RequestTimeout; watcher told within 2 s: nothing; an asynchronous one, 3 s old by then: not answered; the next request, once answers come again: ConnectionLoss; applied: both
. "$(dirname "$0")/lib/versions.sh"
get 3.6.3 3.9.3 3.9.5
python3 - <<'P'
from zk import *

PROGRAM = """
import java.util.*;
import java.util.concurrent.*;
import org.apache.zookeeper.*;
import org.apache.zookeeper.client.ZKClientConfig;

class Program {
    static String ask(Callable<?> call) throws Exception {
        try {
            call.call();
            return "answered";
        } catch (KeeperException error) {
            return error.getClass().getSimpleName().replace("Exception", "");
        }
    }

    static ZooKeeper client(int port, String limit, List<String> events) throws Exception {
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKClientConfig.ZOOKEEPER_REQUEST_TIMEOUT, limit);
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper client = new ZooKeeper("127.0.0.1:" + port, 40000, event -> {
            events.add(event.getState().toString());
            connected.countDown();
        }, config);
        connected.await();
        return client;
    }

    public static void main(String[] arguments) throws Exception {
        Proxy proxy = new Proxy(Integer.parseInt(arguments[0]));
        List<String> events = new CopyOnWriteArrayList<>();
        List<String> answers = new CopyOnWriteArrayList<>();
        ZooKeeper client = client(proxy.port, "1000", events), other = client(Integer.parseInt(arguments[0]), "0", new CopyOnWriteArrayList<>());
        if (!ask(() -> client.exists("/", false)).equals("answered")) {
            throw new AssertionError("not answered");
        }
        events.clear();
        proxy.hold();
        client.create("/one", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT,
            (code, path, context, name) -> answers.add(KeeperException.Code.get(code).toString()), null);
        Thread.sleep(2000);
        String create = ask(() -> client.create("/two", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT));
        Thread.sleep(2000);
        String told = events.isEmpty() ? "nothing" : events.get(0), one = answers.isEmpty() ? "not answered" : answers.get(0);
        proxy.mend();
        if (!events.isEmpty()) {
            while (!events.contains("SyncConnected")) {
                Thread.sleep(10);
            }
        }
        String next = ask(() -> client.exists("/", false));
        while (answers.isEmpty() || other.exists("/two", false) == null) {
            Thread.sleep(10);
        }
        System.out.printf("create: %s; watcher told within 2 s: %s; an asynchronous one, 3 s old by then: %s; the next request, once answers come again: %s; "
            + "applied: %s%n", create, told, one, next, other.exists("/one", false) != null ? "both" : "one");
        System.exit(0);
    }
}
"""
for version in "3.6.3", "3.8.0", "3.9.3", "3.9.5":
    server = Server(version)
    [seen] = program(version, PROGRAM, server.port)
    print(f"{version}: {seen}")
    first = ("ConnectionLoss", "Disconnected", "CONNECTIONLOSS", "answered")
    create, told, one, following = ("RequestTimeout", "nothing", "not answered", "ConnectionLoss") if version == "3.9.5" else first
    assert seen == (f"create: {create}; watcher told within 2 s: {told}; an asynchronous one, 3 s old by then: {one}; the next request, once answers come "
                    f"again: {following}; applied: both"), seen
    server.kill()
P
