#!/usr/bin/env bash
# kazoo 2.11.0 (PyPI), DoubleBarrier: `enter` catches every error of ZooKeeper that ends it, also the one by which a limited retry gives up,
# removes its znode and returns as it does when all have entered. Its result is None in both cases; that it has not entered is only to be
# read from the attribute `participating`, which the documentation does not mention. `leave` does the same.
# Seen: connection lost at each of 2 tries: enter of a barrier for 2 returned None without an error, participating False, members 0
#       not lost: returned None when the other had entered, participating True
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
pip_install kazoo==2.11.0
python3 -W ignore - "$port" <<'P'
import logging, sys, threading
from kazoo.client import KazooClient
from proxy import Proxy

logging.disable()
proxy = Proxy(int(sys.argv[1]))
zk = KazooClient(f"127.0.0.1:{proxy.port}", command_retry={"max_tries": 2})
other = KazooClient(f"127.0.0.1:{sys.argv[1]}")
zk.start(), other.start()
barrier = zk.DoubleBarrier("/barrier", 2)
lost = [proxy.lose_reply("getChildren", "/barrier") for _ in range(2)]
answer, members = barrier.enter(), len(other.get_children("/barrier"))
assert all(event.wait(5) for event in lost)
print(f"connection lost at each of 2 tries: enter of a barrier for 2 returned {answer} without an error, participating {barrier.participating}, "
      f"members {members}")
assert (answer, barrier.participating, members) == (None, False, 0), (answer, barrier.participating, members)
threading.Thread(target=other.DoubleBarrier("/barrier", 2).enter, daemon=True).start()
answer = barrier.enter()
print(f"not lost: returned {answer} when the other had entered, participating {barrier.participating}")
assert answer is None and barrier.participating and "ready" in other.get_children("/barrier")
zk.stop(), other.stop()
P
