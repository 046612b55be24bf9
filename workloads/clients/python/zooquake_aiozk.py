"""Recipes on aiozk 0.32 in the kit of zooquake.py: `class MyLock(Aiozk, zooquake.Grants)`. Operations run in threads of the kit, aiozk in a
loop of its own: `wait` runs a coroutine there."""

import asyncio
import contextlib
import threading

import aiozk
from aiozk.protocol import ExistsRequest
from aiozk.states import States

import zooquake

LOOP = asyncio.new_event_loop()
threading.Thread(target=LOOP.run_forever, daemon=True).start()
TOLD = {States.CONNECTED: "connected", States.READ_ONLY: "connected", States.SUSPENDED: "disconnected", States.LOST: "expired"}


def wait(coroutine, timeout=None):
    """The result of a coroutine, which is cancelled after a time in seconds: TimedOut."""
    future = asyncio.run_coroutine_threadsafe(coroutine, LOOP)
    try:
        return future.result(timeout)
    except TimeoutError:
        if future.cancel():
            raise zooquake.TimedOut("timed out") from None
        raise


class Aiozk:
    """What the kit needs of a client: `zk` is an aiozk.ZKClient."""

    @classmethod
    def connect(cls, hosts, timeout):
        async def make():
            return aiozk.ZKClient(hosts, session_timeout=timeout)

        return wait(make())

    def follow(self, changed):
        session = self.zk.session
        transition_to = session.state.transition_to

        def follow_transition(state):
            transition_to(state)
            changed(TOLD[state], self.session() if state == States.LOST else zooquake.hex_id(session.session_id))

        session.state.transition_to = follow_transition
        asyncio.run_coroutine_threadsafe(self.zk.start(), LOOP)

    def scratch_write(self, timeout=None):
        path = f"{zooquake.SCRATCH}/{self.client}"

        async def write():
            try:
                return await self.zk.set(path, b"", -1)
            except aiozk.exc.NoNode:
                with contextlib.suppress(aiozk.exc.NodeExists):
                    await self.zk.create(path, b"")
                return await self.zk.set(path, b"", -1)

        return wait(write(), timeout).last_modified_zxid

    def stat_of(self, path, timeout=None):
        async def ask():
            with contextlib.suppress(aiozk.exc.NoNode):
                return (await self.zk.send(ExistsRequest(path=path, watch=False))).stat

        stat = wait(ask(), timeout)
        return stat and (stat.created_zxid, zooquake.hex_id(stat.ephemeral_owner))

    def in_order(self, work):
        LOOP.call_soon_threadsafe(work)

    def remove(self, path):
        czxid, _ = self.own.get(path, (None, None))
        try:
            wait(self.zk.delete(path))
        except aiozk.exc.NoNode:
            return None
        finally:
            self.own.pop(path, None)
        return {"path": path, "czxid": czxid}


class Sequential(Aiozk):
    """A recipe whose object, `recipe`, keeps the paths of the znodes that it has made: with these it holds or waits."""

    recipe = None

    def znodes(self):
        made = {} if self.recipe is None else dict.fromkeys(list(self.recipe.owned_paths.values()), (None, None))
        return {**made, **self.own}
