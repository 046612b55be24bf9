"""aiozk's Lock, a new object for each acquire."""

import zooquake
from one_lock import OneLock


class Lock(OneLock):
    def new_lock(self, _):
        return self.zk.recipes.Lock("/lock")


zooquake.run(Lock)
