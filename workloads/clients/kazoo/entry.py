"""A member of a group on trial that a recipe of kazoo's watches."""

import threading

import zooquake


class Entry(zooquake.Group):
    """A subclass has the group's znode, `parent`, and `watch()`, which begins to watch it and is called once. The entry is created again in a
    new session, in a thread of its own, since a listener must not wait for ZooKeeper."""

    def __init__(self, zk, client, notify):
        super().__init__(zk, client, notify)
        self.entering, self.wanted, self.entry, self.watches = threading.Lock(), None, None, False

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
            path = f"{self.parent}/{self.wanted[0]}"
            return {"path": path, "mzxid": self.zk.retry(self.zk.set, path, str(value).encode()).mzxid}

    def deregister(self):
        with self.entering:
            if self.wanted is None:
                raise zooquake.Failed(zooquake.NOT_REGISTERED)
            path = f"{self.parent}/{self.wanted[0]}"
            self.wanted = self.entry = None
            return {"removed": self.remove(path)}

    def registered(self):
        entry = self.entry
        if entry is None or entry["session"] != self.session():
            return None
        return {key: entry[key] for key in ("member", "path", "czxid")}

    def enter(self, member, value):
        self.wanted, path = (member, value), f"{self.parent}/{member}"
        czxid, session = self.make_own(path, str(value).encode())
        self.entry = {"member": member, "path": path, "czxid": czxid, "session": session}

    @zooquake.override
    def session_changed(self, state):
        super().session_changed(state)
        if state == "connected":
            self.zk.handler.spawn(self.connected)

    def connected(self):
        with self.entering:
            if not self.watches:
                self.watches = True
                self.watch()
            if self.wanted and not self.registered():
                self.enter(*self.wanted)
