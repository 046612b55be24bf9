#!/usr/bin/env bash
# kazoo 2.11.0 (PyPI), Election and Lock: `cancel` of a contender that leads already does not interrupt its term, as documented, and is kept
# for the next one: the next `run` stands, gives up at once, and returns without an error and without having led, though there is no other
# candidate. A `cancel` while nothing is under way does the same. Of a Lock, the next `acquire` raises CancelledError. The one after works.
# Seen: cancel in the first term: the first run led; the second, no other candidate: returned after 0.0 s without leading; the third led
#       Lock, cancel before acquire: acquire CancelledError, again True
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
pip_install kazoo==2.11.0
python3 -W ignore - "$port" <<'P'
import logging, sys, time
from kazoo.client import KazooClient
from kazoo.exceptions import CancelledError

logging.disable()
zk = KazooClient(f"127.0.0.1:{sys.argv[1]}")
zk.start()
election, terms = zk.Election("/election"), []
election.run(lambda: (terms.append(1), election.cancel()))
began = time.monotonic()
election.run(terms.append, 2)
took = time.monotonic() - began
election.run(terms.append, 3)
print(f"cancel in the first term: the first run led; the second, no other candidate: returned after {took:.1f} s without leading; the third led")
assert terms == [1, 3] and took < 1, (terms, took)
lock = zk.Lock("/lock")
lock.cancel()
try:
    first = lock.acquire()
except CancelledError:
    first = "CancelledError"
again = lock.acquire()
print(f"Lock, cancel before acquire: acquire {first}, again {again}")
assert (first, again) == ("CancelledError", True), (first, again)
zk.stop()
P
