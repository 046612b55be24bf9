"""Each contender joins a queue of ephemeral znodes; the first of them, as many as there are leases, hold."""

import threading

import zooquake

PARENT = "@PARENT@"
LEASES = 2  # As `capacity` in zooquake.toml.


class Semaphore(zooquake.Grants):
    def acquire(self, deadline):
        path, _ = self.join(PARENT)
        while True:
            changed = threading.Event()
            if len(self.ahead(path, changed)) < LEASES:
                return {"path": path}
            deadline.wait(changed)


zooquake.run(Semaphore)
