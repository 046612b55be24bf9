"""kazoo's TreeCache of a group's znode: what it has after each of its events is the view. The entry is created again in a new session, in a
thread of its own, since a listener must not wait for ZooKeeper."""

import threading

import zooquake
from kazoo.recipe.cache import TreeCache

PARENT = "/members"


class KazooTreeCache(zooquake.Group):
    def __init__(self, zk, client, notify):
        super().__init__(zk, client, notify)
        self.entering, self.wanted, self.entry, self.cache = threading.Lock(), None, None, None

    def register(self, member: str, value: int):
        with self.entering:
            if self.registered():
                raise zooquake.Failed(zooquake.REGISTERED_ALREADY)
            try:
                self.enter(member, value)
            except Exception:
                self.wanted = None
                raise
            return {key: self.entry[key] for key in ("path", "czxid", "session")}

    def update(self, value: int):
        with self.entering:
            if self.wanted is None:
                raise zooquake.Failed(zooquake.NOT_REGISTERED)
            self.wanted = (self.wanted[0], value)
            path = f"{PARENT}/{self.wanted[0]}"
            return {"path": path, "mzxid": self.zk.retry(self.zk.set, path, str(value).encode()).mzxid}

    def deregister(self):
        with self.entering:
            if self.wanted is None:
                raise zooquake.Failed(zooquake.NOT_REGISTERED)
            path = f"{PARENT}/{self.wanted[0]}"
            self.wanted = self.entry = None
            return {"removed": self.remove(path)}

    def registered(self):
        entry = self.entry
        if entry is None or entry["session"] != self.session():
            return None
        return {key: entry[key] for key in ("member", "path", "czxid")}

    def enter(self, member, value):
        self.wanted, path = (member, value), f"{PARENT}/{member}"
        czxid, session = self.make_own(path, str(value).encode())
        self.entry = {"member": member, "path": path, "czxid": czxid, "session": session}

    @zooquake.override
    def session_changed(self, state):
        super().session_changed(state)
        if state == "connected":
            self.zk.handler.spawn(self.connected)

    def connected(self):
        with self.entering:
            if self.cache is None:
                self.cache = TreeCache(self.zk, PARENT)
                self.cache.listen(self.changed)
                self.cache.start()
            if self.wanted and not self.registered():
                self.enter(*self.wanted)

    def changed(self, _):
        entries = []
        for name in sorted(self.cache.get_children(PARENT, frozenset())):
            found = self.cache.get_data(f"{PARENT}/{name}")
            # A name that was listed has no data until these are read.
            if found is not None:
                stat = found.stat
                entry = {"path": found.path, "czxid": stat.czxid, "mzxid": stat.mzxid, "value": int(found.data)}
                entries.append({"member": name, **entry})
        self.show(entries)


zooquake.run(KazooTreeCache)
