#!/usr/bin/env bash
# kazoo 2.11.0 (PyPI): kazoo sets no watch again after a reconnect: at a cut each watch function is called with an event
# of type NONE and forgotten, before the client has connected again. What changes during the cut and after it is not reported; a watch
# has to be set again by who set it, with a read. Its own DataWatch and ChildrenWatch do that. (When it pings is drawn.)
# Seen: silent network: noticed after 1.7 s of a session timeout of 3 s; a connection that ends: at once
#       four watches, a cut, a reconnect in the session: called with NONE, NONE, NONE, NONE; set again 0; then each changed: called 0 times
#       create whose reply was lost: ConnectionLoss, sent 1 time
#       expired: the listener SUSPENDED, LOST, CONNECTED; a watch function NONE; new session True
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
pip_install kazoo==2.11.0
python3 -W ignore - "$port" <<'P'
import logging, sys, time
from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from proxy import Proxy

logging.disable()
proxy = Proxy(int(sys.argv[1]))

def until(call):
    for _ in range(1000):
        if call():
            return
        time.sleep(0.01)
    raise AssertionError("not within 10 s")

def answer(call, *args):
    try:
        return call(*args)
    except KazooException as error:
        return type(error).__name__

other = KazooClient(f"127.0.0.1:{sys.argv[1]}")
other.start()
for path in "/data", "/there", "/parent":
    other.create(path)
states, zk = [], KazooClient(f"127.0.0.1:{proxy.port}", timeout=3)
zk.add_listener(states.append)
zk.start()
zk.exists("/")
began = time.monotonic()
proxy.freeze()
until(lambda: not zk.connected)
silent = time.monotonic() - began
proxy.thaw()
until(lambda: zk.connected)
zk.retry(zk.exists, "/")
began = time.monotonic()
proxy.cut()
until(lambda: not zk.connected)
ended = time.monotonic() - began
print(f"silent network: noticed after {silent:.1f} s of a session timeout of 3 s; a connection that ends: {'at once' if ended < 0.2 else ended}")
assert 1.1 < silent < 2.5 and ended < 0.2, (silent, ended)

until(lambda: zk.connected)
session, events = zk.client_id, []
zk.get("/data", watch=events.append), zk.exists("/there", watch=events.append), zk.exists("/missing", watch=events.append)
zk.get_children("/parent", watch=events.append)
proxy.cut()
until(lambda: len(events) == 4)
until(lambda: zk.connected)
told = [event.type for event in events]
other.set("/data", b"x"), other.delete("/there"), other.create("/missing"), other.create("/parent/child")
zk.sync("/"), time.sleep(1)
again = [name for name, _ in proxy.requests].count("setWatches")
print(f"four watches, a cut, a reconnect in the session: called with {', '.join(told)}; set again {again}; then each changed: called {len(events) - 4} times")
assert told == ["NONE"] * 4 and again == 0 and len(events) == 4 and zk.client_id == session, (events, again)

lost = proxy.lose_reply("create", "/lost")
seen = answer(zk.create, "/lost")
assert lost.wait(5)
sent = proxy.requests.count(("create", "/lost"))
print(f"create whose reply was lost: {seen}, sent {sent} time")
assert (seen, sent) == ("ConnectionLoss", 1), (seen, sent)

until(lambda: zk.connected)
zk.retry(zk.exists, "/")
states.clear()
session, events = zk.client_id, []
zk.get("/data", watch=events.append)
proxy.expire()
until(lambda: zk.connected and zk.client_id != session)
zk.retry(zk.exists, "/")
until(lambda: len(states) == 3)
print(f"expired: the listener {', '.join(states)}; a watch function {', '.join(event.type for event in events)}; new session True")
assert states == ["SUSPENDED", "LOST", "CONNECTED"] and [event.type for event in events] == ["NONE"], (states, events)
zk.stop(), other.stop()
P
