#!/usr/bin/env bash
# ZooKeeper 3.6.3 (Apache's jar), 3.8.0 (Debian 12), 3.9.3 and 3.9.5 (Apache's jars): inside a multi the first two answer a `create2` as a
# plain `create`: the result says so in its type and has no stat, so a client that decodes by what it asked for reads the next result's
# bytes as a stat. A container or a TTL znode in a multi is answered with a stat by the same versions, and so is `create2` alone. It is
# ZOOKEEPER-4026.
# Seen: 3.6.3: create2 in a multi: type 1, no stat; createContainer: type 15, stat; createTTL: type 15, stat; create2 alone: stat
#       3.8.0: create2 in a multi: type 1, no stat; createContainer: type 15, stat; createTTL: type 15, stat; create2 alone: stat
#       3.9.3: create2 in a multi: type 15, stat; createContainer: type 15, stat; createTTL: type 15, stat; create2 alone: stat
#       3.9.5: create2 in a multi: type 15, stat; createContainer: type 15, stat; createTTL: type 15, stat; create2 alone: stat
. "$(dirname "$0")/lib/versions.sh"
get 3.6.3 3.9.3 3.9.5
python3 - <<'P'
from zk import *

HEADER, STAT = 9, 68
for version in "3.6.3", "3.8.0", "3.9.3", "3.9.5":
    server = Server(version, properties={"extendedTypesEnabled": "true"})
    one = Client(server)
    words, seen = [], {}
    for name, request in (("create2", (CREATE2, create("/a"))), ("createContainer", (CREATE_CONTAINER, create("/b", flags=4))),
                          ("createTTL", (CREATE_TTL, create("/c", flags=5, ttl=1000)))):
        answer = one.ok(MULTI, multi(request))
        result = answer[HEADER:-HEADER]
        assert result[:6] == text(request[1][4:6].decode()), answer
        seen[name] = struct.unpack(">i", answer[:4])[0], len(result) == 6 + STAT
        words.append(f"{name}{' in a multi' if name == 'create2' else ''}: type {seen[name][0]}, {'stat' if seen[name][1] else 'no stat'}")
    alone = len(one.ok(CREATE2, create("/d"))) == 6 + STAT
    print(f"{version}: {'; '.join(words)}; create2 alone: {'stat' if alone else 'no stat'}")
    old = version in ("3.6.3", "3.8.0")
    assert alone and seen == {"create2": (CREATE, False) if old else (CREATE2, True), "createContainer": (CREATE2, True), "createTTL": (CREATE2, True)}
    server.kill()
P
