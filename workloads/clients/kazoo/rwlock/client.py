"""kazoo's ReadLock and WriteLock, a new object for each acquire."""

import zooquake


class ReadWriteLock(zooquake.Grants):
    kazoo = None

    def acquire(self, mode: str, deadline):
        kind = self.zk.ReadLock if mode == "shared" else self.zk.WriteLock
        self.kazoo = kind("/rwlock", self.client)
        if not self.kazoo.acquire(timeout=deadline.left()):
            raise zooquake.TimedOut("it was not acquired")
        path = self.path()
        self.created(path)
        return {"path": path}

    def release(self, held):
        czxid, _ = self.own.pop(held["path"], (None, None))
        return {"path": held["path"], "czxid": czxid} if self.kazoo.release() else None

    def path(self):
        return f"/rwlock/{self.kazoo.node}"

    def znodes(self):
        """Also the one that it waits with."""
        waits = self.kazoo is not None and self.kazoo.node is not None
        return {**({self.path(): (None, None)} if waits else {}), **self.own}


zooquake.run(ReadWriteLock)
