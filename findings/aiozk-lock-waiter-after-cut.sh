#!/usr/bin/env bash
# aiozk 0.32.0 (PyPI), Lock, SharedLock, LeaderElection, Barrier: who waits for a znode to go watches it with `exists`, and after a
# reconnect the client sets only those watches again that wait for a creation, for new data or for children. The wait for a deletion is
# not among them. So after a cut in which the session lives on, a waiter is not woken when its predecessor goes, and waits without
# a timeout for ever, first in the line.
# Seen: no cut: acquired 0.0 s after the release
#       a cut and a reconnect in the same session while it waits: not acquired 3 s after the release, though first in the line
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
pip_install aiozk==0.32.0
python3 -W ignore - "$port" <<'P'
import asyncio, logging, sys, time
from aiozk import ZKClient
from proxy import Proxy

async def until(call):
    for _ in range(1000):
        if call():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("not within 10 s")

async def acquired_after(path, cut):
    """Seconds from the release of the holder until the waiter has the lock; None if it has not within 3 s."""
    holder, waiter = other.recipes.Lock(path), client.recipes.Lock(path)
    await holder.acquire()
    waiting = asyncio.create_task(waiter.acquire())
    await until(lambda: ("exists", holder.owned_paths["lock"]) in proxy.requests)
    if cut:
        session = client.session.session_id
        await client.exists("/")
        proxy.cut(reset=True)
        await asyncio.wait([asyncio.ensure_future(client.exists("/"))])  # the request at which the client notices
        assert client.session.session_id == session
    await holder.release()
    released = time.monotonic()
    await asyncio.wait([waiting], timeout=3)
    line = await other.get_children(path)
    assert len(line) == 1, line
    done = waiting.done()
    waiting.cancel()
    return time.monotonic() - released if done else None

async def main():
    global proxy, client, other
    proxy = Proxy(int(sys.argv[1]))
    client, other = ZKClient(f"127.0.0.1:{proxy.port}", session_timeout=6), ZKClient(f"127.0.0.1:{sys.argv[1]}")
    await client.start(), await other.start()
    after = await acquired_after("/whole", cut=False)
    print(f"no cut: acquired {after:.1f} s after the release")
    assert after < 1, after
    after = await acquired_after("/cut", cut=True)
    assert after is None, after
    print("a cut and a reconnect in the same session while it waits: not acquired 3 s after the release, though first in the line")
    await client.close(), await other.close()

logging.disable()
asyncio.run(main())
P
