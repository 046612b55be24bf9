"""Items are sequential znodes; a consumer reads the first one and deletes it, and the delete is the delivery: at most once."""

import zooquake
from kazoo.exceptions import NoNodeError

PARENT = "@PARENT@"


class Queue(zooquake.Recipe):
    def enqueue(self, item: int):
        path = self.zk.create(f"{PARENT}/item-", str(item).encode(), sequence=True)
        return {"item": item, "path": path, "czxid": None}

    def dequeue(self):
        for name in sorted(self.zk.get_children(PARENT)):
            try:
                data, _ = self.zk.get(f"{PARENT}/{name}")
                self.taking(int(data))
                self.zk.delete(f"{PARENT}/{name}")
                return {"item": int(data)}
            except NoNodeError:
                continue  # Another consumer has it.
        return {"item": None}


zooquake.run(Queue)
