"""aiozk's Barrier, one object a round."""

import contextlib

import aiozk
import zooquake
from zooquake_aiozk import Aiozk, wait


class Gate(Aiozk, zooquake.Recipe):
    def gate(self, round: int):
        return self.zk.recipes.Barrier(f"/gate/{round}")

    def raise_(self, round: int):
        # An earlier try has made it.
        with contextlib.suppress(aiozk.exc.NodeExists):
            wait(self.gate(round).create())
        return {"round": round}

    def wait(self, round: int, deadline):
        try:
            wait(self.gate(round).wait(deadline.left()))
        except aiozk.exc.TimeoutError:
            raise zooquake.TimedOut("it was not lifted") from None
        return {"round": round}

    def lift(self, round: int):
        wait(self.gate(round).lift())
        return {"round": round}


zooquake.run(Gate)
