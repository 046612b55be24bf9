"""tooz's lock by its ZooKeeper driver, a new object for each acquire, in the session that its coordinator opens."""

import zooquake
from kazoo.exceptions import LockTimeout
from tooz import coordination

NAME, PARENT = b"lock", "/tooz/locks/lock"


class Lock(zooquake.Grants):
    coordinator, lock = None, None

    @classmethod
    def connect(cls, hosts, timeout):
        cls.coordinator = coordination.get_coordinator(f"zookeeper://{hosts}?timeout={int(timeout)}", b"member")
        cls.coordinator.start()
        return cls.coordinator._coord

    def acquire(self, deadline):
        self.lock = self.coordinator.get_lock(NAME)
        left = deadline.left()
        try:
            acquired = self.lock.acquire(blocking=True if left is None else left)
        except LockTimeout:
            acquired = False
        if not acquired:
            raise zooquake.TimedOut("it was not acquired")
        path = self.path()
        self.created(path)
        return {"path": path}

    def release(self, held):
        czxid, _ = self.own.pop(held["path"], (None, None))
        return {"path": held["path"], "czxid": czxid} if self.lock.release() else None

    def path(self):
        return f"{PARENT}/{self.lock._lock.node}"

    def znodes(self):
        """Also the one that it waits with."""
        waits = self.lock is not None and self.lock._lock.node is not None
        return {**({self.path(): (None, None)} if waits else {}), **self.own}


zooquake.run(Lock)
