"""Readers and writers join one queue; a writer waits for all before it, a reader for the writers before it."""

import zooquake

PARENT = "@PARENT@"


class ReadWriteLock(zooquake.Grants):
    def acquire(self, mode: str, deadline):
        path, czxid = self.join(PARENT, "read-" if mode == "shared" else "write-")
        while ahead := [other for other in self.ahead(path) if mode != "shared" or "-write-" in other]:
            self.wait_gone(ahead[-1], deadline)
        # Each writer's is higher than that of all before it: the resource refuses a lower one.
        return {"path": path, "token": czxid}


zooquake.run(ReadWriteLock)
