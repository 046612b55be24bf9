"""kazoo's Queue. What it reads before a delete is named before the delete, to distinguish an unknown outcome from a loss."""

import zooquake
from kazoo.recipe.queue import Queue


class Named:
    """A KazooClient that reports the item that is about to be deleted."""

    def __init__(self, recipe):
        self.recipe, self.item = recipe, None

    def __getattr__(self, name):
        return getattr(self.recipe.zk, name)

    def get(self, path, *rest):
        data, stat = self.recipe.zk.get(path, *rest)
        self.item = int(data)
        return data, stat

    def delete(self, path, *rest):
        self.recipe.taking(self.item)
        return self.recipe.zk.delete(path, *rest)


class KazooQueue(zooquake.Recipe):
    def __init__(self, zk, client, notify):
        super().__init__(zk, client, notify)
        self.kazoo = Queue(Named(self), "/queue")

    def enqueue(self, item: int):
        self.kazoo.put(str(item).encode())
        return {"item": item, "path": None, "czxid": None}

    def dequeue(self):
        data = self.kazoo.get()
        return {"item": None if data is None else int(data)}


zooquake.run(KazooQueue)
