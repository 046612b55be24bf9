#!/usr/bin/env bash
# ZooKeeper 3.6.3 (Apache's jar), 3.8.0 (Debian 12), 3.9.3 and 3.9.5 (Apache's jars): the first two keep one mode for a session and a path.
# A `getData` with a watch turns the session's persistent watch on that path into one that fires once, and from the next change on nothing
# is heard. A recursive watch that is added on a path turns a child watch that was set there before into silence, which is a lost wakeup.
# Neither request is answered with an error. In the others they stand side by side (ZOOKEEPER-4466).
# Seen: 3.6.3: persistent watch, then getData with one: heard 1 of 3 changes; child watch, then a recursive one: the child watch is silent
#       3.8.0: persistent watch, then getData with one: heard 1 of 3 changes; child watch, then a recursive one: the child watch is silent
#       3.9.3: persistent watch, then getData with one: heard 3 of 3 changes; child watch, then a recursive one: the child watch fires
#       3.9.5: persistent watch, then getData with one: heard 3 of 3 changes; child watch, then a recursive one: the child watch fires
. "$(dirname "$0")/lib/versions.sh"
get 3.6.3 3.9.3 3.9.5
python3 - <<'P'
from zk import *

PERSISTENT, RECURSIVE = struct.pack(">i", 0), struct.pack(">i", 1)
for version in "3.6.3", "3.8.0", "3.9.3", "3.9.5":
    server = Server(version)
    one = Client(server)
    one.create("/a")
    one.ok(ADD_WATCH, text("/a") + PERSISTENT)
    one.get("/a", watch=True)
    for _ in range(3):
        one.set("/a", b"")
    changes = one.heard().count(("changed", "/a"))
    one.create("/b")
    one.children("/b", watch=True)
    one.ok(ADD_WATCH, text("/b") + RECURSIVE)
    one.create("/b/child")
    heard = one.heard()
    assert ("created", "/b/child") in heard, heard
    child = ("children", "/b") in heard
    print(f"{version}: persistent watch, then getData with one: heard {changes} of 3 changes; child watch, then a recursive one: "
          f"the child watch {'fires' if child else 'is silent'}")
    assert (changes, child) == ((3, True) if version.startswith("3.9") else (1, False))
    server.kill()
P
