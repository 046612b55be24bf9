#!/usr/bin/env bash
# ZooKeeper's C client 3.8.0, multi-threaded (Debian 12, libzookeeper-mt2): every function that watches a znode is called for the session's
# events as well, at each cut and each reconnect, and is not used up by them: who takes any call for the change acts at a cut. In an outage
# `zoo_state` answers 0 between two attempts, which is the state of a closed handle, though the session lives. A synchronous call that
# is begun in an outage is answered with -4 (ZCONNECTIONLOSS) at the next attempt, though it was never sent. An expired handle stays so.
# Seen: silent network: noticed after 2.0 s of a session timeout of 3 s; a connection that ends: at once
#       four watches, a cut, a reconnect in the session: called 4 times connecting, 4 times connected; then changed, deleted, created, child
#       create whose reply was lost: -4, created True; begun in an outage: -4, sent False; state 0 in the outage True
#       expired: the session's watcher and a watch function told expired; new session False; get -9
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
unpack libzookeeper-mt2=3.8.0-11+deb12u2
export PYTHONPATH="$lib" PYTHONDONTWRITEBYTECODE=1
python3 - "$port" "$work"/root/usr/lib/*/libzookeeper_mt.so.2 <<'P'
import sys, time
from proxy import Proxy
from zoo import Client, load

zoo, proxy = load(sys.argv[2]), Proxy(int(sys.argv[1]))
other = Client(zoo, int(sys.argv[1]))
for path in "/data", "/there", "/parent":
    other.create(path)
client = Client(zoo, proxy.port, 3)
session = client.session()
assert client.delete("/missing") == -101
began = time.monotonic()
proxy.freeze()
client.until(lambda: client.state() != "connected")
silent = time.monotonic() - began
proxy.thaw()
client.until(lambda: client.state() == "connected")
began = time.monotonic()
proxy.cut()
client.until(lambda: client.state() != "connected")
ended = time.monotonic() - began
print(f"silent network: noticed after {silent:.1f} s of a session timeout of 3 s; a connection that ends: {'at once' if ended < 0.2 else ended}")
assert 1.7 < silent < 2.3 and ended < 0.2, (silent, ended)

client.until(lambda: client.state() == "connected")
client.watched.clear()
assert (client.get("/data"), client.exists("/there"), client.exists("/missing"), client.children("/parent")) == (0, 0, -101, 0)
proxy.cut()
client.until(lambda: client.watched.count(("session", "connected", "")) == 4)
at_cut = [client.watched.count(("session", state, "")) for state in ("connecting", "connected")]
other.set("/data"), other.delete("/there"), other.create("/missing"), other.create("/parent/child")
client.until(lambda: len(client.watched) >= 12)
fired = [kind for kind, _, _ in client.watched[8:]]
print(f"four watches, a cut, a reconnect in the session: called {at_cut[0]} times connecting, {at_cut[1]} times connected; then {', '.join(fired)}")
assert at_cut == [4, 4] and fired == ["changed", "deleted", "created", "child"] and client.session() == session, client.watched

lost = proxy.lose_reply("create", "/lost")
answer = client.create("/lost")
assert lost.wait(5)
created = other.exists("/lost") == 0
client.until(lambda: client.state() == "connected")
before = len(proxy.requests)
proxy.refuse()
client.until(lambda: client.state() != "connected")
late = client.create("/late")
states = set()
for _ in range(1000):
    states.add(client.state())
    time.sleep(0.001)
proxy.accept()
client.until(lambda: client.state() == "connected")
sent = ("create", "/late") in proxy.requests[before:]
print(f"create whose reply was lost: {answer}, created {created}; begun in an outage: {late}, sent {sent}; state 0 in the outage {'closed' in states}")
assert (answer, created, late, sent) == (-4, True, -4, False) and "closed" in states, (answer, created, late, sent, states)

client.watched.clear()
assert client.get("/data") == 0
proxy.expire()
client.until(lambda: client.state() == "expired" and ("session", "expired", "") in client.watched)
time.sleep(1)
told, new, answer = client.events[-1], client.session() != session, client.get("/data")
print(f"expired: the session's watcher and a watch function told {told[1]}; new session {new}; get {answer}")
assert told == ("session", "expired", "") and not new and answer == -9 and client.state() == "expired", (told, new, answer)
client.close(), other.close()
P
