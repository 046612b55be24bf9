"""kazoo's ReadLock and WriteLock, a new object for each acquire."""

import zooquake
from one_lock import OneLock


class ReadWriteLock(OneLock):
    parent = "/rwlock"

    def new_lock(self, mode):
        kind = self.zk.ReadLock if mode == "shared" else self.zk.WriteLock
        return kind(self.parent, self.client)


zooquake.run(ReadWriteLock)
