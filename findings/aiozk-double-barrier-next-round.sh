#!/usr/bin/env bash
# aiozk 0.32.0 (PyPI), DoubleBarrier: the last to leave deletes its own znode, which ends the others' `leave`, and then the znode that says
# that the barrier is open. Who enters again in between finds it open and passes alone, without any fault. (In the script the second
# delete is held back for the moment in which the other member enters again.)
# Seen: two members entered and left; one enters the next round: passed in 0.0 s, members inside: 1 of 2
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
pip_install aiozk==0.32.0
python3 -W ignore - "$port" <<'P'
import asyncio, logging, sys, threading, time
from aiozk import ZKClient
from proxy import Proxy

async def main():
    proxy = Proxy(int(sys.argv[1]))
    slow, fast = ZKClient(f"127.0.0.1:{proxy.port}"), ZKClient(f"127.0.0.1:{sys.argv[1]}")
    await slow.start(), await fast.start()
    await fast.ensure_path("/barrier")
    last, first = (client.recipes.DoubleBarrier("/barrier", 2) for client in (slow, fast))
    entering = asyncio.create_task(last.enter(5))  # the first znode: who has it leaves last
    while not await fast.get_children("/barrier"):
        await asyncio.sleep(0.01)
    await asyncio.gather(entering, first.enter(5))
    go_on = threading.Event()
    held = proxy.before("delete", lambda: go_on.wait(10), "/barrier/sentinel")
    leaving = asyncio.create_task(last.leave(5))
    await asyncio.sleep(0.2)
    await first.leave(5)
    began = time.monotonic()
    await first.enter(5)
    took, inside = time.monotonic() - began, [name for name in await fast.get_children("/barrier") if name != "sentinel"]
    go_on.set()
    await leaving
    assert held.wait(5)
    print(f"two members entered and left; one enters the next round: passed in {took:.1f} s, members inside: {len(inside)} of 2")
    assert took < 1 and len(inside) == 1, (took, inside)
    await slow.close(), await fast.close()

logging.disable()
asyncio.run(main())
P
