"""kazoo's ChildrenWatch, with a DataWatch for each name that it gives; what the callbacks are given is the view."""

import functools
import threading

import zooquake
from entry import Entry


class KazooWatches(Entry):
    parent = "/members"

    def __init__(self, zk, client, notify):
        super().__init__(zk, client, notify)
        self.changing, self.watched, self.entries = threading.Lock(), set(), {}

    def watch(self):
        self.zk.ChildrenWatch(self.parent, self.listed)

    def listed(self, names):
        for name in sorted(set(names) - self.watched):
            self.watched.add(name)
            self.zk.DataWatch(f"{self.parent}/{name}", functools.partial(self.changed, name))
        with self.changing:
            self.show(list(self.entries.values()))

    def changed(self, name, data, stat, event):
        with self.changing:
            if stat is None:
                self.entries.pop(name, None)
            else:
                path = f"{self.parent}/{name}"
                self.entries[name] = {"member": name, "path": path, "czxid": stat.czxid, "mzxid": stat.mzxid, "value": int(data)}
            self.show(list(self.entries.values()))


zooquake.run(KazooWatches)
