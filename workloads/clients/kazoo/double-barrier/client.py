"""kazoo's DoubleBarrier, one object a round."""

import zooquake
from kazoo.recipe.barrier import DoubleBarrier


class Deletes:
    """A KazooClient that remembers what it was heard to delete."""

    def __init__(self, zk):
        self.zk, self.deleted = zk, set()

    def __getattr__(self, name):
        return getattr(self.zk, name)

    def delete(self, path, *rest):
        self.zk.delete(path, *rest)
        self.deleted.add(path)


class Barrier(zooquake.Recipe):
    def enter(self, round: int, members: int):
        self.client_of_round = Deletes(self.zk)
        self.kazoo = DoubleBarrier(self.client_of_round, f"/barrier/{round}", members, self.client)
        path = self.kazoo.create_path
        self.own[path] = (None, None)
        try:
            self.kazoo.enter()
            if not self.kazoo.participating:
                raise RuntimeError("it did not enter")
            czxid, session = self.created(path)
        except Exception:
            self.own.pop(path, None)
            raise
        return {"round": round, "path": path, "czxid": czxid, "session": session}

    def leave(self, round: int):
        path = self.kazoo.create_path
        self.kazoo.leave()
        czxid, _ = self.own.pop(path, (None, None))
        removed = {"path": path, "czxid": czxid} if path in self.client_of_round.deleted else None
        return {"round": round, "removed": removed}


zooquake.run(Barrier)
