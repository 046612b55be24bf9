"""Who enters creates a znode below that of the round and waits for `ready`, which the last one creates; all leave together."""

import threading

import zooquake
from kazoo.exceptions import NodeExistsError

PARENT = "@PARENT@"


class Barrier(zooquake.Recipe):
    def enter(self, round: int, members: int, deadline):
        parent, ready = f"{PARENT}/{round}", threading.Event()
        mine = f"{parent}/{self.client}"
        self.zk.retry(self.zk.ensure_path, parent)
        while True:
            opened = self.zk.retry(self.zk.exists, f"{parent}/ready", watch=lambda event: ready.set())
            self.make(mine, ephemeral=True)
            czxid, session = self.created(mine)
            if opened is not None:
                return {"round": round, "path": mine, "czxid": czxid, "session": session}
            if len(self.members(parent)) >= members:
                self.make(f"{parent}/ready")
            deadline.wait(ready)
            ready.clear()

    def leave(self, round: int, deadline):
        parent = f"{PARENT}/{round}"
        removed = self.remove(f"{parent}/{self.client}")
        while True:
            changed = threading.Event()
            if not self.members(parent, watch=lambda event: changed.set()):
                return {"round": round, "removed": removed}
            deadline.wait(changed)

    def make(self, path, **how):
        try:
            self.zk.retry(self.zk.create, path, **how)
        except NodeExistsError:
            pass

    def members(self, parent, **how):
        return [name for name in self.zk.retry(self.zk.get_children, parent, **how) if name != "ready"]


zooquake.run(Barrier)
