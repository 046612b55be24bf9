#!/usr/bin/env bash
# tooz 9.1.0 with kazoo 2.11.0 (PyPI), ZooKeeper driver: once the session has expired a coordinator is a member of nothing and leads
# nothing, and is not told: `heartbeat` answers as ever, `run_watchers` raises nothing. It is never elected again: the lock of the election
# still says that it is held, so that no `run_watchers` asks for it any more. A group whose only candidate this was stays without a leader.
# Seen: before: members of the group: one; leader: one; elected: 1 time
#       expired, then heartbeat and run_watchers for 3 s: no error; members: none; leader: None; elected: 1 time
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
# tooz with everything that it needs, at the versions of its day.
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check tooz==9.1.0 kazoo==2.11.0 oslo.utils==10.2.0 oslo.serialization==5.11.0 msgpack==1.2.4 stevedore==5.10.0 tenacity==9.2.1
PYTHONPATH="$lib" PYTHONDONTWRITEBYTECODE=1 "$work/venv/bin/python" -W ignore - "$port" <<'P'
import logging, sys, time
import tooz
from tooz import coordination
from proxy import Proxy

logging.disable()
proxy = Proxy(int(sys.argv[1]))
elected = []

def coordinator(port, name):
    one = coordination.get_coordinator(f"zookeeper://127.0.0.1:{port}", name)
    one.start()
    return one

def seen():
    members = sorted(member.decode() for member in other.get_members(b"g").get() - {b"leader"})  # not a member: the lock of the election
    leader = other.get_leader(b"g").get()
    return ", ".join(members) or "none", leader and leader.decode(), len(elected)

one, other = coordinator(proxy.port, b"one"), coordinator(sys.argv[1], b"other")
one.create_group(b"g").get()
one.join_group(b"g").get()
one.watch_elected_as_leader(b"g", lambda event: elected.append(event.member_id))
one.run_watchers()
before = seen()
print("before: members of the group: {}; leader: {}; elected: {} time".format(*before))
assert before == ("one", "one", 1), before
proxy.expire()
for _ in range(100):  # until it has a new session
    try:
        one.heartbeat()
        break
    except tooz.ToozError:
        time.sleep(0.1)
for _ in range(30):
    one.heartbeat()
    one.run_watchers()
    time.sleep(0.1)
after = seen()
print("expired, then heartbeat and run_watchers for 3 s: no error; members: {}; leader: {}; elected: {} time".format(*after))
assert after == ("none", None, 1), after
one.stop(), other.stop()
P
