#!/usr/bin/env bash
# ZooKeeper's C client 3.8.0, multi-threaded (Debian 12, libzookeeper-mt2): when a `zoo_multi` is lost with the connection, the function
# returns -4 (ZCONNECTIONLOSS) and leaves the results of the single operations as they were: the 0 that the caller's array had is ZOK.
# Who reads the results sees every operation of a transaction succeed that may not have been applied at all. A multi that the server refuses
# does fill them in.
# Seen: refused by the server: -101, results 0 -101
#       applied, its reply lost: -4, results that were 7 before: 7 7
#       not sent, in an outage: -4, results of an array of zeros: 0 0
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
unpack libzookeeper-mt2=3.8.0-11+deb12u2
export PYTHONPATH="$lib" PYTHONDONTWRITEBYTECODE=1
python3 - "$port" "$work"/root/usr/lib/*/libzookeeper_mt.so.2 <<'P'
import ctypes, sys
from proxy import Proxy
from zoo import Client, load

class Result(ctypes.Structure):  # zoo_op_result_t
    _fields_ = [("err", ctypes.c_int), ("value", ctypes.c_char_p), ("valuelen", ctypes.c_int), ("stat", ctypes.c_void_p)]

class Op(ctypes.Structure):  # zoo_op_t: a type, and 64 bytes of a union
    _fields_ = [("type", ctypes.c_int), ("union", ctypes.c_uint64 * 8)]

def multi(create, delete, err):
    """A transaction of a create and a delete; what it returns, and what the results have that had `err` before."""
    ops, results, stat = (Op * 2)(), (Result * 2)(), ctypes.create_string_buffer(128)
    zoo.zoo_create_op_init(ctypes.byref(ops[0]), create, b"", 0, client.acl, 0, None, 0)
    zoo.zoo_delete_op_init(ctypes.byref(ops[1]), delete, -1)
    for result in results:
        result.err = err
    return zoo.zoo_multi(client.handle, 2, ops, results), results[0].err, results[1].err

zoo, proxy = load(sys.argv[2]), Proxy(int(sys.argv[1]))
client = Client(zoo, proxy.port)
client.create("/there")
seen = multi(b"/a", b"/missing", 7)
print("refused by the server: {}, results {} {}".format(*seen))
assert seen == (-101, 0, -101), seen
lost = proxy.lose_reply("multi")
seen = multi(b"/b", b"/there", 7)
assert lost.wait(5)
client.until(lambda: client.state() == "connected")
assert client.exists("/b") == 0 and client.exists("/there") == -101
print("applied, its reply lost: {}, results that were 7 before: {} {}".format(*seen))
assert seen == (-4, 7, 7), seen
client.create("/there")
proxy.refuse()
client.until(lambda: client.state() != "connected")
seen = multi(b"/c", b"/there", 0)
proxy.accept()
client.until(lambda: client.state() == "connected")
assert client.exists("/c") == -101 and client.exists("/there") == 0
print("not sent, in an outage: {}, results of an array of zeros: {} {}".format(*seen))
assert seen == (-4, 0, 0), seen
client.close()
P
