"""The lock of the batch jobs, which makes a client of its own: one for all that a process locks."""

import contextlib

from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout


class BatchLocks:
    def __init__(self, hosts, timeout):
        self.zk = KazooClient(hosts=hosts, timeout=timeout)
        self.zk.start()
        self.lock = None

    @contextlib.contextmanager
    def locked(self, parent, timeout=None):
        """Holds the lock in the `with`, to which it gives the path of its znode; LockTimeout after so many seconds."""
        self.lock = lock = self.zk.Lock(parent, "batch")
        if not lock.acquire(timeout=timeout):
            raise LockTimeout(parent)
        try:
            yield f"{parent}/{lock.node}"
        finally:
            lock.release()
