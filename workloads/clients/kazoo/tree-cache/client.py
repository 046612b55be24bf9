"""kazoo's TreeCache of a group's znode: what it has after each of its events is the view."""

import zooquake
from entry import Entry
from kazoo.recipe.cache import TreeCache


class KazooTreeCache(Entry):
    parent, cache = "/members", None

    def watch(self):
        self.cache = TreeCache(self.zk, self.parent)
        self.cache.listen(self.changed)
        self.cache.start()

    def changed(self, _):
        entries = []
        for name in sorted(self.cache.get_children(self.parent, frozenset())):
            found = self.cache.get_data(f"{self.parent}/{name}")
            # A name that was listed has no data until these are read.
            if found is not None:
                stat = found.stat
                entry = {"path": found.path, "czxid": stat.czxid, "mzxid": stat.mzxid, "value": int(found.data)}
                entries.append({"member": name, **entry})
        self.show(entries)


zooquake.run(KazooTreeCache)
