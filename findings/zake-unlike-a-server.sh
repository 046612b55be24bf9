#!/usr/bin/env bash
# zake 0.2.2 with kazoo 2.11.0 (PyPI), a client without a server on which kazoo's recipes are tested: a watch for children is told of a
# deleted child as of the deletion of the watched znode itself, of a created one with the child's path, of grandchildren too, and not when
# the watched znode goes. Sequence numbers count sequential creates only and go on where the parent was deleted and made again; czxid is
# the version. So a recipe that waits for the wrong event, or takes the number for a fencing token, passes its tests.
# Seen: watch for the children of /p, server: child created CHILD /p, deleted CHILD /p, grandchild created none, /p deleted DELETED /p
#       the same with zake: child created CHILD /p/c, deleted DELETED /p, grandchild created CHILD /p/d/e, /p deleted none
#       after one ordinary create: number 1 of a server, 0 of zake; parent deleted and made again: 0, 1; its czxid another: True, False
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
pip_install kazoo==2.11.0 zake==0.2.2 six==1.17.0
python3 -W ignore - "$port" <<'P'
import logging, sys, time
from kazoo.client import KazooClient
from zake.fake_client import FakeClient

def told(zk):
    """What a watch for the children of /p was told of: a child created, it deleted, a grandchild created, /p deleted."""
    steps = (lambda: zk.create("/p/c"), lambda: zk.delete("/p/c"), lambda: zk.create("/p/d/e"), lambda: zk.delete("/p"))
    answers = []
    for number, step in enumerate(steps):
        if number == 3:
            zk.delete("/p/d", recursive=True)
        events = []
        zk.get_children("/p", watch=lambda event: events.append(f"{event.type} {event.path}"))
        step()
        time.sleep(0.5)
        answers.append(", ".join(events) or "none")
        if number == 1:
            zk.create("/p/d")
    return answers

def numbers(zk):
    """The sequence numbers after an ordinary create and after the parent was made again; whether it is another one by its czxid."""
    zk.ensure_path("/q")
    zk.create("/q/ordinary")
    first, czxid = zk.create("/q/n-", sequence=True), zk.exists("/q").czxid
    zk.delete("/q", recursive=True)
    zk.ensure_path("/q")
    return int(first[-10:]), int(zk.create("/q/n-", sequence=True)[-10:]), zk.exists("/q").czxid != czxid

logging.disable()
seen = {}
for kind, zk in ("server", KazooClient(f"127.0.0.1:{sys.argv[1]}")), ("zake", FakeClient()):
    zk.start()
    zk.ensure_path("/p")
    seen[kind] = told(zk), numbers(zk)
    zk.stop()
for kind, words in ("server", "watch for the children of /p, server"), ("zake", "the same with zake"):
    print(f"{words}: child created {{}}, deleted {{}}, grandchild created {{}}, /p deleted {{}}".format(*seen[kind][0]))
(first, again, another), (fake_first, fake_again, fake_another) = seen["server"][1], seen["zake"][1]
print(f"after one ordinary create: number {first} of a server, {fake_first} of zake; parent deleted and made again: {again}, {fake_again}; "
      f"its czxid another: {another}, {fake_another}")
assert seen["server"] == (["CHILD /p", "CHILD /p", "none", "DELETED /p"], (1, 0, True)), seen
assert seen["zake"] == (["CHILD /p/c", "DELETED /p", "CHILD /p/d/e", "none"], (0, 1, False)), seen
P
