#!/usr/bin/env bash
# kazoo 2.11.0 (PyPI), Barrier and DoubleBarrier: kazoo sets no watch again after a reconnect. It calls each watch function with an event
# of type NONE at the cut and forgets it, and the functions of these two recipes ignore that event. So after a cut, however short,
# `Barrier.wait` and `DoubleBarrier.enter` are not woken any more: not by the removal of the barrier, not by the last member. Without a
# timeout they wait for ever; `enter` and `leave` have none. The documentation has `wait` raise at a lost connection.
# Seen: no cut: wait returned True, enter returned
#       a cut while they wait, the session lives: barrier removed and last member entered, after 3 s wait and enter have not returned
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
pip_install kazoo==2.11.0
python3 -W ignore - "$port" <<'P'
import logging, sys, threading, time
from kazoo.client import KazooClient
from proxy import Proxy

logging.disable()
proxy = Proxy(int(sys.argv[1]))
zk, other = KazooClient(f"127.0.0.1:{proxy.port}"), KazooClient(f"127.0.0.1:{sys.argv[1]}")
zk.start(), other.start()

def until(call):
    for _ in range(500):
        if call():
            return
        time.sleep(0.01)
    raise AssertionError("not within 5 s")

def waiters(name, cut):
    """What `wait` answered and whether `enter` returned, within 3 s of what should wake them."""
    barrier, double = other.Barrier(f"/{name}/barrier"), other.DoubleBarrier(f"/{name}/double", 2)
    barrier.create()
    waited, entered = [], []
    threading.Thread(target=lambda: waited.append(zk.Barrier(barrier.path).wait()), daemon=True).start()
    threading.Thread(target=lambda: entered.append(zk.DoubleBarrier(double.path, 2).enter()), daemon=True).start()
    until(lambda: ("exists", barrier.path) in proxy.requests and ("getChildren", double.path) in proxy.requests)
    session = zk.client_id
    if cut:
        proxy.cut()
        connections = lambda: sum(1 for request in list(proxy.requests) if request[0] == "connect")
        until(lambda: connections() == 2 and zk.connected)
    assert zk.exists("/") and zk.client_id == session
    barrier.remove()
    double.enter()
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline and not (waited and entered):
        time.sleep(0.01)
    return waited, len(entered)

seen = waiters("whole", cut=False)
print(f"no cut: wait returned {seen[0][0]}, enter returned")
assert seen == ([True], 1), seen
seen = waiters("cut", cut=True)
assert seen == ([], 0), seen
print("a cut while they wait, the session lives: barrier removed and last member entered, after 3 s wait and enter have not returned")
zk.stop(), other.stop()
P
