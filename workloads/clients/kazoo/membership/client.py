"""kazoo's ChildrenWatch, with a DataWatch for each name that it gives; what the callbacks are given is the view. The entry is created again in
a new session, in a thread of its own, since a listener must not wait for ZooKeeper."""

import functools
import threading
import zooquake

PARENT = "/members"


class KazooWatches(zooquake.Group):
    def __init__(self, zk, client, notify):
        super().__init__(zk, client, notify)
        self.changing, self.watched, self.entries = threading.Lock(), set(), {}
        self.entering, self.wanted, self.entry = threading.Lock(), None, None

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
            if PARENT not in self.watched:
                self.watched.add(PARENT)
                self.zk.ChildrenWatch(PARENT, self.listed)
            if self.wanted and not self.registered():
                self.enter(*self.wanted)

    def listed(self, names):
        for name in sorted(set(names) - self.watched):
            self.watched.add(name)
            self.zk.DataWatch(f"{PARENT}/{name}", functools.partial(self.changed, name))
        with self.changing:
            self.show(list(self.entries.values()))

    def changed(self, name, data, stat, event):
        with self.changing:
            if stat is None:
                self.entries.pop(name, None)
            else:
                path = f"{PARENT}/{name}"
                self.entries[name] = {"member": name, "path": path, "czxid": stat.czxid, "mzxid": stat.mzxid, "value": int(data)}
            self.show(list(self.entries.values()))


zooquake.run(KazooWatches)
