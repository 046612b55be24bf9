#!/usr/bin/env bash
# aiozk 0.32.0 (PyPI): the end of an idle connection, by FIN or by RST, is noticed by nothing but the heartbeat's time-out, a whole session
# timeout after the last request; a request that is under way when a FIN comes waits for that, too, and is answered with TimeoutError. So
# a cut of a moment lasts about as long as the session. After each reconnect all watches for data and children fire, also of what has not
# changed, and are used up by that: they are set again as from before the first transaction. Those for a deletion are not set again at all.
# Seen: noticed at a session timeout of 3 s: silent network after 3.0 s, idle connection ended by FIN 3.0 s, by RST 3.0 s
#       a cut, a reconnect in the session, nothing changed: fired: changed, child; then each path changed: created, not deleted
#       create whose reply was lost: by FIN TimeoutError after 3.0 s, sent 1 time; by RST NodeExists at once, sent 2 times
#       expired: suspended, lost, then a new session; a request in between TimeoutError; watches set again in it, fired: changed
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
pip_install aiozk==0.32.0
python3 -W ignore - "$port" <<'P'
import asyncio, logging, sys, time
from aiozk import WatchEvent, ZKClient, exc
from proxy import Proxy

proxy = Proxy(int(sys.argv[1]))
KINDS = {WatchEvent.DATA_CHANGED: "changed", WatchEvent.DELETED: "deleted", WatchEvent.CREATED: "created", WatchEvent.CHILDREN_CHANGED: "child"}

async def answer(call):
    try:
        return await asyncio.wait_for(call, 20)
    except exc.ZKError as error:
        return type(error).__name__

async def main():
    other, client = ZKClient(f"127.0.0.1:{sys.argv[1]}"), ZKClient(f"127.0.0.1:{proxy.port}", session_timeout=3)
    await other.start(), await client.start()
    for path in "/data", "/there", "/parent":
        await other.create(path)

    async def noticed(fault):
        await client.exists("/")
        began = time.monotonic()
        fault()
        await asyncio.wait_for(client.session.state.wait_for("suspended", "lost"), 20)
        return time.monotonic() - began

    silent = await noticed(proxy.freeze)
    proxy.thaw()
    await client.session.state.wait_for("connected")
    await client.exists("/")
    ended = await noticed(proxy.cut)
    await client.session.state.wait_for("connected")
    await client.exists("/")
    reset = await noticed(lambda: proxy.cut(reset=True))
    await client.session.state.wait_for("connected")
    print(f"noticed at a session timeout of 3 s: silent network after {silent:.1f} s, idle connection ended by FIN {ended:.1f} s, by RST {reset:.1f} s")
    assert all(2.8 < seconds < 3.5 for seconds in (silent, ended, reset)), (silent, ended, reset)

    await client.exists("/")
    session, fired = client.session.session_id, []
    for kind, path in (WatchEvent.DATA_CHANGED, "/data"), (WatchEvent.DELETED, "/there"), (WatchEvent.CREATED, "/missing"), (WatchEvent.CHILDREN_CHANGED, "/parent"):
        client.wait_for_events([kind], path).add_done_callback(lambda _, kind=kind: fired.append(KINDS[kind]))
    await client.get("/data", watch=True), await client.exists("/there", watch=True), await client.exists("/missing", watch=True)
    await client.get_children("/parent", watch=True)
    proxy.cut(reset=True)
    await client.exists("/")
    await asyncio.sleep(1)
    unchanged = list(fired)
    await other.set_data("/data", b"x", force=True), await other.delete("/there", force=True)
    await other.create("/missing"), await other.create("/parent/child")
    await asyncio.sleep(1)
    then = fired[len(unchanged):]
    print(f"a cut, a reconnect in the session, nothing changed: fired: {', '.join(unchanged)}; then each path changed: {', '.join(then)}, not deleted")
    assert (unchanged, then) == (["changed", "child"], ["created"]) and client.session.session_id == session, fired

    results = []
    for reset in False, True:
        path = f"/lost-{reset}"
        lost = proxy.lose_reply("create2", path, reset=reset)
        began = time.monotonic()
        answered = await answer(client.create(path))
        assert lost.is_set()
        results.append((answered, time.monotonic() - began, proxy.requests.count(("create2", path))))
        await client.exists("/")

    (fin, after, once), (rst, at_once, twice) = results
    print(f"create whose reply was lost: by FIN {fin} after {after:.1f} s, sent {once} time; by RST {rst} at once, sent {twice} times")
    assert (fin, once, rst, twice) == ("TimeoutError", 1, "NodeExists", 2) and 2.5 < after < 3.5 and at_once < 1, results

    session, states, fired = client.session.session_id, [], []
    client.wait_for_events([WatchEvent.DATA_CHANGED], "/data").add_done_callback(lambda _: fired.append("changed"))
    await client.get("/data", watch=True)
    for state in "suspended", "lost":
        client.session.state.wait_for(state).add_done_callback(lambda _, state=state: states.append(state))
    await asyncio.get_running_loop().run_in_executor(None, proxy.expire)
    asked = await answer(client.exists("/"))
    for _ in range(2000):
        if client.session.state == "connected" and client.session.session_id not in (None, session) and fired:
            break
        await asyncio.sleep(0.01)
    new = client.session.session_id != session
    print(f"expired: {', '.join(states)}, then {'a new session' if new else 'the same session'}; a request in between {asked}; "
          f"watches set again in it, fired: {', '.join(fired)}")
    assert (states, asked, new, fired) == (["suspended", "lost"], "TimeoutError", True, ["changed"]), (states, asked, new, fired)
    await client.close(), await other.close()

logging.disable()
asyncio.run(main())
P
