#!/usr/bin/env bash
# ZooKeeper 3.6.3 (Apache's jar), 3.8.0 (Debian 12) and 3.9.5 (Apache's jar), three servers each: a write that fails, with NodeExists or
# BadVersion, is a transaction like any other: the leader knows the answer at once, yet it takes a zxid and is answered only when a quorum
# has it. So is a multi of nothing but checks. `sync` is not: a leader whose followers are frozen answers it, and reads. A failing write
# or a multi of checks is thus the barrier before a read that `sync` is taken for, and it changes nothing.
# Seen: 3.6.3, followers frozen: sync and getData are answered; create of what exists, setData of a wrong version and multi of a check wait
#       3.6.3, followers thawed: NodeExists, BadVersion, 0; zxids taken: 3
#       (3.8.0 and 3.9.5 the same)
. "$(dirname "$0")/lib/versions.sh"
get 3.6.3 3.9.5
python3 - <<'P'
from zk import *

def answered(client, xid, wait=1.0):
    client.socket.settimeout(wait)
    try:
        return client.reply(xid)[0]
    except TimeoutError:
        return None

for version in "3.6.3", "3.8.0", "3.9.5":
    servers = ensemble([version] * 3)
    leader = next(server for server in servers if server.mode() == "leader")
    followers = [server for server in servers if server is not leader]
    clients = [Client(leader, timeout=30000) for _ in range(5)]
    clients[0].create("/a")
    before = clients[0].zxid
    for server in followers:
        server.freeze()
    requests = [(SYNC, text("/a")), (GET, text("/a") + b"\0"), (CREATE, create("/a")), (SET, text("/a") + data(b"") + struct.pack(">i", 99)),
                (MULTI, multi((CHECK, text("/a") + struct.pack(">i", 0))))]
    sent = [client.request(*request) for client, request in zip(clients, requests)]
    seen = [answered(client, xid) for client, xid in zip(clients, sent)]
    assert seen == [OK, OK, None, None, None], seen
    print(f"{version}, followers frozen: sync and getData are answered; create of what exists, setData of a wrong version and multi of a check wait")
    for server in followers:
        server.thaw()
    seen = [answered(client, xid, 20) for client, xid in zip(clients[2:], sent[2:])]
    taken = max(client.zxid for client in clients) - before
    assert (seen, taken) == ([NODE_EXISTS, BAD_VERSION, OK], 3), (seen, taken)
    print(f"{version}, followers thawed: NodeExists, BadVersion, 0; zxids taken: {taken}")
    for server in servers:
        server.kill()
P
