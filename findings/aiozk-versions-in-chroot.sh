#!/usr/bin/env bash
# aiozk 0.32.0 (PyPI): `set_data` and `delete` send the version that the client last saw, so that a change of another client in between
# is answered with BadVersion, as their documentation has it. In a client with a chroot they send none: the versions are kept by the path
# below the chroot and looked up by the whole path. The other's change is overwritten without a word. `set_acl` sends, for the version of
# the ACL, the version of the data: BadVersion after any write of data, though the ACL was never changed.
# Seen: changed by another since it was read: without a chroot set_data BadVersion, delete BadVersion; with one: applied, applied
#       set_acl of a znode whose ACL never changed, data written once: BadVersion
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
pip_install aiozk==0.32.0
python3 -W ignore - "$port" <<'P'
import asyncio, logging, sys
from aiozk import ACL, ZKClient, exc

async def answer(call):
    try:
        await call
        return "applied"
    except exc.ZKError as error:
        return type(error).__name__

async def main():
    server = f"127.0.0.1:{sys.argv[1]}"
    plain, rooted, other = ZKClient(server), ZKClient(server, chroot="/app"), ZKClient(server)
    for client in plain, rooted, other:
        await client.start()
    await other.ensure_path("/app")

    async def concurrent(client, root):
        await client.create("/znode", b"0")
        await client.get("/znode")
        await other.set_data(root + "/znode", b"other", force=True)
        written = await answer(client.set_data("/znode", b"mine"))
        await client.get("/znode")
        await other.set_data(root + "/znode", b"other", force=True)
        return written, await answer(client.delete("/znode"))

    without, within = await concurrent(plain, ""), await concurrent(rooted, "/app")
    print("changed by another since it was read: without a chroot set_data {}, delete {}; with one: {}, {}".format(*without, *within))
    assert without == ("BadVersion", "BadVersion") and within == ("applied", "applied"), (without, within)
    await plain.create("/acl", b"0")
    await plain.set_data("/acl", b"1")
    await plain.get("/acl")
    seen = await answer(plain.set_acl("/acl", [ACL.make("world", "anyone", read=True, write=True, create=True, delete=True, admin=True)]))
    print(f"set_acl of a znode whose ACL never changed, data written once: {seen}")
    assert seen == "BadVersion", seen
    for client in plain, rooted, other:
        await client.close()

logging.disable()
asyncio.run(main())
P
