"""aiozk's Lease, a new object for each acquire. `obtain` does not wait: who gets none asks again."""

import datetime
import time

import zooquake
from zooquake_aiozk import Sequential, wait

LEASES = 2  # As `capacity` in zooquake.toml.
LASTS = datetime.timedelta(hours=1)
AGAIN_S = 0.05


class Lease(Sequential, zooquake.Grants):
    def acquire(self, deadline):
        self.recipe = self.zk.recipes.Lease("/semaphore", limit=LEASES)
        while not wait(self.recipe.obtain(LASTS)):
            if deadline.left() == 0:
                raise zooquake.TimedOut("no lease was obtained")
            time.sleep(AGAIN_S)
        path = self.recipe.owned_paths["lease"]
        self.created(path)
        return {"path": path}

    def release(self, held):
        wait(self.recipe.release())
        return self.forget(held["path"])


zooquake.run(Lease)
