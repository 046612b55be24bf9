"""kazoo's LockingQueue. The entry that is about to be locked is read before and named, to distinguish an unknown outcome from a loss."""

import zooquake
from kazoo.exceptions import NoNodeError
from kazoo.recipe.queue import LockingQueue

QUEUE = "/queue"

# A `dequeue` does not wait for an item to come, and `get` reports an empty queue only by its timeout, in seconds.
PATIENCE = 1


class Named:
    """A KazooClient that reports the item of the entry that is about to be locked."""

    def __init__(self, recipe):
        self.recipe = recipe

    def __getattr__(self, name):
        return getattr(self.recipe.zk, name)

    def create(self, path, value=b"", **options):
        if options.get("ephemeral"):
            entry = path.rpartition("/")[2]
            try:
                data, _ = self.recipe.zk.get(f"{QUEUE}/entries/{entry}")
                self.recipe.taking(int(data))
            except NoNodeError:
                pass  # It was consumed meanwhile, which the queue finds out itself.
        return self.recipe.zk.create(path, value, **options)


class KazooLockingQueue(zooquake.Recipe):
    cannot = ("czxid",)

    def __init__(self, zk, client, notify):
        super().__init__(zk, client, notify)
        self.kazoo = LockingQueue(Named(self), QUEUE)

    def enqueue(self, item: int):
        self.kazoo.put(str(item).encode())
        return {"item": item, "path": None, "czxid": None}

    def dequeue(self):
        held = self.kazoo.processing_element
        if held is not None:
            self.taking(int(held[1]))  # What was got and not consumed is given again, without a request.
        data = self.kazoo.get(timeout=PATIENCE)
        return {"item": None if data is None else int(data)}

    def acknowledge(self, item: int):
        if not self.kazoo.consume():
            raise zooquake.Failed(zooquake.NOT_HELD)
        return {"item": item}


zooquake.run(KazooLockingQueue)
