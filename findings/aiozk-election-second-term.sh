#!/usr/bin/env bash
# aiozk 0.32.0 (PyPI), LeaderElection: an object that has been elected once and has resigned is told at its next candidacy that it
# leads, at once and without any fault, while another client leads: the future that `wait_for_leadership` waits for is the one that
# the first term has resolved. `has_leadership` of the same object is False then. With an object for each candidacy it waits.
# Seen: second term with one object: returned in 0.00 s, has_leadership False, the other leads True
#       second term with a new object: TimeoutError
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
pip_install aiozk==0.32.0
python3 - "$port" <<'P'
import asyncio, sys, time
from aiozk import ZKClient, exc

async def candidacy(first, other, second):
    """The first leads after it has waited, and resigns; the other leads then; what the next candidacy of the second answers."""
    await other.volunteer()
    await other.wait_for_leadership(timeout=5)
    await first.volunteer()
    waiting = asyncio.create_task(first.wait_for_leadership(timeout=10))
    await asyncio.sleep(0.3)
    await other.resign()
    await waiting
    assert first.has_leadership
    await first.resign()
    again = type(other)(other.base_path)
    again.set_client(other.client)
    await again.volunteer()
    await again.wait_for_leadership(timeout=5)
    await second.volunteer()
    began = time.monotonic()
    try:
        await second.wait_for_leadership(timeout=2)
        return f"returned in {time.monotonic() - began:.2f} s, has_leadership {second.has_leadership}, the other leads {again.has_leadership}"
    except exc.TimeoutError:
        return "TimeoutError"

async def main():
    clients = [ZKClient(f"127.0.0.1:{sys.argv[1]}") for _ in range(2)]
    for client in clients:
        await client.start()
    one, other = clients
    same = one.recipes.LeaderElection("/same")
    seen = await candidacy(same, other.recipes.LeaderElection("/same"), same)
    print("second term with one object:", seen)
    assert seen.startswith("returned in 0.0") and seen.endswith("has_leadership False, the other leads True"), seen
    seen = await candidacy(one.recipes.LeaderElection("/new"), other.recipes.LeaderElection("/new"), one.recipes.LeaderElection("/new"))
    print("second term with a new object:", seen)
    assert seen == "TimeoutError", seen
    for client in clients:
        await client.close()

asyncio.run(main())
P
