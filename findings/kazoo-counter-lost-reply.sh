#!/usr/bin/env bash
# kazoo 2.11.0 (PyPI), Counter: an addition is a read and a conditional write, and both are repeated after a lost connection. A write that
# was applied and whose reply was lost is counted twice: the version guards against other clients, not against the first attempt. The
# documentation promises atomic changes, and BadVersionError where one could not be made.
# Seen: 1 added with the reply lost: the counter is 2; pre_value 1, post_value 2
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
counter = zk.Counter("/counter")
lost = proxy.lose_reply("setData", "/counter")
counter += 1
assert lost.wait(5)
print(f"1 added with the reply lost: the counter is {counter.value}; pre_value {counter.pre_value}, post_value {counter.post_value}")
assert (counter.value, counter.pre_value, counter.post_value) == (2, 1, 2), counter.value
zk.stop()
P
