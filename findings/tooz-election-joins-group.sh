#!/usr/bin/env bash
# tooz 9.1.0 with kazoo 2.11.0 (PyPI), ZooKeeper driver: the lock of a group's election is a child `leader` of the group's znode, which
# `get_members` lists as a member of the group. From the first election of a group on it has one member more than ever joined, its
# capabilities cannot be read (the znode is empty), `join_partitioned_group` raises for everybody, and the group cannot be deleted any
# more once all have left.
# Seen: members before an election: a; after it: a, leader
#       capabilities of `leader`: SerializationError; join_partitioned_group: SerializationError
#       delete_group after all have left: GroupNotEmpty
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
# tooz with everything that it needs, at the versions of its day.
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check tooz==9.1.0 kazoo==2.11.0 oslo.utils==10.2.0 oslo.serialization==5.11.0 msgpack==1.2.4 stevedore==5.10.0 tenacity==9.2.1
"$work/venv/bin/python" -W ignore - "$port" <<'P'
import sys
from tooz import coordination

def raised(call):
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return "nothing"

coordinator = coordination.get_coordinator(f"zookeeper://127.0.0.1:{sys.argv[1]}", b"a")
coordinator.start()
coordinator.create_group(b"g").get()
coordinator.join_group(b"g").get()
members = lambda: ", ".join(sorted(member.decode() for member in coordinator.get_members(b"g").get()))
before = members()
coordinator.watch_elected_as_leader(b"g", lambda event: None)
coordinator.run_watchers()
after = members()
print(f"members before an election: {before}; after it: {after}")
assert (before, after) == ("a", "a, leader"), (before, after)
capabilities = raised(lambda: coordinator.get_member_capabilities(b"g", b"leader").get())
other = coordination.get_coordinator(f"zookeeper://127.0.0.1:{sys.argv[1]}", b"b")
other.start()
joined = raised(lambda: other.join_partitioned_group(b"g"))
print(f"capabilities of `leader`: {capabilities}; join_partitioned_group: {joined}")
assert (capabilities, joined) == ("SerializationError", "SerializationError"), (capabilities, joined)
for one in coordinator, other:
    one.leave_group(b"g").get()
coordinator.stand_down_group_leader(b"g")
deleted = raised(lambda: coordinator.delete_group(b"g").get())
print(f"delete_group after all have left: {deleted}")
assert deleted == "GroupNotEmpty", deleted
coordinator.stop(), other.stop()
P
