"""kazoo's Lock, as its documentation has it, but with a new object for each acquire: one whose release has failed never acquires again."""

import zooquake
from one_lock import OneLock


class Lock(OneLock):
    parent = "/lock"

    def new_lock(self, _):
        return self.zk.Lock(self.parent, self.client)


zooquake.run(Lock)
