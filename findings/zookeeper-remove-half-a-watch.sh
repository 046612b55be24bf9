#!/usr/bin/env bash
# ZooKeeper 3.6.3 (Apache's jar), 3.8.0 (Debian 12), 3.9.3 and 3.9.5 (Apache's jars), `removeWatches` of a persistent watch. Asked for the
# type `Children` or `Data` the first two take half of the watch away and report success; the other half goes on. In the others that is
# NoWatcher, and the type for it is `Persistent` (4), which the older ones answer with MarshallingError, keeping the watch. `Any` is the
# only type that does the same everywhere.
# Seen: 3.6.3: Children 0, still heard: changed; Data 0: children; Any 0: nothing; Persistent -5: changed, children
#       3.8.0: Children 0, still heard: changed; Data 0: children; Any 0: nothing; Persistent -5: changed, children
#       3.9.3: Children -121, still heard: changed, children; Data -121: changed, children; Any 0: nothing; Persistent 0: nothing
#       3.9.5: Children -121, still heard: changed, children; Data -121: changed, children; Any 0: nothing; Persistent 0: nothing
. "$(dirname "$0")/lib/versions.sh"
get 3.6.3 3.9.3 3.9.5
python3 - <<'P'
from zk import *

BOTH, TYPES = ["changed", "children"], {"Children": 1, "Data": 2, "Any": 3, "Persistent": 4}
OLD = {"Children": (0, ["changed"]), "Data": (0, ["children"]), "Any": (0, []), "Persistent": (-5, BOTH)}
NEW = {"Children": (-121, BOTH), "Data": (-121, BOTH), "Any": (0, []), "Persistent": (0, [])}
for version in "3.6.3", "3.8.0", "3.9.3", "3.9.5":
    server = Server(version)
    seen = {}
    for name, number in TYPES.items():
        one = Client(server)
        path = one.create("/a-", flags=2)
        one.ok(ADD_WATCH, text(path) + struct.pack(">i", 0))
        error = one.call(REMOVE_WATCHES, text(path) + struct.pack(">i", number))[0]
        one.set(path, b"")
        one.create(path + "/child")
        seen[name] = error, [kind for kind, _ in one.heard()]
        one.close()
    words = "; ".join(f"{name} {error}: {', '.join(heard) or 'nothing'}" for name, (error, heard) in seen.items())
    print(f"{version}: {words.replace(':', ', still heard:', 1)}")
    assert seen == (NEW if version.startswith("3.9") else OLD)
    server.kill()
P
