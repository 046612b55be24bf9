#!/usr/bin/env bash
# ZooKeeper 3.6.3 (Apache's jar), 3.8.0 (Debian 12) and 3.9.5 (Apache's jar), three servers, sessions of 4 s at the two followers, whose clients send a
# ping every 0.3 s and are answered: a leader that stands still for 6 s, less than syncLimit allows, stays leader, and as soon as it runs again
# ends such sessions, though neither their clients nor their servers ever stopped. Its SessionTracker compares with its own clock what it
# heard last; the followers tell it of their clients in answers to its pings only, and it sent none. Which sessions outlive it is a race with
# an answer that lies in its socket, most of them do not. Kill the leader for good, and no session ends: a new leader begins with the
# whole timeout for each. The programmer's guide has a session expire "when the cluster does not hear from the client within the specified
# session timeout".
# Seen: 3.6.3: the leader paused three times for 6 s: it leads as before, pings answered all the time, sessions at the followers ended: at least two of six; killed: another leader, sessions ended: 0 of 2
#       3.8.0: the leader paused three times for 6 s: it leads as before, pings answered all the time, sessions at the followers ended: at least two of six; killed: another leader, sessions ended: 0 of 2
#       3.9.5: the leader paused three times for 6 s: it leads as before, pings answered all the time, sessions at the followers ended: at least two of six; killed: another leader, sessions ended: 0 of 2
. "$(dirname "$0")/lib/versions.sh"
get 3.6.3 3.9.5
python3 - <<'P'
import threading
from zk import *

PAUSE = 6


class Holder:
    """A client with an ephemeral znode in a session of 4 s, which pings, and connects again when its connection ends."""

    def __init__(self, server, path):
        self.server, self.path = server, path
        self.client = Client(server, timeout=4000)
        self.client.create(path, flags=1)
        self.lives, self.longest = True, 0
        self.thread = threading.Thread(target=self.ping, daemon=True)
        self.thread.start()

    def ping(self):
        while self.lives and self.client.session:
            try:
                began = time.monotonic()
                self.client.ping()
                self.longest = max(self.longest, time.monotonic() - began)
                time.sleep(0.3)
            except (Lost, OSError):
                self.connect()

    def connect(self):
        old = self.client
        try:
            self.client = Client(self.server, timeout=4000, session=old.session, password=old.password, zxid=old.zxid)
        except (Lost, OSError):
            time.sleep(0.1)

    def end(self):
        self.lives = False
        self.thread.join()


def left(server, holders):
    """How many of the znodes are there after the next write."""
    client = Client(server, wait=30)
    client.create("/mark")
    client.delete("/mark")
    return sum(client.stat(holder.path) is not None for holder in holders)


for version in "3.6.3", "3.8.0", "3.9.5":
    servers = ensemble([version] * 3)
    leader = next(server for server in servers if server.mode() == "leader")
    others = [server for server in servers if server is not leader]
    ended, longest = 0, 0
    for pause in range(3):
        holders = [Holder(server, f"/paused{pause}{n}") for n, server in enumerate(others)]
        leader.freeze()
        time.sleep(PAUSE)
        longest = max(longest, *(holder.longest for holder in holders))
        leader.thaw()
        # What it ends it ends at once; what it does not lives on.
        deadline = time.monotonic() + 3
        while left(leader, holders) and time.monotonic() < deadline:
            time.sleep(0.1)
        ended += 2 - left(leader, holders)
        for holder in holders:
            holder.end()
        assert leader.mode() == "leader" and [server.mode() for server in others] == ["follower"] * 2

    holders = [Holder(server, f"/killed{n}") for n, server in enumerate(others)]
    leader.kill()
    time.sleep(PAUSE)
    new = until("a new leader", lambda: next((server for server in others if server.mode() == "leader"), None))
    killed = 2 - left(new, holders)
    for holder in holders:
        holder.end()
    print(f"{version}: the leader paused three times for {PAUSE} s: it leads as before, pings {'answered all the time' if longest < 1 else longest}, sessions "
          f"at the followers ended: {'at least two of six' if ended >= 2 else ended}; killed: another leader, sessions ended: {killed} of 2")
    assert ended >= 2 and killed == 0 and longest < 1, (ended, killed, longest)
    for server in others:
        server.kill()
P
