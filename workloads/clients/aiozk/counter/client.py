"""aiozk's Counter, one object for each operation."""

import zooquake
from zooquake_aiozk import Aiozk, wait

COUNTER = "/counter"


class Counter(Aiozk, zooquake.Recipe):
    def increment(self):
        with self.one_session() as where:
            return {"id": wait(self.incremented()), "mzxid": None, **where}

    async def incremented(self):
        counter = await self.started()
        await counter.incr()
        return counter.value

    def get(self):
        async def value():
            return await (await self.started()).get_value()

        with self.one_session() as where:
            return {"value": wait(value()), "mzxid": None, **where}

    async def started(self):
        """Its `start` makes the znode, unless it is there."""
        counter = self.zk.recipes.Counter(COUNTER)
        await counter.start()
        return counter


zooquake.run(Counter)
