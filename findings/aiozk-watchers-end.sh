#!/usr/bin/env bash
# aiozk 0.32.0 (PyPI), DataWatcher and ChildrenWatcher: once a path was not there the watcher is done with it. It calls back with NoNode
# once and never again, when the znode comes (back) neither; a callback that is added later for the same path is not called at all, not
# even with what is there. So a group that was removed and made again is not seen any more. Only removing every callback of the path first
# helps. `DataWatcher(wait_for_create=True)` does go on, and changes the class: all other DataWatchers of the process do from then on.
# A callback that is not removed in time keeps `asyncio.run` from ending: the watcher's loop goes on when its task is cancelled.
# Seen: znode deleted and created again, its data: b'old', NoNode; a later callback: nothing; its children: [], NoNode; a later one: nothing
#       after a DataWatcher(wait_for_create=True) was made: an ordinary one of a path that is created later: NoNode, b'new'
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
pip_install aiozk==0.32.0
python3 -W ignore - "$port" <<'P'
import asyncio, logging, sys
from aiozk import ZKClient, exc

async def main():
    client = ZKClient(f"127.0.0.1:{sys.argv[1]}")
    await client.start()
    await client.ensure_path("/parent")
    async def again(watcher, path):
        """What the first callback got after the znode was deleted and created again, and what a later one gets."""
        first, second = [], []
        show = lambda seen: lambda value: seen.append("NoNode" if value is exc.NoNode else str(value))
        await client.create(path, b"old")
        callbacks = show(first), show(second)
        watcher.add_callback(path, callbacks[0])
        await asyncio.sleep(0.5)
        await client.delete(path, force=True)
        await asyncio.sleep(0.5)
        await client.create(path, b"new")
        await asyncio.sleep(0.5)
        watcher.add_callback(path, callbacks[1])
        await asyncio.sleep(1)
        for callback in callbacks:
            watcher.remove_callback(path, callback)
        return first, second
    data = await again(client.recipes.DataWatcher(), "/parent/data")
    children = await again(client.recipes.ChildrenWatcher(), "/parent/children")
    print("znode deleted and created again, its data: {}; a later callback: {}; its children: {}; a later one: {}".format(
        *(", ".join(seen) or "nothing" for seen in (*data, *children))))
    assert data == (["b'old'", "NoNode"], []) and children == (["[]", "NoNode"], []), (data, children)
    client.recipes.DataWatcher(wait_for_create=True)
    late, watcher = [], client.recipes.DataWatcher()
    callback = lambda value: late.append("NoNode" if value is exc.NoNode else str(value))
    watcher.add_callback("/parent/late", callback)
    await asyncio.sleep(0.5)
    await client.create("/parent/late", b"new")
    await asyncio.sleep(1)
    watcher.remove_callback("/parent/late", callback)
    print(f"after a DataWatcher(wait_for_create=True) was made: an ordinary one of a path that is created later: {', '.join(late)}")
    assert late == ["NoNode", "b'new'"], late
    await client.close()

logging.disable()
asyncio.run(main())
P
