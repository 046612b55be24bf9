"""A queue of ephemeral znodes that does itself all that the kit does otherwise. TWIN names what it does wrong, or is `correct`."""

import os
import time

import zooquake
from kazoo.exceptions import NoNodeError

PARENT, TWIN, BEGUN = "/lock", os.environ["TWIN"], time.monotonic()


class Queue(zooquake.Grants):
    mine = None

    @classmethod
    def connect(cls, hosts, timeout):
        return super().connect(hosts, timeout)

    def acquire(self, deadline):
        path, czxid = self.join(PARENT)
        self.mine = (path, czxid, self.session())
        try:
            while ahead := self.ahead(path):
                self.wait_gone(ahead[-1], deadline)
        except Exception:
            self.mine = None
            raise
        return {"path": path, "token": czxid}

    def release(self, held):
        self.mine = None
        if TWIN == "thief" and self.client == "c1":
            queue = [f"{PARENT}/{name}" for name in self.children(PARENT)]
            for behind in queue[queue.index(held["path"]) + 1 :] if held["path"] in queue else []:
                stat = self.exists(behind)
                self.zk.delete(behind)
                self.remove(held["path"])
                return {"path": behind, "czxid": stat.czxid}
        if TWIN == "thief" and self.client == "c2" and time.monotonic() - BEGUN > 5:
            raise RuntimeError("the lock's own mistake")
        return self.remove(held["path"])

    def lost(self, held, state):
        if TWIN == "deaf":
            return None
        if state != "connected":
            return state
        return None if held["session"] == self.session() else "expired"

    def znodes(self):
        mine = self.mine
        return {mine[0]: mine[1:]} if mine else {}

    def created(self, path):
        mine = self.mine
        if mine is None:
            raise NoNodeError(path)
        return mine[1:]


zooquake.run(Queue)
