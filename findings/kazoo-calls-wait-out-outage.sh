#!/usr/bin/env bash
# kazoo 2.11.0 (PyPI): what is asked while the client has no connection waits in its queue until there is one, without a limit and without
# an error; ConnectionLoss is for what was under way at the cut. Only a server tells the client of its expiry, so it stays SUSPENDED, never
# LOST, however long no server is to be reached. So an `acquire` with `timeout=1` or `blocking=False` of a free Lock takes as long as the
# outage, which may be longer than the session timeout, and the client's pause before its next attempt to connect.
# Seen: under way at the cut: ConnectionLoss; 4 s later, at a session timeout of 2 s: SUSPENDED
#       begun in the outage: get, acquire(blocking=False), acquire(timeout=1): none answered in 4 s
#       servers back: get SessionExpiredError, acquire(blocking=False) True, acquire(timeout=1) False
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
pip_install kazoo==2.11.0
python3 -W ignore - "$port" <<'P'
import logging, sys, threading, time
from kazoo.client import KazooClient
from proxy import Proxy

logging.disable()
proxy = Proxy(int(sys.argv[1]))
zk = KazooClient(f"127.0.0.1:{proxy.port}", timeout=2)
zk.start()
answers = {}

def ask(name, call, *args, **options):
    def run():
        try:
            answers[name] = call(*args, **options)
        except Exception as error:
            answers[name] = type(error).__name__
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread

for path in "/a", "/b":
    zk.ensure_path(path)
lost = proxy.lose_reply("getData", "/a")
ask("under way", zk.get, "/a").join(5)
assert lost.is_set()
proxy.refuse()
while zk.connected:
    time.sleep(0.01)
threads = [ask("get", zk.get, "/a"), ask("acquire(blocking=False)", zk.Lock("/a").acquire, blocking=False),
           ask("acquire(timeout=1)", zk.Lock("/b").acquire, timeout=1)]
calls = "get", "acquire(blocking=False)", "acquire(timeout=1)"
time.sleep(4)
print(f"under way at the cut: {answers['under way']}; 4 s later, at a session timeout of 2 s: {zk.state}")
assert (answers["under way"], zk.state) == ("ConnectionLoss", "SUSPENDED"), (answers, zk.state)
answered = [name for name in calls if name in answers]
print(f"begun in the outage: {', '.join(calls)}: {', '.join(answered) or 'none'} answered in 4 s")
assert not answered, answered
proxy.accept()
for thread in threads:
    thread.join(20)
print("servers back: " + ", ".join(f"{name} {answers.get(name)}" for name in calls))
assert [answers.get(name) for name in calls] == ["SessionExpiredError", True, False], answers
zk.stop()
P
