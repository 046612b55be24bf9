"""Faults for the findings: a proxy on 127.0.0.1 between a client and a ZooKeeper server. It cuts both streams into ZooKeeper's frames.

    proxy = Proxy(server_port)          the client connects to proxy.port
    proxy.cut(), proxy.cut(reset=True)  ends all connections, by FIN or by RST
    proxy.refuse(), proxy.accept()      cuts, and connections are refused by the kernel, as where no process listens; and taken again
    proxy.freeze(), proxy.thaw()        nothing is passed on, nothing is closed: as a network that drops packets
    proxy.expire()                      cuts, closes the newest session from a connection of its own as ZooKeeper's tests do; and accepts
    proxy.lose_reply("create", "/p")    the next such request is applied, its reply is lost, the connection ends; gives an Event (reset: RST)
    proxy.before("create", call)        `call` runs when the next such request has come, before the server sees it; gives an Event
    proxy.requests                      (name, path) of each request that came; "connect" has the session it asks for, 0 for a new one
"""
import socket, struct, threading

NAMES = {1: "create", 2: "delete", 3: "exists", 4: "getData", 5: "setData", 7: "setACL", 8: "getChildren", 9: "sync", 11: "ping",
         12: "getChildren2", 13: "check", 14: "multi", 15: "create2", 16: "reconfig", 19: "createContainer", 21: "createTTL",
         22: "multiRead", -11: "closeSession", 100: "auth", 101: "setWatches", 105: "setWatches2", 106: "addWatch"}


def receive(sock, size):
    data = b""
    while len(data) < size:
        more = sock.recv(size - len(data))
        if not more:
            raise ConnectionError("ended")
        data += more
    return data


def frame(sock):
    head = receive(sock, 4)
    return head + receive(sock, struct.unpack(">i", head)[0])


closing = threading.Lock()


def close(*socks, reset=False):
    with closing:  # another thread that wakes from reading must not send a FIN before the RST
        for sock in socks:
            try:
                if reset:
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                sock.shutdown(socket.SHUT_RD if reset else socket.SHUT_RDWR)
            except OSError:
                pass
            sock.close()


class Proxy:
    def __init__(self, server):
        self.server, self.port = server, 0
        self.requests, self.session, self.password = [], 0, b""
        self.lock, self.connections, self.hooks = threading.RLock(), set(), []
        self.flowing = threading.Event()
        self.flowing.set()
        self.listener = None
        self.accept()

    def accept(self):
        with self.lock:
            if self.listener is None:
                self.listener = socket.socket()
                self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                self.listener.bind(("127.0.0.1", self.port))
                self.port = self.listener.getsockname()[1]
                self.listener.listen()
                threading.Thread(target=self._listen, args=(self.listener,), daemon=True).start()

    def refuse(self, reset=False):
        with self.lock:
            listener, self.listener = self.listener, None
        if listener:
            close(listener)
        self.cut(reset)

    def cut(self, reset=False):
        with self.lock:
            for client, server in list(self.connections):
                close(client, reset=reset)
                close(server)
            self.connections.clear()

    def freeze(self):
        self.flowing.clear()

    def thaw(self):
        self.flowing.set()

    def expire(self):
        with self.lock:
            session, password = self.session, self.password
        self.refuse()
        with socket.create_connection(("127.0.0.1", self.server), timeout=10) as sock:
            sock.sendall(struct.pack(">iiqiqi", 44, 0, 0, 10000, session, len(password)) + password)
            answer = frame(sock)
            assert struct.unpack(">q", answer[12:20])[0] == session, "the session was gone already"
            sock.sendall(struct.pack(">iii", 8, 1, -11))
            frame(sock)
        self.accept()

    def _hook(self, when, name, path, call):
        hook = (when, name, path, call, threading.Event())
        with self.lock:
            self.hooks.append(hook)
        return hook[-1]

    def lose_reply(self, name, path="", reset=False):
        return self._hook("reply", name, path, reset)

    def before(self, name, call, path=""):
        return self._hook("request", name, path, call)

    def _take(self, when, name, path):
        with self.lock:
            for hook in self.hooks:
                if hook[0] == when and hook[1] == name and path.startswith(hook[2]):
                    self.hooks.remove(hook)
                    return hook

    def _listen(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.server))
            except OSError:
                close(client)
                continue
            pair = (client, server)
            with self.lock:
                if self.listener is not listener:
                    close(*pair)
                    return
                self.connections.add(pair)
            pending = {}
            for target in self._requests, self._replies:
                threading.Thread(target=self._run, args=(target, pair, pending), daemon=True).start()

    def _run(self, target, pair, pending):
        try:
            target(*pair, pending)
        except OSError:
            pass
        with self.lock:
            self.connections.discard(pair)
        close(*pair)

    def _requests(self, client, server, pending):
        data = receive(client, 4)
        if data.isalpha():  # a command of four letters: the answer ends with the connection
            server.sendall(data)
            return client.recv(1)
        data += receive(client, struct.unpack(">i", data)[0])
        pending["session"] = True
        self.requests.append(("connect", struct.unpack(">q", data[20:28])[0]))
        while True:
            self.flowing.wait()
            server.sendall(data)
            data = frame(client)
            xid, kind = struct.unpack(">ii", data[4:12])
            name, path = NAMES.get(kind, str(kind)), ""
            if name not in ("ping", "multi", "multiRead", "closeSession", "auth", "setWatches", "setWatches2") and len(data) > 16:
                path = data[16 : 16 + max(0, struct.unpack(">i", data[12:16])[0])].decode()
            if name != "ping":
                self.requests.append((name, path))
            pending[xid] = (name, path)
            hook = self._take("request", name, path)
            if hook:
                hook[3]()
                hook[-1].set()

    def _pass(self, source, target):
        while data := source.recv(65536):
            target.sendall(data)

    def _replies(self, client, server, pending):
        data = receive(server, 4)
        if "session" not in pending:
            client.sendall(data)
            return self._pass(server, client)
        data += receive(server, struct.unpack(">i", data)[0])
        session = struct.unpack(">q", data[12:20])[0]
        if session:
            with self.lock:
                size = struct.unpack(">i", data[20:24])[0]
                self.session, self.password = session, data[24 : 24 + size]
        while True:
            self.flowing.wait()
            client.sendall(data)
            data = frame(server)
            xid, _, error = struct.unpack(">iqi", data[4:20])
            if xid in pending:
                hook = error == 0 and self._take("reply", *pending.pop(xid))
                if hook:
                    close(client, reset=hook[3])
                    hook[-1].set()
                    return


class Silent(Proxy):
    """While nothing flows the end of a connection is not passed on either."""

    def _run(self, target, pair, pending):
        def held(*rest):
            try:
                target(*rest)
            finally:
                self.flowing.wait()

        super()._run(held, pair, pending)
