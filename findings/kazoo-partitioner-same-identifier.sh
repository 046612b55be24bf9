#!/usr/bin/env bash
# kazoo 2.11.0 (PyPI), SetPartitioner: a member is known by its identifier, "hostname + process id" unless one is given, and nobody looks whether
# two have the same: two partitioners in one process, or in containers with one hostname, where every process is the first. Each is counted, and
# each takes the share of the first of that name (`_partitioner`: `workers.index(identifier)`). So both want the same items: one member
# acquires its half, the other waits for the locks of the first for ever, ALLOCATING, and the other half of the set belongs to nobody. With
# identifiers of their own both acquire. The docstring does not say that they have to differ.
# Seen: two members of one process: states acquired, allocating; items held by somebody: a c; by nobody: b d
#       with an identifier each: states acquired, acquired; items held by somebody: a b c d; by nobody: none
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
pip_install kazoo==2.11.0
python3 -W ignore - "$port" <<'P'
import logging, sys, time
from kazoo.client import KazooClient

logging.disable()
ITEMS = ["a", "b", "c", "d"]
clients = [KazooClient(f"127.0.0.1:{sys.argv[1]}") for _ in range(2)]
for zk in clients:
    zk.start()

def members(path, identifiers):
    """What two members that come one after the other have after 20 s, if they have not settled before."""
    found = [zk.SetPartitioner(path, ITEMS, identifier=identifier, time_boundary=1) for zk, identifier in zip(clients, identifiers)]
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and not all(member.acquired for member in found):
        for member in found:
            assert not member.failed
            if member.release:
                member.release_set()
        time.sleep(0.05)
    states = ["acquired" if member.acquired else "allocating" if member.allocating else member.state for member in found]
    held = sorted(item for member in found if member.acquired for item in member)
    nobody = [item for item in ITEMS if item not in held]
    for member in found:
        member.finish()
    return sorted(states), held, nobody

def tell(name, seen):
    states, held, nobody = seen
    print(f"{name}: states {', '.join(states)}; items held by somebody: {' '.join(held)}; by nobody: {' '.join(nobody) or 'none'}")

same = members("/same", (None, None))
tell("two members of one process", same)
assert same == (["acquired", "allocating"], ["a", "c"], ["b", "d"]), same
own = members("/own", ("one", "two"))
tell("with an identifier each", own)
assert own == (["acquired", "acquired"], ITEMS, []), own
for zk in clients:
    zk.stop()
P
