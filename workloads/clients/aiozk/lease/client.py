"""aiozk's Lease, a new object for each acquire. `obtain` does not wait: who gets none asks again."""

import datetime
import time

import zooquake
from zooquake_aiozk import Aiozk, wait

LEASES = 2  # As `capacity` in zooquake.toml.
LASTS = datetime.timedelta(hours=1)
AGAIN_S = 0.05


class Lease(Aiozk, zooquake.Grants):
    lease = None

    def acquire(self, deadline):
        self.lease = self.zk.recipes.Lease("/semaphore", limit=LEASES)
        while not wait(self.lease.obtain(LASTS)):
            if deadline.left() == 0:
                raise zooquake.TimedOut("no lease was obtained")
            time.sleep(AGAIN_S)
        path = self.lease.owned_paths["lease"]
        self.created(path)
        return {"path": path}

    def release(self, held):
        wait(self.lease.release())
        return self.forget(held["path"])

    def znodes(self):
        obtained = {} if self.lease is None else dict.fromkeys(list(self.lease.owned_paths.values()), (None, None))
        return {**obtained, **self.own}


zooquake.run(Lease)
