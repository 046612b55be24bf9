"""Each contender creates a znode of its own; the first in the queue holds, each other one waits for the one before it to go."""

import threading
import uuid

import zooquake

PARENT = "@PARENT@"


class Queue(zooquake.Grants):
    def acquire(self, deadline):
        prefix = uuid.uuid4().hex + "-"
        try:
            path = self.zk.retry(self.join, prefix)
            token, _ = self.created(path)
            while True:
                queue = self.queue()
                place = queue.index(path)  # A ValueError if the znode went with its session.
                if place == 0:
                    return {"path": path, "token": token}
                gone = threading.Event()
                if self.zk.retry(self.zk.exists, queue[place - 1], watch=lambda event: gone.set()):
                    deadline.wait(gone)
        except Exception:
            for left in [path for path in self.queue() if prefix in path]:
                self.remove(left)
            raise

    def release(self, held):
        return self.remove(held["path"])

    def join(self, prefix):
        """Joins the queue once, though an earlier try may have done so without hearing of it."""
        mine = [path for path in self.queue() if prefix in path]
        return mine[0] if mine else self.zk.create(f"{PARENT}/{prefix}", ephemeral=True, sequence=True)

    def queue(self):
        names = self.zk.retry(self.zk.get_children, PARENT)
        return [f"{PARENT}/{name}" for name in sorted(names, key=lambda name: name[-10:])]


zooquake.run(Queue)
