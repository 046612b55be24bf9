#!/usr/bin/env bash
# ZooKeeper 3.8.0 (Debian 12) and 3.9.5 (Apache's jar), TTL znodes with an hour to live, made with `extendedTypesEnabled`. A server that is
# started without the property takes their owner for a session that is gone, and deletes them from its own tree, without a transaction; a
# child of one can still be read, until the next start, though its parent does not exist. Setting the property again brings none back.
# In an ensemble whose servers are restarted without it one by one, the first leader of the kind loses them and its followers keep them:
# from then on a follower shows a znode that a write through the same follower is told does not exist.
# Seen: 3.8.0, one server, restarted without the property: /ttl and /parent are gone, /parent/child is there; with it again: none of them
#       3.8.0, three servers: leader has none of them, followers have /ttl, /parent; setData of /ttl through a follower: NoNode
#       (3.9.5 the same)
. "$(dirname "$0")/lib/versions.sh"
get 3.9.5
python3 - <<'P'
from zk import *

ON = {"extendedTypesEnabled": "true"}

def fill(server):
    one = Client(server)
    for path in "/ttl", "/parent":
        one.create(path, flags=5, ttl=3600_000)
    one.create("/parent/child")
    one.close()

def seen(server):
    one = Client(server)
    return [path for path in ("/ttl", "/parent", "/parent/child") if one.stat(path)]

for version in "3.8.0", "3.9.5":
    server = Server(version, properties=ON)
    fill(server)
    assert seen(server) == ["/ttl", "/parent", "/parent/child"]
    without = seen(server.restart(properties={}))
    again = seen(server.restart(properties=ON))
    print(f"{version}, one server, restarted without the property: /ttl and /parent are gone, /parent/child is there; with it again: none of them")
    assert (without, again) == (["/parent/child"], []), (without, again)
    server.kill()

    servers = ensemble([version] * 3, properties=ON)
    first = next(server for server in servers if server.mode() == "leader")
    rest = [server for server in servers if server is not first]
    fill(first)
    for server in rest:
        server.restart(properties={}).serves()
    assert first.mode() == "leader"
    first.kill()
    leader = until("a leader without the property", lambda: next((server for server in rest if server.mode() == "leader"), None))
    first.restart(properties={})
    followers = [server.serves() for server in servers if server is not leader]
    assert "/ttl" not in seen(leader) and "/parent" not in seen(leader)
    for server in followers:
        one = Client(server)
        error = one.call(SET, text("/ttl") + data(b"") + struct.pack(">i", -1))[0]
        assert error == NO_NODE and seen(server)[:2] == ["/ttl", "/parent"], (error, seen(server))
    print(f"{version}, three servers: leader has none of them, followers have /ttl, /parent; setData of /ttl through a follower: NoNode")
    for server in servers:
        server.kill()
P
