#!/usr/bin/env bash
# ZooKeeper 3.8.0 (Debian 12), 3.9.3 and 3.9.5 (Apache's jars), enforceQuota on, a hard quota of five znodes, of which the parent is one: a create
# in a multi is held against the znodes that are there before the multi. So where the quota is used up a multi that deletes one znode and creates
# another is refused, though it leaves as many as there were: consumers that move items in a transaction cannot empty a queue that is full.
# -125 is QuotaExceeded.
# Seen: ZooKeeper 3.8.0: items put: 2, the next one: -125; moved in one multi: False [0, -125]; deleted and created by two requests: True
#       ZooKeeper 3.9.3: items put: 2, the next one: -125; moved in one multi: False [0, -125]; deleted and created by two requests: True
#       ZooKeeper 3.9.5: items put: 2, the next one: -125; moved in one multi: False [0, -125]; deleted and created by two requests: True
. "$(dirname "$0")/lib/versions.sh"
get 3.9.3 3.9.5
python3 - <<'P'
from zk import *

NO_VERSION = struct.pack(">i", -1)


def errors(answer):
    """Those of a multi that was refused, one for each operation."""
    return [struct.unpack(">i", answer[at + 9:at + 13])[0] for at in range(0, len(answer) - 9, 13)]


for version in "3.8.0", "3.9.3", "3.9.5":
    server = Server(version, properties={"enforceQuota": "true"})
    client = Client(server.port)
    for path in "/app", "/app/queue", "/app/taken", "/zookeeper/quota/app":
        client.create(path)
    client.create("/zookeeper/quota/app/zookeeper_limits", b"count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=5")
    client.create("/zookeeper/quota/app/zookeeper_stats", b"count=0,bytes=0")
    put = 0
    while (error := client.call(CREATE, create(f"/app/queue/{put}"))[0]) == OK:
        put += 1
    _, answer = client.call(MULTI, multi((DELETE, text("/app/queue/0") + NO_VERSION), (CREATE, create("/app/taken/0"))))
    moved = client.stat("/app/taken/0") is not None
    client.delete("/app/queue/0")
    client.create("/app/taken/0")
    by_two = client.stat("/app/taken/0") is not None
    print(f"ZooKeeper {version}: items put: {put}, the next one: {error}; moved in one multi: {moved} {errors(answer)}; "
          f"deleted and created by two requests: {by_two}")
    assert (put, error, moved, errors(answer), by_two) == (2, -125, False, [0, -125], True), (put, error, moved, answer, by_two)
    server.kill()
P
