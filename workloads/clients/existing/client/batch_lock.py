"""The lock of the batch jobs: a queue of ephemeral znodes below one parent."""

import threading
import time

from kazoo.exceptions import NoNodeError


class BatchLock:
    """Works with a client that somebody else has made and started."""

    def __init__(self, zk, parent):
        self.zk, self.parent, self.path = zk, parent, None

    def acquire(self, timeout=None):
        """Whether it was acquired in so many seconds; None waits without end."""
        until = None if timeout is None else time.monotonic() + timeout
        self.zk.ensure_path(self.parent)
        self.path = self.zk.create(f"{self.parent}/job-", ephemeral=True, sequence=True)
        while True:
            queue = sorted(self.zk.get_children(self.parent))
            place = queue.index(self.path.rsplit("/", 1)[1])
            if place == 0:
                return True
            gone = threading.Event()
            if self.zk.exists(f"{self.parent}/{queue[place - 1]}", watch=lambda _: gone.set()):
                left = None if until is None else max(0, until - time.monotonic())
                if not gone.wait(left):
                    self.release()
                    return False

    def release(self):
        """Whether there was a znode that it removed."""
        path, self.path = self.path, None
        try:
            self.zk.delete(path)
            return True
        except NoNodeError:
            return False
