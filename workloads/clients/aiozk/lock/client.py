"""aiozk's Lock, a new object for each acquire."""

import aiozk
import zooquake
from zooquake_aiozk import Aiozk, wait


class Lock(Aiozk, zooquake.Grants):
    lock, label = None, "lock"

    def acquire(self, deadline):
        self.lock = self.zk.recipes.Lock("/lock")
        try:
            wait(self.lock.acquire(deadline.left()))
        except aiozk.exc.TimeoutError:
            raise zooquake.TimedOut("it was not acquired") from None
        if not self.lock.locked():
            raise zooquake.TimedOut("it was not acquired")
        path = self.lock.owned_paths[self.label]
        self.created(path)
        return {"path": path}

    def release(self, held):
        wait(self.lock.release())
        return self.forget(held["path"])

    def znodes(self):
        """Also the one that it waits with."""
        waits = {} if self.lock is None else dict.fromkeys(list(self.lock.owned_paths.values()), (None, None))
        return {**waits, **self.own}


zooquake.run(Lock)
