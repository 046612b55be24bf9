"""tooz's election of a group's leader: `run_watchers` again and again until the callback is called, and `stand_down_group_leader`."""

import threading
import time

import zooquake
from coordinator import Coordinated

GROUP, PARENT = b"group", "/tooz/group/leader"
AGAIN_S = 0.05


class Election(Coordinated, zooquake.Grants):
    def __init__(self, zk, client, notify):
        super().__init__(zk, client, notify)
        self.elected = threading.Event()

    def acquire(self, deadline):
        self.elected.clear()
        self.coordinator.watch_elected_as_leader(GROUP, self.leads)
        try:
            while not self.elected.is_set():
                if deadline.left() == 0:
                    raise zooquake.TimedOut("it was not elected")
                self.coordinator.run_elect_coordinator()
                time.sleep(AGAIN_S)
        finally:
            self.coordinator.unwatch_elected_as_leader(GROUP, self.leads)
        path = self.path()
        self.created(path)
        return {"path": path}

    def leads(self, _):
        self.elected.set()

    def release(self, held):
        stood_down = self.coordinator.stand_down_group_leader(GROUP)
        czxid, _ = self.own.pop(held["path"], (None, None))
        return {"path": held["path"], "czxid": czxid} if stood_down else None

    def path(self):
        return f"{PARENT}/{self.coordinator._leader_locks[GROUP].node}"

    def znodes(self):
        """Also the one that it stands with."""
        lock = getattr(self.coordinator, "_leader_locks", {}).get(GROUP)
        stands = lock is not None and lock.node is not None
        return {**({self.path(): (None, None)} if stands else {}), **self.own}


zooquake.run(Election)
