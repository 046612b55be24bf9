#!/usr/bin/env bash
# ZooKeeper 3.6.3 (Apache's jar), 3.8.0 (Debian 12) and 3.9.5 (Apache's jar), three servers: a session that has moved from a follower to another server
# stays in use at the first one, as long as nothing is written there: reads on the old connection are answered, its watches fire, and its
# pings keep the session alive, ephemeral znodes and all, after the new connection is gone. Only a write, which goes to the leader, ends the old
# connection, without an answer. Where the old connection is to the leader, the first read does. The programmer's guide says of two
# clients with the id and password of one session that "the second client will be disconnected".
# Seen: 3.6.3: moved from a follower: read answered, watch fired, session of 4 s kept by pings of the old connection for 9 s, then a write there: no answer, connection ended; moved from the leader: read not answered
#       3.8.0: moved from a follower: read answered, watch fired, session of 4 s kept by pings of the old connection for 9 s, then a write there: no answer, connection ended; moved from the leader: read not answered
#       3.9.5: moved from a follower: read answered, watch fired, session of 4 s kept by pings of the old connection for 9 s, then a write there: no answer, connection ended; moved from the leader: read not answered
. "$(dirname "$0")/lib/versions.sh"
get 3.6.3 3.9.5
python3 - <<'P'
from zk import *


def answered(call):
    try:
        call()
        return True
    except Lost:
        return False


def connected(target, old):
    """The session of `old` on another server, if that one has seen as much."""
    try:
        return Client(target, timeout=4000, session=old.session, password=old.password, zxid=old.zxid)
    except Lost:
        return None


for version in "3.6.3", "3.8.0", "3.9.5":
    servers = ensemble([version] * 3)
    leader = next(server for server in servers if server.mode() == "leader")
    first, second = [server for server in servers if server is not leader]
    other = Client(leader)

    def moved(origin, target, path):
        """The old connection and the new one of a session of 4 s with an ephemeral znode."""
        old = Client(origin, timeout=4000)
        old.create(path, flags=1)
        old.stat(path, watch=True)
        new = until("the other server is as far", lambda: connected(target, old))
        assert new.session == old.session
        return old, new

    old, new = moved(first, second, "/member")
    new.set("/member", b"new")
    new.drop()
    read = answered(lambda: old.get("/member"))
    fired = until("the watch fires", lambda: ("changed", "/member") in old.heard())
    end = time.monotonic() + 9
    while time.monotonic() < end:
        old.ping()
        time.sleep(0.3)
    kept = other.stat("/member") is not None and old.get("/member") == b"new"
    write = answered(lambda: old.set("/member", b"old"))
    until("the session is over once nobody pings", lambda: other.stat("/member") is None)

    old, new = moved(leader, first, "/led")
    led = answered(lambda: old.get("/led"))
    new.close()
    print(f"{version}: moved from a follower: read {'answered' if read else 'not answered'}, watch {'fired' if fired else 'did not fire'}, session of 4 s "
          f"{'kept' if kept else 'not kept'} by pings of the old connection for 9 s, then a write there: {'answered' if write else 'no answer, connection ended'}; "
          f"moved from the leader: read {'answered' if led else 'not answered'}")
    assert (read, fired, kept, write, led) == (True, True, True, False, False), (read, fired, kept, write, led)
    for server in servers:
        server.kill()
P
