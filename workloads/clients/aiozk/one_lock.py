"""A lock object of aiozk's on trial: a new one for each acquire."""

import aiozk
import zooquake
from zooquake_aiozk import Sequential, wait


class OneLock(Sequential, zooquake.Grants):
    """A subclass has `new_lock(mode)`."""

    def acquire(self, mode: str, deadline):
        self.recipe = self.new_lock(mode)
        try:
            wait(self.recipe.acquire(deadline.left()))
        except aiozk.exc.TimeoutError:
            raise zooquake.TimedOut("it was not acquired") from None
        if not self.recipe.locked():
            raise zooquake.TimedOut("it was not acquired")
        path = self.recipe.owned_paths[self.recipe.znode_label]
        self.created(path)
        return {"path": path}

    def release(self, held):
        wait(self.recipe.release())
        return self.forget(held["path"])
