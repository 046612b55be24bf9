#!/usr/bin/env bash
# ZooKeeper 3.6.3 (Apache's jar), 3.8.0 (Debian 12) and 3.9.5 (Apache's jar): a client that comes back in its session sets its watches again
# with the last zxid that it has seen, and a watch that fires once is answered at once if it has missed something. A persistent watch, set
# again in the same request, is told nothing of what changed meanwhile, in every version: the kind that "never has to be set again" is
# the one that loses events at each reconnect, and whoever uses it has to read everything again then.
# Seen: 3.6.3: changed while disconnected: both; told at the reconnect: /once; told of the next change of both: /persistent
#       3.8.0: changed while disconnected: both; told at the reconnect: /once; told of the next change of both: /persistent
#       3.9.5: changed while disconnected: both; told at the reconnect: /once; told of the next change of both: /persistent
. "$(dirname "$0")/lib/versions.sh"
get 3.6.3 3.9.5
python3 - <<'P'
from zk import *

def paths(*names):
    return struct.pack(">i", len(names)) + b"".join(map(text, names))

for version in "3.6.3", "3.8.0", "3.9.5":
    server = Server(version)
    one, other = Client(server), Client(server)
    one.create("/once")
    one.create("/persistent")
    one.get("/once", watch=True)
    one.ok(ADD_WATCH, text("/persistent") + struct.pack(">i", 0))
    seen = one.zxid
    one.drop()
    other.set("/once", b"")
    other.set("/persistent", b"")
    again = Client(server, session=one.session, password=one.password, zxid=seen)
    assert again.session == one.session
    # Data, exist, child, persistent and persistent recursive watches.
    again.ok(SET_WATCHES2, struct.pack(">q", seen) + paths("/once") + paths() + paths() + paths("/persistent") + paths(), xid=-8)
    told = [path for _, path in again.heard()]
    other.set("/once", b"")
    other.set("/persistent", b"")
    later = [path for _, path in again.heard()]
    print(f"{version}: changed while disconnected: both; told at the reconnect: {', '.join(told)}; told of the next change of both: {', '.join(later)}")
    assert (told, later) == (["/once"], ["/persistent"])
    server.kill()
P
