#!/usr/bin/env bash
# aiozk 0.32.0 (PyPI): by default a request is sent again, without limit, when the connection was reset before its reply came, whatever it
# does. The caller is told nothing of it. What was applied the first time is answered as if another client had done it: a create with
# NodeExists, a delete with NoNode, a conditional write with BadVersion; a sequential create leaves two znodes and names one. Counter
# takes that BadVersion for another's change and adds once more. (With a FIN in place of the reset the answer is a TimeoutError, late.)
# Seen: reply lost: create NodeExists, delete NoNode, set at the right version BadVersion, sequential create 2 znodes
#       Counter: 1 added with the reply lost: 2
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
pip_install aiozk==0.32.0
python3 -W ignore - "$port" <<'P'
import asyncio, logging, sys
from aiozk import ZKClient, exc
from proxy import Proxy

async def main():
    proxy = Proxy(int(sys.argv[1]))
    client = ZKClient(f"127.0.0.1:{proxy.port}")
    await client.start()

    async def lost(name, path, call):
        event = proxy.lose_reply(name, path, reset=True)
        try:
            answer = await asyncio.wait_for(call, 20)
        except exc.ZKError as error:
            answer = type(error).__name__
        assert event.is_set(), name
        return answer

    create = await lost("create2", "/a", client.create("/a", b"x"))
    delete = await lost("delete", "/a", client.delete("/a", force=True))
    await client.create("/b", b"x")
    version = await lost("setData", "/b", client.set("/b", b"y", 0))
    await client.ensure_path("/c")
    await lost("create2", "/c/", client.create("/c/n-", sequential=True))
    number = len(await client.get_children("/c"))
    print(f"reply lost: create {create}, delete {delete}, set at the right version {version}, sequential create {number} znodes")
    assert (create, delete, version, number) == ("NodeExists", "NoNode", "BadVersion", 2), (create, delete, version, number)
    counter = client.recipes.Counter("/counter")
    await counter.start()
    await lost("setData", "/counter", counter.incr())
    value = await counter.get_value()
    print(f"Counter: 1 added with the reply lost: {value}")
    assert value == 2, value
    await client.close()

logging.disable()
asyncio.run(main())
P
