"""A lock object of kazoo's, or over one, on trial: a new one for each acquire."""

import zooquake


class OneLock(zooquake.Grants):
    """A subclass has `parent`, below which the locks are, and `new_lock(mode)`."""

    lock = None

    def acquire(self, mode: str, deadline):
        self.lock = self.new_lock(mode)
        if not self.acquired(deadline.left()):
            raise zooquake.TimedOut("it was not acquired")
        path = self.path()
        self.created(path)
        return {"path": path}

    def acquired(self, left):
        """Whether the lock was acquired within so many seconds; None for no limit."""
        return self.lock.acquire(timeout=left)

    def release(self, held):
        czxid, _ = self.own.pop(held["path"], (None, None))
        return {"path": held["path"], "czxid": czxid} if self.lock.release() else None

    def node(self):
        """The name of the lock's znode; None if it has made none."""
        return self.lock.node

    def path(self):
        return f"{self.parent}/{self.node()}"

    def znodes(self):
        """Also the one that it waits with."""
        waits = self.lock is not None and self.node() is not None
        return {**({self.path(): (None, None)} if waits else {}), **self.own}
