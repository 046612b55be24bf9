#!/usr/bin/env bash
# ZooKeeper 3.6.3 (Apache's jar), 3.8.0 (Debian 12) and 3.9.5 (Apache's jar), put back to an older copy of their data: a client that has
# seen a later zxid is neither told that its session has expired nor served, not even in a new session: the connection is closed without
# an answer, for as long as others have not written enough. Once the zxids have passed what it saw it goes on in its session as if
# nothing had been, on a tree in which what it has read, and what it was told is written, never was.
# Seen: 3.6.3: old session: closed without an answer; new session: closed without an answer
#       3.6.3: after as many writes of another client: the same session is served, its acknowledged znode is not there
#       (3.8.0 and 3.9.5 the same)
. "$(dirname "$0")/lib/versions.sh"
get 3.6.3 3.9.5
python3 - <<'P'
import shutil
from zk import *

def connected(server, **session):
    try:
        return Client(server, timeout=60000, **session)
    except Lost:
        return None

for version in "3.6.3", "3.8.0", "3.9.5":
    server = Server(version)
    one = Client(server, timeout=60000)
    server.process.terminate()
    server.process.wait()
    shutil.copytree(server.data, server.data + ".copy")
    server.start()
    one = Client(server, timeout=60000, session=one.session, password=one.password, zxid=one.zxid)
    for _ in range(10):
        written = one.create("/written-", flags=2)
    server.kill()
    shutil.rmtree(server.data)
    shutil.copytree(server.data + ".copy", server.data)
    server.start()
    mine = {"session": one.session, "password": one.password, "zxid": one.zxid}
    assert connected(server, **mine) is None and connected(server, zxid=one.zxid) is None
    print(f"{version}: old session: closed without an answer; new session: closed without an answer")
    other = connected(server)
    while other.zxid < one.zxid:
        other.create("/other-", flags=2)
    again = connected(server, **mine)
    assert again.session == one.session and again.stat(written) is None
    print(f"{version}: after as many writes of another client: the same session is served, its acknowledged znode is not there")
    server.kill()
P
