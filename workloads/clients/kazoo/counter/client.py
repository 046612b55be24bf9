"""kazoo's Counter."""

import zooquake

COUNTER = "/counter"


class Counter(zooquake.Recipe):
    def increment(self):
        with self.one_session() as where:
            counter = self.zk.Counter(COUNTER)
            counter += 1
            return {"id": counter.post_value, "mzxid": None, **where}

    def get(self):
        with self.one_session() as where:
            return {"value": self.zk.Counter(COUNTER).value, "mzxid": None, **where}


zooquake.run(Counter)
