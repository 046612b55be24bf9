"""Each contender joins a queue of ephemeral znodes; the first holds, each other one waits for the one before it to go."""

import zooquake

PARENT = "@PARENT@"


class Queue(zooquake.Grants):
    def acquire(self, deadline):
        path, czxid = self.join(PARENT)
        while ahead := self.ahead(path):
            self.wait_gone(ahead[-1], deadline)
        # Each holder's is higher than that of all before it: the resource refuses a lower one.
        return {"path": path, "token": czxid}


zooquake.run(Queue)
