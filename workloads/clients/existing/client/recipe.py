"""A lock that is given a client: the kit's."""

import zooquake
from batch_lock import BatchLock


class Adapter(zooquake.Grants):
    lock = None

    def acquire(self, deadline):
        self.lock = BatchLock(self.zk, "/batch/locks")
        if not self.lock.acquire(timeout=deadline.left()):
            raise zooquake.TimedOut("it was not acquired")
        self.created(self.lock.path)
        return {"path": self.lock.path}

    def release(self, held):
        removed = self.forget(held["path"])
        return removed if self.lock.release() else None

    def znodes(self):
        """Also the one that it waits with."""
        waits = self.lock is not None and self.lock.path is not None
        return {**({self.lock.path: (None, None)} if waits else {}), **self.own}


zooquake.run(Adapter)
