#!/usr/bin/env bash
# kazoo 2.11.0 (PyPI), Lock, ReadLock, WriteLock: the timeout of `acquire` begins anew each time the contender just ahead goes away. Behind
# contenders that give up one by one it is exceeded many times: the time that is bounded is the wait for one predecessor. (Semaphore and
# what else is built on Lock have it too.)
# Seen: acquire(timeout=1) behind four contenders that give up every 0.8 s: LockTimeout after 4.2 s
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
pip_install kazoo==2.11.0
python3 -W ignore - "$port" <<'P'
import logging, sys, threading, time
from kazoo.client import KazooClient
from kazoo.exceptions import CancelledError, LockTimeout

def contend(lock):
    try:
        lock.acquire()
    except CancelledError:
        pass

logging.disable()
zk = KazooClient(f"127.0.0.1:{sys.argv[1]}")
zk.start()
holder, ahead = zk.Lock("/lock"), [zk.Lock("/lock") for _ in range(4)]
holder.acquire()
for place, lock in enumerate(ahead):
    threading.Thread(target=contend, args=(lock,), daemon=True).start()
    while len(zk.get_children("/lock")) < place + 2:
        time.sleep(0.01)

def give_up():
    for lock in reversed(ahead):
        time.sleep(0.8)
        lock.cancel()

threading.Thread(target=give_up, daemon=True).start()
began = time.monotonic()
try:
    zk.Lock("/lock").acquire(timeout=1)
    raise SystemExit("acquired")
except LockTimeout:
    waited = time.monotonic() - began
print(f"acquire(timeout=1) behind four contenders that give up every 0.8 s: LockTimeout after {waited:.1f} s")
assert 3.8 < waited < 4.8, waited
zk.stop()
P
