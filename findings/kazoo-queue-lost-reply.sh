#!/usr/bin/env bash
# kazoo 2.11.0 (PyPI), Queue: `get` reads the entry and deletes it, and repeats both after a lost connection. When the delete was applied
# and its reply lost, the repetition finds no entry, takes that for another consumer's doing and goes on with the next one. No error is
# raised, so the caller never learns that an item is gone, though the documentation has an item lost "if an error occurs" only.
# Seen: put: one, two; get with the reply of its delete lost: two; get again: None; entries left: 0
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
pip_install kazoo==2.11.0
python3 -W ignore - "$port" <<'P'
import logging, sys
from kazoo.client import KazooClient
from proxy import Proxy

logging.disable()
proxy = Proxy(int(sys.argv[1]))
zk = KazooClient(f"127.0.0.1:{proxy.port}")
zk.start()
queue = zk.Queue("/queue")
queue.put(b"one"), queue.put(b"two")
lost = proxy.lose_reply("delete", "/queue/")
first = queue.get().decode()
assert lost.wait(5)
second = queue.get()
print(f"put: one, two; get with the reply of its delete lost: {first}; get again: {second}; entries left: {len(queue)}")
assert (first, second, len(queue)) == ("two", None, 0), (first, second, len(queue))
zk.stop()
P
