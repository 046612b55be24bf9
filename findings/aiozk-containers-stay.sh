#!/usr/bin/env bash
# aiozk 0.32.0 (PyPI) with ZooKeeper 3.8.0: `create(container=True)`, and `ensure_path`, which asks for containers for every part of the
# path, make ordinary persistent znodes. The client sends the request of an ordinary create with the flag of containers; the server takes
# a container by the type of the request alone, and answers success. So nothing is ever removed: the base paths of locks, elections and
# parties stay. The same request with the type that ZooKeeper's own client uses makes a container. (Here the server looks every second.)
# Seen: each has had a child, 5 s after it went: create(container=True) there, ensure_path there, request of type createContainer gone
. "$(dirname "$0")/lib/zookeeper.sh"
export JAVA_TOOL_OPTIONS="-Dznode.container.checkIntervalMs=1000"
start_zookeeper
pip_install aiozk==0.32.0
python3 -W ignore - "$port" <<'P'
import asyncio, logging, sys
from aiozk import ZKClient, protocol

class CreateContainer(protocol.Create2Request):
    opcode = 19

class CreateContainerResponse(protocol.Create2Response):
    opcode = 19

async def main():
    client = ZKClient(f"127.0.0.1:{sys.argv[1]}")
    await client.start()
    await client.create("/create", container=True)
    await client.ensure_path("/ensure")
    request = CreateContainer(path="/container", data=b"", acl=client.default_acl)
    request.set_flags(container=True)
    await client.send(request)
    paths = "/create", "/ensure", "/container"
    for path in paths:
        await client.create(path + "/child")
        await client.delete(path + "/child", force=True)
    for _ in range(100):
        if not await client.exists("/container"):
            break
        await asyncio.sleep(0.1)
    await asyncio.sleep(5)
    seen = ["there" if await client.exists(path) else "gone" for path in paths]
    print("each has had a child, 5 s after it went: create(container=True) {}, ensure_path {}, request of type createContainer {}".format(*seen))
    assert seen == ["there", "there", "gone"], seen
    await client.close()

logging.disable()
asyncio.run(main())
P
