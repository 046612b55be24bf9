#!/usr/bin/env bash
# kazoo 2.11.0 (PyPI), LockingQueue: when the reply of the create that locks an entry is lost, `get` raises ConnectionLoss and the lock's
# znode stays: the object does not know that it has the entry, passes over it at each further `get`, and cannot release it. Nobody gets
# the entry for as long as the session lives, which may be as long as the process.
# Seen: put: one; get with the reply of its create lost: ConnectionLoss; get again: None; another consumer's: None; entries: 1
#       the lock of the entry belongs to the session that lives: True; holds_lock False, release False
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
pip_install kazoo==2.11.0
python3 -W ignore - "$port" <<'P'
import logging, sys
from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionLoss
from proxy import Proxy

logging.disable()
proxy = Proxy(int(sys.argv[1]))
zk, other = KazooClient(f"127.0.0.1:{proxy.port}"), KazooClient(f"127.0.0.1:{sys.argv[1]}")
zk.start(), other.start()
queue, theirs = zk.LockingQueue("/queue"), other.LockingQueue("/queue")
queue.put(b"one")
lost = proxy.lose_reply("create", "/queue/taken/")
try:
    first = queue.get(5)
except ConnectionLoss:
    first = "ConnectionLoss"
assert lost.wait(5)
again, their = zk.retry(queue.get, 1), theirs.get(1)
print(f"put: one; get with the reply of its create lost: {first}; get again: {again}; another consumer's: {their}; entries: {len(queue)}")
assert (first, again, their, len(queue)) == ("ConnectionLoss", None, None, 1), (first, again, their)
[taken] = zk.get_children("/queue/taken")
own = zk.exists("/queue/taken/" + taken).owner_session_id == zk.client_id[0]
print(f"the lock of the entry belongs to the session that lives: {own}; holds_lock {queue.holds_lock()}, release {queue.release()}")
assert own and not queue.holds_lock() and not queue.release()
zk.stop(), other.stop()
P
