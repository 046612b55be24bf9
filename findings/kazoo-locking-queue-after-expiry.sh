#!/usr/bin/env bash
# kazoo 2.11.0 (PyPI), LockingQueue: once the session has expired, `holds_lock`, `consume` and `release` raise NoNodeError where the
# documentation has them return False, and the object keeps the entry for good: each further `get` returns it again, also after another
# consumer has got and consumed it, and never one of the entries that are in the queue. Only a new object gets on.
# Seen: after the expiry: holds_lock NoNodeError, consume NoNodeError, release NoNodeError
#       another consumer got and consumed: one; the first object's get: one, again: one; entries in the queue: two
#       a new object's get: two
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
pip_install kazoo==2.11.0
python3 -W ignore - "$port" <<'P'
import logging, sys, time
from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from proxy import Proxy

def answer(call):
    try:
        return call()
    except KazooException as error:
        return type(error).__name__

logging.disable()
proxy = Proxy(int(sys.argv[1]))
zk, other = KazooClient(f"127.0.0.1:{proxy.port}"), KazooClient(f"127.0.0.1:{sys.argv[1]}")
zk.start(), other.start()
mine, theirs = zk.LockingQueue("/queue"), other.LockingQueue("/queue")
mine.put(b"one"), mine.put(b"two")
assert mine.get(5) == b"one" and mine.holds_lock()
session = zk.client_id
proxy.expire()
for _ in range(1000):
    if zk.connected and zk.client_id != session:
        break
    time.sleep(0.01)
zk.retry(zk.exists, "/queue")
seen = [answer(call) for call in (mine.holds_lock, mine.consume, mine.release)]
print("after the expiry: holds_lock {}, consume {}, release {}".format(*seen))
assert seen == ["NoNodeError"] * 3, seen
assert (theirs.get(5), theirs.consume()) == (b"one", True)
again = [mine.get(1).decode() for _ in range(2)]
left = [zk.get("/queue/entries/" + name)[0].decode() for name in zk.get_children("/queue/entries")]
print(f"another consumer got and consumed: one; the first object's get: {again[0]}, again: {again[1]}; entries in the queue: {', '.join(left)}")
assert (again, left) == (["one", "one"], ["two"]), (again, left)
new = zk.LockingQueue("/queue").get(5).decode()
print(f"a new object's get: {new}")
assert new == "two", new
zk.stop(), other.stop()
P
