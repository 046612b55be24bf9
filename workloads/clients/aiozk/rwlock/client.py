"""aiozk's SharedLock, a new object for each acquire."""

import zooquake
from one_lock import OneLock


class ReadWriteLock(OneLock):
    def new_lock(self, mode):
        shared = self.zk.recipes.SharedLock("/rwlock")
        return shared.reader_lock if mode == "shared" else shared.writer_lock


zooquake.run(ReadWriteLock)
