#!/usr/bin/env bash
# kazoo 2.11.0 (PyPI), DoubleBarrier: `enter` counts the children of the barrier, and its own persistent znode `ready` is one of them.
# Members that end before they leave do not delete it. In the next round one member fewer is enough: a barrier for two lets the first one
# pass alone, one for three two of them. `enter` does not look whether `ready` is there already, and that it is created is what wakes: who
# has come before the last but one is never woken, not when all are there either.
# Seen: barrier for 2 whose members died inside, next round: the first enters alone after 0.0 s
#       barrier for 3, next round: of two members the second enters, the first has not after 2 s; with the third neither, 2 s later
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
pip_install kazoo==2.11.0
python3 -W ignore - "$port" <<'P'
import logging, sys, threading, time
from kazoo.client import KazooClient

def client():
    zk = KazooClient(f"127.0.0.1:{sys.argv[1]}")
    zk.start()
    return zk

class Member:
    """A client that enters in a thread of its own; `entered` is set when it is in."""
    def __init__(self, path, size):
        self.zk, self.entered, self.began = client(), threading.Event(), time.monotonic()
        barrier = self.zk.DoubleBarrier(path, size)
        threading.Thread(target=lambda: (barrier.enter(), self.entered.set()), daemon=True).start()
        deadline = self.began + 5  # until its znode is there
        while not (watcher.exists(path) and barrier.node_name in watcher.get_children(path)) and time.monotonic() < deadline:
            time.sleep(0.01)

def round_of_dead(path, size):
    members = [Member(path, size) for _ in range(size)]
    assert all(member.entered.wait(5) for member in members)
    for member in members:
        member.zk.stop()
    assert watcher.get_children(path) == ["ready"]

logging.disable()
watcher = client()
round_of_dead("/two", 2)
alone = Member("/two", 2)
assert alone.entered.wait(5), "waits"
after = time.monotonic() - alone.began
print(f"barrier for 2 whose members died inside, next round: the first enters alone after {after:.1f} s")
assert after < 1, after
round_of_dead("/three", 3)
first = Member("/three", 3)
assert not first.entered.wait(0.5)
second = Member("/three", 3)
assert second.entered.wait(5) and not first.entered.wait(2)
third = Member("/three", 3)
assert third.entered.wait(5) and not first.entered.wait(2)
print("barrier for 3, next round: of two members the second enters, the first has not after 2 s; with the third neither, 2 s later")
for member in alone, second, third, first:
    member.zk.stop()
watcher.stop()
P
