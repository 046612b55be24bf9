"""aiozk's DoubleBarrier, one object a round."""

import aiozk
import zooquake
from zooquake_aiozk import Aiozk, wait


class Barrier(Aiozk, zooquake.Recipe):
    barrier = None

    def enter(self, round: int, members: int, deadline):
        self.barrier = self.zk.recipes.DoubleBarrier(f"/barrier/{round}", members)
        try:
            wait(self.barrier.enter(deadline.left()))
        except aiozk.exc.TimeoutError:
            raise zooquake.TimedOut("it did not enter") from None
        path = self.barrier.owned_paths[self.barrier.ZNODE_LABEL]
        czxid, session = self.created(path)
        return {"round": round, "path": path, "czxid": czxid, "session": session}

    def leave(self, round: int, deadline):
        path = self.barrier.owned_paths[self.barrier.ZNODE_LABEL]
        try:
            wait(self.barrier.leave(deadline.left()))
        except aiozk.exc.TimeoutError:
            raise zooquake.TimedOut("it did not leave") from None
        return {"round": round, "removed": self.forget(path)}

    def znodes(self):
        """Also the one that it waits with."""
        waits = {} if self.barrier is None else dict.fromkeys(list(self.barrier.owned_paths.values()), (None, None))
        return {**waits, **self.own}


zooquake.run(Barrier)
