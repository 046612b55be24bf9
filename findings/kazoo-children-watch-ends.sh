#!/usr/bin/env bash
# kazoo 2.11.0 (PyPI), ChildrenWatch: when its znode is deleted the function is not called any more, not with an empty list either, and the
# watch is over without a word: children of a znode that is made again are not reported, after a reconnect and in a new session neither.
# What the function was given last stays what it knows. A DataWatch of the same znode is told of both. With a missing path it raises nothing
# and never calls.
# Seen: /group with a member, deleted, made again with another member: ChildrenWatch: a; DataWatch: 1, None, 2
#       after a reconnect: ChildrenWatch: a; of a path that is made later: nothing
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
pip_install kazoo==2.11.0
python3 -W ignore - "$port" <<'P'
import logging, sys, time
from kazoo.client import KazooClient
from proxy import Proxy

logging.disable()
proxy = Proxy(int(sys.argv[1]))
zk, other = KazooClient(f"127.0.0.1:{proxy.port}"), KazooClient(f"127.0.0.1:{sys.argv[1]}")
zk.start(), other.start()
other.create("/group", b"1"), other.create("/group/a")
children, data, late = [], [], []
zk.ChildrenWatch("/group", lambda names: children.append(",".join(names) or "none"))
zk.DataWatch("/group", lambda value, stat: data.append(value and value.decode()))
zk.ChildrenWatch("/late", lambda names: late.append(names))
transaction = other.transaction()
transaction.delete("/group/a"), transaction.delete("/group")
transaction.commit()
deadline = time.monotonic() + 5
while len(data) < 2 and time.monotonic() < deadline:
    time.sleep(0.01)
other.create("/group", b"2"), other.create("/group/b"), other.create("/late"), other.create("/late/c")
while len(data) < 3 and time.monotonic() < deadline:
    time.sleep(0.01)
time.sleep(1)
print(f"/group with a member, deleted, made again with another member: ChildrenWatch: {'; '.join(children)}; DataWatch: {', '.join(map(str, data))}")
assert children == ["a"] and data == ["1", None, "2"], (children, data)
proxy.cut()
zk.retry(zk.sync, "/")
time.sleep(1)
print(f"after a reconnect: ChildrenWatch: {'; '.join(children)}; of a path that is made later: {late or 'nothing'}")
assert children == ["a"] and not late, (children, late)
zk.stop(), other.stop()
P
