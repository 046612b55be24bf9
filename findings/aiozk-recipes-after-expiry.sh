#!/usr/bin/env bash
# aiozk 0.32.0 (PyPI), LeaderElection and Lock: `has_leadership` and `locked()` stay True after the session has expired, for ever, beside
# the leader and the holder that come after; the lock's own monitor sees the end of the session and only writes a line to the log. The
# client makes a new session by itself, so that nothing fails that would tell. Who waits as a candidate when its session expires is none
# any more and waits on: its `wait_for_leadership` does not return when the leader resigns and no other candidate is left.
# Seen: expired: has_leadership True, the other leads True; locked() True, the other holds it True
#       a candidate whose session expired: wait_for_leadership TimeoutError after the leader resigned, candidates left 0
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
pip_install aiozk==0.32.0
python3 -W ignore - "$port" <<'P'
import asyncio, logging, sys
from aiozk import ZKClient, exc
from proxy import Proxy

async def expire(proxy, client):
    """Ends the client's session; returns when it has made a new one."""
    old, asked = client.session.session_id, asyncio.create_task(client.exists("/"))
    await asyncio.get_running_loop().run_in_executor(None, proxy.expire)
    for _ in range(2000):
        if client.session.state == "connected" and client.session.session_id not in (None, old):
            await asyncio.wait([asked])
            return
        await asyncio.sleep(0.01)
    raise AssertionError("no new session within 20 s")

async def main():
    proxy = Proxy(int(sys.argv[1]))
    client, other = ZKClient(f"127.0.0.1:{proxy.port}", session_timeout=3), ZKClient(f"127.0.0.1:{sys.argv[1]}")
    await client.start(), await other.start()
    leader, lock = client.recipes.LeaderElection("/election"), client.recipes.Lock("/lock")
    await leader.volunteer()
    await leader.wait_for_leadership(5)
    await lock.acquire(5)
    await expire(proxy, client)
    next_leader, next_lock = other.recipes.LeaderElection("/election"), other.recipes.Lock("/lock")
    await next_leader.volunteer()
    await next_leader.wait_for_leadership(5)
    await next_lock.acquire(5)
    seen = leader.has_leadership, next_leader.has_leadership, lock.locked(), next_lock.locked()
    print("expired: has_leadership {}, the other leads {}; locked() {}, the other holds it {}".format(*seen))
    assert seen == (True, True, True, True), seen

    candidate = client.recipes.LeaderElection("/election")
    await candidate.volunteer()
    await expire(proxy, client)
    await next_leader.resign()
    try:
        answer = await candidate.wait_for_leadership(3)
    except exc.TimeoutError:
        answer = "TimeoutError"
    left = len(await other.get_children("/election"))
    print(f"a candidate whose session expired: wait_for_leadership {answer} after the leader resigned, candidates left {left}")
    assert (answer, left) == ("TimeoutError", 0), (answer, left)
    await client.close(), await other.close()

logging.disable()
asyncio.run(main())
P
