"""tooz's lock by its ZooKeeper driver, a new object for each acquire, in the session that its coordinator opens."""

import zooquake
from coordinator import Coordinated
from kazoo.exceptions import LockTimeout
from one_lock import OneLock


class Lock(Coordinated, OneLock):
    parent = "/tooz/locks/lock"

    def new_lock(self, _):
        return self.coordinator.get_lock(b"lock")

    def acquired(self, left):
        try:
            return self.lock.acquire(blocking=True if left is None else left)
        except LockTimeout:
            return False

    def node(self):
        return self.lock._lock.node


zooquake.run(Lock)
