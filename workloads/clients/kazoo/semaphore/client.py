"""kazoo's Semaphore, a new object for each acquire."""

import zooquake

LEASES = 2  # As `capacity` in zooquake.toml.


class Semaphore(zooquake.Grants):
    kazoo = None

    def acquire(self, deadline):
        self.kazoo = self.zk.Semaphore("/semaphore", self.client, max_leases=LEASES)
        path = self.kazoo.create_path
        # It may be there before `acquire` returns.
        self.own[path] = (None, None)
        if not self.kazoo.acquire(timeout=deadline.left()):
            raise zooquake.TimedOut("no lease was acquired")
        self.created(path)
        return {"path": path}

    def release(self, held):
        czxid, _ = self.own.get(held["path"], (None, None))
        return {"path": held["path"], "czxid": czxid} if self.kazoo.release() else None


zooquake.run(Semaphore)
