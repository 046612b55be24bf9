#!/usr/bin/env bash
# tooz 9.1.0 with kazoo 2.11.0 (PyPI), ZooKeeper driver: `Lock.acquire` with a time raises an exception of kazoo's, LockTimeout, when the
# time is over, where the interface of all drivers has it return False; `blocking=False` does return False. It is none of tooz's errors, so
# `except ToozError` does not catch it, and `with lock(blocking=1.0)` raises it in place of LockAcquireFailed.
# Seen: held by another: acquire(blocking=False): False; acquire(blocking=1.0): LockTimeout of kazoo.exceptions, a ToozError False
#       with lock(blocking=False): LockAcquireFailed of tooz.coordination; with lock(blocking=1.0): LockTimeout of kazoo.exceptions
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
# tooz with everything that it needs, at the versions of its day.
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check tooz==9.1.0 kazoo==2.11.0 oslo.utils==10.2.0 oslo.serialization==5.11.0 msgpack==1.2.4 stevedore==5.10.0 tenacity==9.2.1
"$work/venv/bin/python" -W ignore - "$port" <<'P'
import logging, sys
import tooz
from tooz import coordination

def answer(call):
    try:
        return str(call())
    except Exception as error:
        errors.append(error)
        return f"{type(error).__name__} of {type(error).__module__}"

def within(**options):
    with lock(**options):
        pass

logging.disable()
errors = []
coordinators = [coordination.get_coordinator(f"zookeeper://127.0.0.1:{sys.argv[1]}", name) for name in (b"one", b"other")]
for one in coordinators:
    one.start()
held, lock = (one.get_lock(b"lock") for one in coordinators)
assert held.acquire()
seen = [answer(lambda: lock.acquire(blocking=False)), answer(lambda: lock.acquire(blocking=1.0))]
kind = isinstance(errors[0], tooz.ToozError)
print(f"held by another: acquire(blocking=False): {seen[0]}; acquire(blocking=1.0): {seen[1]}, a ToozError {kind}")
assert seen == ["False", "LockTimeout of kazoo.exceptions"] and not kind, (seen, kind)
seen = [answer(lambda: within(blocking=False)), answer(lambda: within(blocking=1.0))]
print(f"with lock(blocking=False): {seen[0]}; with lock(blocking=1.0): {seen[1]}")
assert seen == ["LockAcquireFailed of tooz.coordination", "LockTimeout of kazoo.exceptions"], seen
for one in coordinators:
    one.stop()
P
