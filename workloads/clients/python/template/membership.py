"""A member lists the group and reads each entry, with watches, and again after each event and each connection. It registers anew in a new
session."""

import contextlib
import threading
import zooquake
from kazoo.exceptions import NoNodeError

PARENT = "@PARENT@"


class Membership(zooquake.Group):
    def __init__(self, zk, client, notify):
        super().__init__(zk, client, notify)
        self.entering, self.wanted, self.entry = threading.Lock(), None, None

    def register(self, member: str, value: int):
        with self.entering:
            if self.registered():
                raise zooquake.Failed(zooquake.REGISTERED_ALREADY)
            try:
                entry = self.enter(member, value)
            except Exception:
                self.wanted = None
                raise
            return {"path": entry["path"], "czxid": entry["czxid"], "session": entry["session"]}

    def update(self, value: int):
        with self.entering:
            if self.wanted is None:
                raise zooquake.Failed(zooquake.NOT_REGISTERED)
            member = self.wanted[0]
            if not self.registered():
                entry = self.enter(member, value)
                return {"path": entry["path"], "mzxid": entry["czxid"]}
            # Written again after an unknown outcome; if the session ends meanwhile, the new one begins with this value.
            self.wanted = (member, value)
            written = self.zk.retry(self.zk.set, f"{PARENT}/{member}", str(value).encode())
            return {"path": f"{PARENT}/{member}", "mzxid": written.mzxid}

    def deregister(self):
        with self.entering:
            if self.wanted is None:
                raise zooquake.Failed(zooquake.NOT_REGISTERED)
            member = self.wanted[0]
            self.wanted = self.entry = None
            return {"removed": self.remove(f"{PARENT}/{member}")}

    def registered(self):
        entry = self.entry
        if entry is None or entry["session"] != self.session():
            return None
        return {"member": entry["member"], "path": entry["path"], "czxid": entry["czxid"]}

    def enter(self, member, value):
        self.wanted, path = (member, value), f"{PARENT}/{member}"
        czxid, session = self.make_own(path, str(value).encode())
        self.entry = {"member": member, "path": path, "czxid": czxid, "session": session}
        return self.entry

    @zooquake.override
    def session_changed(self, state):
        super().session_changed(state)
        if state == "connected":
            self.in_order(self.connected)
        else:
            self.show(None)

    def connected(self):
        """kazoo drops its watches with a connection: what changed since has to be read, whatever the session."""
        self.look()
        with self.entering:
            if self.wanted and not self.registered():
                self.enter(*self.wanted)

    def look(self, event=None):
        """Is called in one thread alone, so that no view is older than the one before it."""
        if event is not None and event.type == "NONE":
            return  # The connection is gone; the next one looks again.
        since, members = self.moment(), []
        for name in sorted(self.zk.get_children(PARENT, watch=self.look)):
            path = f"{PARENT}/{name}"
            with contextlib.suppress(NoNodeError):  # It has left since it was listed.
                data, stat = self.zk.get(path, watch=self.look)
                members.append({"member": name, "path": path, "czxid": stat.czxid, "mzxid": stat.mzxid, "value": int(data)})
        self.show(members, since)


zooquake.run(Membership)
