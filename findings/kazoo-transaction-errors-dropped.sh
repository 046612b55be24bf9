#!/usr/bin/env bash
# kazoo 2.11.0 (PyPI): a transaction that is used by `with`, as the documentation shows it, commits at the end and drops what the commit
# answers. That is where kazoo has a refusal: it raises nothing. So the block ends as if all was applied, and nothing is. LockingQueue
# uses it so: `put_all`, which "only succeeds if all entries where put into the queue", returns as ever where `put` raises.
# Seen: check of a wrong version and a write by `with`: no error, data old; by commit: BadVersionError, RuntimeInconsistency
#       LockingQueue whose znodes were removed: put NoNodeError, put_all of 2 no error, entries 0
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
pip_install kazoo==2.11.0
python3 -W ignore - "$port" <<'P'
import logging, sys
from kazoo.client import KazooClient
from kazoo.exceptions import KazooException

def answer(call):
    try:
        call()
        return "no error"
    except KazooException as error:
        return type(error).__name__

def fill(transaction):
    transaction.check("/data", 7), transaction.set_data("/data", b"new")

def within():
    with zk.transaction() as transaction:
        fill(transaction)

logging.disable()
zk = KazooClient(f"127.0.0.1:{sys.argv[1]}")
zk.start()
zk.create("/data", b"old")
seen, data = answer(within), zk.get("/data")[0].decode()
transaction = zk.transaction()
fill(transaction)
results = ", ".join(type(result).__name__ for result in transaction.commit())
print(f"check of a wrong version and a write by `with`: {seen}, data {data}; by commit: {results}")
assert (seen, data, results) == ("no error", "old", "BadVersionError, RuntimeInconsistency"), (seen, data, results)
queue = zk.LockingQueue("/queue")
queue.put(b"one")
zk.delete("/queue", recursive=True)
one, many = answer(lambda: queue.put(b"two")), answer(lambda: queue.put_all([b"three", b"four"]))
entries = len(zk.get_children("/queue/entries")) if zk.exists("/queue/entries") else 0
print(f"LockingQueue whose znodes were removed: put {one}, put_all of 2 {many}, entries {entries}")
assert (one, many, entries) == ("NoNodeError", "no error", 0), (one, many, entries)
zk.stop()
P
