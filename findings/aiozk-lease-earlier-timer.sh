#!/usr/bin/env bash
# aiozk 0.32.0 (PyPI), Lease: `obtain(duration)` starts a timer that gives the lease back, and `release()` does not stop it. A lease
# that is released early and obtained again is given back by the timer of the first one, before its own duration is over, and another
# client obtains it.
# Seen: obtained for 3 s; another client obtained it after 1.5 s of them (the timer of a lease that was released before)
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
pip_install aiozk==0.32.0
python3 -W ignore - "$port" <<'P'
import asyncio, sys, time
from datetime import timedelta
from aiozk import ZKClient

async def main():
    clients = [ZKClient(f"127.0.0.1:{sys.argv[1]}") for _ in range(2)]
    for client in clients:
        await client.start()
        await client.ensure_path("/lease")
    one, other = (client.recipes.Lease("/lease") for client in clients)
    assert await one.obtain(timedelta(seconds=3))
    await asyncio.sleep(1.5)
    await one.release()
    began = time.monotonic()
    assert await one.obtain(timedelta(seconds=3))
    assert not await other.obtain(timedelta(seconds=3)), "the limit is one"
    while not await other.obtain(timedelta(seconds=3)):
        await asyncio.sleep(0.05)
    held = time.monotonic() - began
    print(f"obtained for 3 s; another client obtained it after {held:.1f} s of them (the timer of a lease that was released before)")
    assert 1.3 < held < 2.0, held
    for client in clients:
        await client.close()

asyncio.run(main())
P
