#!/usr/bin/env bash
# aiozk 0.32.0 (PyPI), RetryPolicy: `n_times(n)`, documented as n retries, makes none for 1 nor for 2, and n - 2 from there on;
# `until_elapsed(t)` does not go on trying: it waits for the whole time, tries once more and gives up. `exponential_backoff` begins at
# 4 s; the client itself reconnects by it, whatever policy was given. A server that refuses for half a second is tried again after 4 s,
# when a session with a timeout of 3 s has expired.
# Seen: reply always lost, number of times sent: once 1, n_times(2) 1, n_times(3) 2, n_times(4) 3, until_elapsed(2) 2 in 2.0 s
#       refused for 0.5 s at a session timeout of 3 s: connected 4.0 s after the cut, in a new session
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
pip_install aiozk==0.32.0
python3 -W ignore - "$port" <<'P'
import asyncio, logging, sys, time
from aiozk import ZKClient, RetryPolicy, exc
from proxy import Proxy

proxy = Proxy(int(sys.argv[1]))

async def sent(policy):
    """How often a request is sent whose reply is lost each time, and the seconds until the caller is told."""
    client = ZKClient(f"127.0.0.1:{proxy.port}", retry_policy=policy)
    await client.start()
    await client.exists("/")
    for _ in range(8):
        proxy.lose_reply("getData", "/", reset=True)
    before, began = len(proxy.requests), time.monotonic()
    try:
        await client.get("/")
        raise SystemExit("answered")
    except exc.FailedRetry:
        took = time.monotonic() - began
    proxy.hooks.clear()
    number = proxy.requests[before:].count(("getData", "/"))
    await client.session.state.wait_for("connected")
    await client.close()
    return number, took

async def main():
    policies = {"once": RetryPolicy.once(), **{f"n_times({n})": RetryPolicy.n_times(n) for n in (2, 3, 4)}, "until_elapsed(2)": RetryPolicy.until_elapsed(2)}
    seen = {name: await sent(policy) for name, policy in policies.items()}
    took = seen["until_elapsed(2)"][1]
    print("reply always lost, number of times sent: " + ", ".join(f"{name} {number}" for name, (number, _) in seen.items()) + f" in {took:.1f} s")
    assert [number for number, _ in seen.values()] == [1, 1, 2, 3, 2] and 1.9 < took < 3, seen

    client = ZKClient(f"127.0.0.1:{proxy.port}", session_timeout=3)
    await client.start()
    await client.exists("/")
    session, began = client.session.session_id, time.monotonic()
    proxy.refuse(reset=True)
    asked = asyncio.create_task(client.exists("/"))
    await asyncio.sleep(0.5)
    proxy.accept()
    assert await asked
    after = time.monotonic() - began
    new = client.session.session_id != session
    print(f"refused for 0.5 s at a session timeout of 3 s: connected {after:.1f} s after the cut, in {'a new' if new else 'the same'} session")
    assert new and 3.5 < after < 6, after
    await client.close()

logging.disable()
asyncio.run(main())
P
