"""aiozk's DoubleBarrier, one object a round."""

import aiozk
import zooquake
from zooquake_aiozk import Sequential, wait


class Barrier(Sequential, zooquake.Recipe):
    def enter(self, round: int, members: int, deadline):
        self.recipe = self.zk.recipes.DoubleBarrier(f"/barrier/{round}", members)
        try:
            wait(self.recipe.enter(deadline.left()))
        except aiozk.exc.TimeoutError:
            raise zooquake.TimedOut("it did not enter") from None
        path = self.recipe.owned_paths[self.recipe.ZNODE_LABEL]
        czxid, session = self.created(path)
        return {"round": round, "path": path, "czxid": czxid, "session": session}

    def leave(self, round: int, deadline):
        path = self.recipe.owned_paths[self.recipe.ZNODE_LABEL]
        try:
            wait(self.recipe.leave(deadline.left()))
        except aiozk.exc.TimeoutError:
            raise zooquake.TimedOut("it did not leave") from None
        return {"round": round, "removed": self.forget(path)}


zooquake.run(Barrier)
