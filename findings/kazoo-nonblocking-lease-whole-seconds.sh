#!/usr/bin/env bash
# kazoo 2.11.0 (PyPI), NonBlockingLease: the end of a lease is written in whole seconds, cut off. A lease of 2 s that begins 0.9 s
# into a second ends after 1.1 s for everybody else, though the documentation calls it exclusive for its duration where clocks are
# roughly synchronised (here both clients have one clock). A lease of less than a second is none: it may have ended when it begins.
# Seen: a lease of 2 s, begun 0.9 s into a second: another client obtained it after 1.1 s
#       a lease of 0.9 s, begun at the start of a second: another client obtained it in less than 0.3 s
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
pip_install kazoo==2.11.0
python3 -W ignore - "$port" <<'P'
import sys, time
from datetime import timedelta
from kazoo.client import KazooClient

def client():
    zk = KazooClient(f"127.0.0.1:{sys.argv[1]}")
    zk.start(timeout=10)
    return zk

def taken_after(path, duration, into):
    """Seconds after which the second client obtains a lease that the first one has obtained so far into a second."""
    now = time.time()
    time.sleep((into - now) % 1)
    began = time.monotonic()
    assert one.NonBlockingLease(path, timedelta(seconds=duration), identifier="one")
    while not other.NonBlockingLease(path, timedelta(seconds=duration), identifier="other"):
        time.sleep(0.01)
    return time.monotonic() - began

one, other = client(), client()
for zk in one, other:
    zk.ensure_path("/long"), zk.ensure_path("/short")
held = taken_after("/long", 2, 0.9)
print(f"a lease of 2 s, begun 0.9 s into a second: another client obtained it after {held:.1f} s")
assert 1.0 <= held < 1.4, held
held = taken_after("/short", 0.9, 0.0)
assert held < 0.3, held
print("a lease of 0.9 s, begun at the start of a second: another client obtained it in less than 0.3 s")
one.stop(), other.stop()
P
