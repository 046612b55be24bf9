"""ZooKeeper's C client by ctypes: what the findings call of it."""
import ctypes, time
from ctypes import c_char_p, c_int, c_void_p

STATES = {3: "connected", 1: "connecting", 2: "associating", -112: "expired", 999: "not connected", 0: "closed"}
TYPES = {1: "created", 2: "deleted", 3: "changed", 4: "child", -1: "session"}
WATCHER = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_int, c_char_p, c_void_p)


class Id(ctypes.Structure):
    _fields_ = [("session", ctypes.c_int64), ("password", ctypes.c_char * 16)]


def load(path):
    zoo = ctypes.CDLL(path)
    zoo.zookeeper_init.restype = c_void_p
    zoo.zookeeper_init.argtypes = [c_char_p, WATCHER, c_int, c_void_p, c_void_p, c_int]
    zoo.zoo_create.argtypes = [c_void_p, c_char_p, c_char_p, c_int, c_void_p, c_int, c_char_p, c_int]
    zoo.zoo_set.argtypes = [c_void_p, c_char_p, c_char_p, c_int, c_int]
    zoo.zoo_delete.argtypes = [c_void_p, c_char_p, c_int]
    zoo.zoo_wexists.argtypes = [c_void_p, c_char_p, WATCHER, c_void_p, c_void_p]
    zoo.zoo_wget.argtypes = [c_void_p, c_char_p, WATCHER, c_void_p, c_void_p, c_void_p, c_void_p]
    zoo.zoo_wget_children.argtypes = [c_void_p, c_char_p, WATCHER, c_void_p, c_void_p]
    zoo.zoo_multi.argtypes = [c_void_p, c_int, c_void_p, c_void_p]
    zoo.zoo_create_op_init.argtypes = [c_void_p, c_char_p, c_char_p, c_int, c_void_p, c_int, c_char_p, c_int]
    zoo.zoo_create_op_init.restype = None
    zoo.zoo_delete_op_init.argtypes = [c_void_p, c_char_p, c_int]
    zoo.zoo_delete_op_init.restype = None
    zoo.zoo_state.argtypes = zoo.zookeeper_close.argtypes = [c_void_p]
    zoo.zoo_client_id.restype = ctypes.POINTER(Id)
    zoo.zoo_client_id.argtypes = [c_void_p]
    zoo.zoo_set_debug_level(0)
    return zoo


class Client:
    """A handle; `events` has what its session's watcher got, `watched` what the watch functions got: (type, state, path)."""

    def __init__(self, zoo, port, timeout=10):
        self.zoo, self.events, self.watched, self.watches = zoo, [], [], 0
        self.acl = ctypes.addressof(ctypes.c_char.in_dll(zoo, "ZOO_OPEN_ACL_UNSAFE"))
        note = lambda into: WATCHER(lambda handle, kind, state, path, context: into.append((TYPES[kind], STATES.get(state, state), path.decode())))
        self.session_watcher, self.watcher = note(self.events), note(self.watched)
        self.handle = zoo.zookeeper_init(b"127.0.0.1:%d" % port, self.session_watcher, int(timeout * 1000), None, None, 0)
        self.until(lambda: self.state() == "connected")

    def until(self, call, within=10):
        deadline = time.monotonic() + within
        while not call():
            assert time.monotonic() < deadline, f"not within {within} s"
            time.sleep(0.002)

    def state(self):
        return STATES.get(self.zoo.zoo_state(self.handle))

    def session(self):
        return self.zoo.zoo_client_id(self.handle).contents.session

    def context(self):
        """Another one for each watch: the client calls a function once for all of its watches that have the same."""
        self.watches += 1
        return self.watches

    def create(self, path):
        return self.zoo.zoo_create(self.handle, path.encode(), b"", 0, self.acl, 0, None, 0)

    def set(self, path):
        return self.zoo.zoo_set(self.handle, path.encode(), b"x", 1, -1)

    def delete(self, path):
        return self.zoo.zoo_delete(self.handle, path.encode(), -1)

    def get(self, path):
        return self.zoo.zoo_wget(self.handle, path.encode(), self.watcher, self.context(), ctypes.create_string_buffer(100), ctypes.byref(c_int(100)), ctypes.create_string_buffer(128))

    def exists(self, path):
        return self.zoo.zoo_wexists(self.handle, path.encode(), self.watcher, self.context(), ctypes.create_string_buffer(128))

    def children(self, path):
        return self.zoo.zoo_wget_children(self.handle, path.encode(), self.watcher, self.context(), ctypes.create_string_buffer(16))

    def close(self):
        self.zoo.zookeeper_close(self.handle)
