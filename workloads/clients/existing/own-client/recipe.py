"""A lock that makes its own client: the kit works with that one."""

import zooquake
from batch_lock import BatchLocks


class Adapter(zooquake.Grants):
    @classmethod
    def connect(cls, hosts, timeout):
        cls.locks = BatchLocks(hosts, timeout)
        return cls.locks.zk

    def acquire(self, deadline):
        self.holding = self.locks.locked("/batch/locks", timeout=deadline.left())
        path = self.holding.__enter__()
        self.created(path)
        return {"path": path}

    def release(self, held):
        self.holding.__exit__(None, None, None)
        return self.forget(held["path"])

    def znodes(self):
        """Also the one that it waits with."""
        waits = self.locks.lock is not None and self.locks.lock.node is not None
        return {**({f"/batch/locks/{self.locks.lock.node}": (None, None)} if waits else {}), **self.own}


zooquake.run(Adapter)
