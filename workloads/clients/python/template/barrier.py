"""Who enters creates a znode below that of the round and waits for `ready`, which the last one creates; all leave together."""

import threading

import zooquake

PARENT = "@PARENT@"


class Barrier(zooquake.Recipe):
    def enter(self, round: int, members: int, deadline):
        parent = f"{PARENT}/{round}"
        while True:
            opened = threading.Event()
            ready = self.exists(f"{parent}/ready", opened)
            czxid, session = self.make_own(f"{parent}/{self.client}")
            if ready:
                return {"round": round, "path": f"{parent}/{self.client}", "czxid": czxid, "session": session}
            if len(self.children(parent)) >= members:
                self.make(f"{parent}/ready")
            deadline.wait(opened)

    def leave(self, round: int, deadline):
        removed = self.remove(f"{PARENT}/{round}/{self.client}")
        while True:
            changed = threading.Event()
            if self.children(f"{PARENT}/{round}", changed) == ["ready"]:
                return {"round": round, "removed": removed}
            deadline.wait(changed)


zooquake.run(Barrier)
