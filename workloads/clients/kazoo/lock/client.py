"""kazoo's Lock, as its documentation has it: one object, acquired and released again and again."""

import zooquake
from kazoo.exceptions import NoNodeError


class Lock(zooquake.Grants):
    def __init__(self, zk, client, notify):
        super().__init__(zk, client, notify)
        self.kazoo = zk.Lock("/lock", client)

    def acquire(self, deadline):
        try:
            if not self.kazoo.acquire(timeout=deadline.left()):
                raise zooquake.TimedOut("it was not acquired")
            path = f"/lock/{self.kazoo.node}"
            self.created(path)
            return {"path": path}
        except NoNodeError:
            # Granted under a znode that is gone: given back, since nobody holds by it.
            self.kazoo.release()
            raise

    def release(self, held):
        czxid, _ = self.own.pop(held["path"], (None, None))
        return {"path": held["path"], "czxid": czxid} if self.kazoo.release() else None


zooquake.run(Lock)
