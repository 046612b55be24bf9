"""A read, then a write of that version; a write of unknown outcome is answered as unknown and not repeated: no id is given twice."""

import zooquake
from kazoo.exceptions import BadVersionError

COUNTER = "@PARENT@"


class Counter(zooquake.Recipe):
    def increment(self):
        with self.one_session() as where:
            while True:
                value, version = self.look()
                try:
                    written = self.zk.set(COUNTER, str(value + 1).encode(), version=version.version)
                    return {"id": value + 1, "mzxid": written.mzxid, **where}
                except BadVersionError:
                    continue  # Another client was faster.

    def get(self):
        with self.one_session() as where:
            value, version = self.look()
            return {"value": value, "mzxid": version.mzxid, **where}

    def look(self):
        data, version = self.zk.retry(self.zk.get, COUNTER)
        return int(data or 0), version


zooquake.run(Counter)
