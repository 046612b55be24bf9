"""kazoo's Lock, as its documentation has it, but with a new object for each acquire: one whose release has failed never acquires again."""

import zooquake


class Lock(zooquake.Grants):
    kazoo = None

    def acquire(self, deadline):
        self.kazoo = self.zk.Lock("/lock", self.client)
        if not self.kazoo.acquire(timeout=deadline.left()):
            raise zooquake.TimedOut("it was not acquired")
        path = self.path()
        self.created(path)
        return {"path": path}

    def release(self, held):
        czxid, _ = self.own.pop(held["path"], (None, None))
        return {"path": held["path"], "czxid": czxid} if self.kazoo.release() else None

    def path(self):
        return f"/lock/{self.kazoo.node}"

    def znodes(self):
        """Also the one that it waits with."""
        waits = self.kazoo is not None and self.kazoo.node is not None
        return {**({self.path(): (None, None)} if waits else {}), **self.own}


zooquake.run(Lock)
