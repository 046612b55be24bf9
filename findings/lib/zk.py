"""For the findings that compare versions (lib/versions.sh): servers, a client that speaks the protocol itself, Java programs."""
import atexit, os, signal, socket, struct, subprocess, time

WORK, CACHE = os.environ["work"], os.environ["cache"]
CREATE, DELETE, EXISTS, GET, SET, CHILDREN, SYNC, PING, CHECK, MULTI, CREATE2 = 1, 2, 3, 4, 5, 8, 9, 11, 13, 14, 15
REMOVE_WATCHES, CREATE_CONTAINER, CREATE_TTL, SET_WATCHES2, ADD_WATCH, WHO_AM_I, CLOSE = 18, 19, 21, 105, 106, 107, -11
OK, UNIMPLEMENTED, NO_NODE, BAD_VERSION, NODE_EXISTS = 0, -6, -101, -103, -110
EVENTS = {1: "created", 2: "deleted", 3: "changed", 4: "children"}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def until(what, check, timeout=30):
    """The first true answer of `check`, asked every 20 ms."""
    end = time.monotonic() + timeout
    while not (answer := check()):
        assert time.monotonic() < end, f"not within {timeout} s: {what}"
        time.sleep(0.02)
    return answer


CURATOR = {"3.6.3": "2.13.0", "3.8.0": "5.4.0", "3.9.3": "5.7.1", "3.9.5": "5.9.0"}


def jars(version):
    return f"{CACHE}/{version}/*"


def java(version, *arguments, **options):
    """A Java process with the jars of a version, which ends with the script."""
    command = [f"{CACHE}/java/bin/java", "-Xmx160m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{jars(version)}:{WORK}/classes", *arguments]
    process = subprocess.Popen(command, **options)
    open(f"{WORK}/pids/{process.pid}", "w").close()
    return process


def program(version, source, *arguments, timeout=120):
    """What a Java program prints: a list of its lines. lib/Proxy.java is on its class path."""
    if not os.path.exists(f"{WORK}/classes"):
        java("3.8.0", "-m", "jdk.compiler/com.sun.tools.javac.Main", "-d", f"{WORK}/classes", f"{os.path.dirname(__file__)}/Proxy.java").wait()
    with open(f"{WORK}/Program.java", "w") as file:
        file.write(source)
    process = java(version, f"{WORK}/Program.java", *map(str, arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        out, err = process.communicate(timeout=timeout)
    finally:
        process.kill()
    assert process.returncode == 0, out + err
    return out.splitlines()


class Server:
    """A server of a version. `restart` may change the version and keeps the data."""

    def __init__(self, version, config=(), properties=(), servers=None, myid=None, tick=200):
        self.config, self.port, self.version, self.servers, self.tick = dict(config), free_port(), version, servers, tick
        self.properties = dict(properties)
        self.data = f"{WORK}/server{self.port}"
        os.mkdir(self.data)
        if myid is not None:
            with open(f"{self.data}/myid", "w") as file:
                file.write(str(myid))
        self.start()

    def start(self):
        lines = {"tickTime": self.tick, "minSessionTimeout": 2 * self.tick, "maxSessionTimeout": 60000, "initLimit": 50, "syncLimit": 50,
                 "clientPort": self.port, "clientPortAddress": "127.0.0.1", "dataDir": self.data, "admin.enableServer": "false",
                 "4lw.commands.whitelist": "*", **self.config, **(self.servers or {})}
        with open(f"{self.data}.cfg", "w") as file:
            file.write("".join(f"{key}={value}\n" for key, value in lines.items()))
        with open(f"{self.data}.log", "a") as log:
            self.process = java(self.version, *(f"-D{key if '.' in key else 'zookeeper.' + key}={value}" for key, value in self.properties.items()),
                                "org.apache.zookeeper.server.quorum.QuorumPeerMain", f"{self.data}.cfg", stdout=log, stderr=log)
        if not self.servers:
            self.serves()

    def serves(self):
        until(f"{self.version} serves", lambda: "Mode: " in self.ask("srvr") or self.process.poll() is not None)
        assert self.process.poll() is None, open(f"{self.data}.log").read()
        return self

    def mode(self):
        return next((line[6:] for line in self.ask("srvr").splitlines() if line.startswith("Mode: ")), None)

    def ask(self, word):
        """The answer to a four-letter word, or nothing."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=2) as connection:
                connection.sendall(word.encode())
                answer = b""
                while part := connection.recv(65536):
                    answer += part
                return answer.decode()
        except OSError:
            return ""

    def freeze(self):
        """Returns when every thread has stopped: a signal stops the others only once one of them has taken it."""
        self.process.send_signal(signal.SIGSTOP)
        tasks = f"/proc/{self.process.pid}/task"
        until("every thread has stopped", lambda: all(open(f"{tasks}/{task}/stat").read().rsplit(")", 1)[1].split()[0] == "T" for task in os.listdir(tasks)))

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def restart(self, version=None, properties=None):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()
        self.version = version or self.version
        self.properties = self.properties if properties is None else dict(properties)
        self.start()
        return self


def ensemble(versions, config=(), properties=()):
    """Servers of these versions, which have elected a leader."""
    members = {f"server.{n}": f"127.0.0.1:{free_port()}:{free_port()}" for n in range(1, len(versions) + 1)}
    servers = [Server(version, config, properties, members, n) for n, version in enumerate(versions, 1)]
    for server in servers:
        server.serves()
    return servers


class Lost(Exception):
    """The connection has ended."""


def text(value):
    return struct.pack(">i", len(value.encode())) + value.encode()


def data(value):
    return struct.pack(">i", -1) if value is None else struct.pack(">i", len(value)) + value


ACL = struct.pack(">ii", 1, 31) + text("world") + text("anyone")


class Stat:
    def __init__(self, packed):
        (self.czxid, self.mzxid, self.ctime, self.mtime, self.version, self.cversion, self.aversion, self.owner, self.length, self.children,
         self.pzxid) = struct.unpack(">qqqqiiiqiiq", packed)


class Client:
    """A session on a connection. Replies and events are kept in the order in which they came."""

    def __init__(self, port, timeout=10000, session=0, password=bytes(16), zxid=0, wait=5):
        self.port = getattr(port, "port", port)
        self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=wait)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.xid, self.events, self.zxid = 0, [], zxid
        self.send(struct.pack(">iqiq", 0, zxid, timeout, session) + data(password) + b"\0")
        answer = self.frame()
        self.timeout, self.session = struct.unpack(">iq", answer[4:16])
        self.password = answer[20:36]

    def send(self, body):
        try:
            self.socket.sendall(struct.pack(">i", len(body)) + body)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise Lost from error

    def read(self, count):
        got = b""
        while len(got) < count:
            try:
                part = self.socket.recv(count - len(got))
            except ConnectionResetError:
                part = b""
            if not part:
                raise Lost
            got += part
        return got

    def frame(self):
        return self.read(struct.unpack(">i", self.read(4))[0])

    def request(self, kind, body=b"", xid=None):
        """Sends a request and waits for nothing."""
        if xid is None:
            self.xid += 1
            xid = self.xid
        self.send(struct.pack(">ii", xid, kind) + body)
        return xid

    def next(self):
        """The next frame: (xid, zxid, error, body), or an event: (-1, zxid, 0, (kind, path))."""
        frame = self.frame()
        xid, zxid, error = struct.unpack(">iqi", frame[:16])
        if xid == -1:
            kind, _, length = struct.unpack(">iii", frame[16:28])
            event = EVENTS.get(kind, kind), frame[28:28 + length].decode()
            self.events.append(event)
            return xid, zxid, error, event
        if zxid > 0:
            self.zxid = zxid
        return xid, zxid, error, frame[16:]

    def reply(self, xid):
        while True:
            got = self.next()
            if got[0] == xid:
                return got[2], got[3]

    def call(self, kind, body=b"", xid=None):
        """(error, body) of the reply."""
        return self.reply(self.request(kind, body, xid))

    def ok(self, kind, body=b"", xid=None):
        error, answer = self.call(kind, body, xid)
        assert error == 0, (kind, error)
        return answer

    def create(self, path, value=b"", flags=0, ttl=None):
        """The path of a new znode."""
        kind = CREATE_TTL if ttl is not None else CREATE_CONTAINER if flags == 4 else CREATE
        answer = self.ok(kind, create(path, value, flags, ttl))
        return answer[4:4 + struct.unpack(">i", answer[:4])[0]].decode()

    def set(self, path, value, version=-1):
        return Stat(self.ok(SET, text(path) + data(value) + struct.pack(">i", version)))

    def stat(self, path, watch=False):
        """Its stat, or None."""
        error, answer = self.call(EXISTS, text(path) + bytes([watch]))
        return None if error == NO_NODE else Stat(answer)

    def get(self, path, watch=False):
        answer = self.ok(GET, text(path) + bytes([watch]))
        return answer[4:4 + struct.unpack(">i", answer[:4])[0]]

    def children(self, path, watch=False):
        answer = self.ok(CHILDREN, text(path) + bytes([watch]))
        count, at, names = struct.unpack(">i", answer[:4])[0], 4, []
        for _ in range(count):
            length = struct.unpack(">i", answer[at:at + 4])[0]
            names.append(answer[at + 4:at + 4 + length].decode())
            at += 4 + length
        return sorted(names)

    def delete(self, path, version=-1):
        self.ok(DELETE, text(path) + struct.pack(">i", version))

    def ping(self):
        """Returns when everything before has been answered. Events that came are in `events`."""
        self.call(PING, xid=-2)

    def heard(self):
        """The events since the last call, once the server has answered everything."""
        self.ping()
        events, self.events = self.events, []
        return events

    def drop(self):
        """Ends the connection, not the session."""
        self.socket.close()

    def close(self):
        self.call(CLOSE)
        self.socket.close()


def create(path, value=b"", flags=0, ttl=None):
    return text(path) + data(value) + ACL + struct.pack(">i", flags) + (b"" if ttl is None else struct.pack(">q", ttl))


def multi(*operations):
    """The body of a multi of (kind, body)."""
    return b"".join(struct.pack(">i?i", kind, False, -1) + body for kind, body in operations) + struct.pack(">i?i", -1, True, -1)


def stop(number, frame):
    raise SystemExit(128 + number)


signal.signal(signal.SIGTERM, stop)


@atexit.register
def end():
    for pid in os.listdir(f"{WORK}/pids"):
        try:
            os.kill(int(pid), signal.SIGKILL)
        except ProcessLookupError:
            pass
