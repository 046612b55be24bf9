#!/usr/bin/env bash
# kazoo 2.11.0 (PyPI), DoubleBarrier: `enter` creates its znode first and looks then, for `ready` and for who is there. If its peers pass in
# between and one leaves again, it finds neither enough members nor `ready`, which a leaving member deletes first, and waits for ever; who
# has left halfway waits in `leave`, for it. No fault is needed. (In the script the request that looks is held back for that moment.)
# Seen: barrier for 2: the second entered and leaves; the first's enter and the second's leave have not returned 2 s later
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
slow, fast = zk.DoubleBarrier("/barrier", 2), other.DoubleBarrier("/barrier", 2)
while not slow.node_name < fast.node_name:  # the last in their order deletes its znode at once when it leaves
    fast = other.DoubleBarrier("/barrier", 2)
go_on = threading.Event()
held = proxy.before("exists", lambda: go_on.wait(20), "/barrier/ready")

def run(call):
    done = threading.Event()
    threading.Thread(target=lambda: (call(), done.set()), daemon=True).start()
    return done

entered = run(slow.enter)
deadline = time.monotonic() + 5
while ("exists", "/barrier/ready") not in proxy.requests and time.monotonic() < deadline:
    time.sleep(0.01)
fast.enter()
left = run(fast.leave)
while other.exists("/barrier/" + fast.node_name) and time.monotonic() < deadline:
    time.sleep(0.01)
go_on.set()
assert held.wait(5)
stuck = not entered.wait(2), not left.is_set()
print("barrier for 2: the second entered and leaves; the first's enter and the second's leave have not returned 2 s later")
assert stuck == (True, True) and other.get_children("/barrier") == [slow.node_name], stuck
zk.stop(), other.stop()
P
