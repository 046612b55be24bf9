"""kazoo's Barrier, one object a round."""

import zooquake
from kazoo.recipe.barrier import Barrier


class Gate(zooquake.Recipe):
    def gate(self, round: int):
        return Barrier(self.zk, f"/gate/{round}")

    def raise_(self, round: int):
        self.gate(round).create()
        return {"round": round}

    def wait(self, round: int, deadline):
        if not self.gate(round).wait(deadline.left()):
            raise zooquake.TimedOut("it was not lifted")
        return {"round": round}

    def lift(self, round: int):
        self.gate(round).remove()
        return {"round": round}


zooquake.run(Gate)
