"""aiozk's Lease for a few seconds, a new object for each acquire. Its znode is ephemeral, and a timer of the object deletes it at the end."""

import datetime
import time

import zooquake
from zooquake_aiozk import Sequential, wait

LEASES = 2  # As `capacity` in zooquake.toml.
LASTS = datetime.timedelta(seconds=3)  # As `lease_ms` there.


class Lease(Sequential, zooquake.Grants):
    def acquire(self):
        until = time.monotonic() + LASTS.total_seconds()
        self.recipe = self.zk.recipes.Lease("/semaphore", limit=LEASES)
        if not wait(self.recipe.obtain(LASTS)):
            raise zooquake.Failed("it was not obtained")
        path = self.recipe.owned_paths["lease"]
        self.created(path)
        return {"path": path, "until": until}

    def release(self, held):
        wait(self.recipe.release())
        return self.forget(held["path"])


zooquake.run(Lease)
