#!/usr/bin/env bash
# ZooKeeper's Java client 3.8.0 (Debian 12, libzookeeper-java), by its command line: what is asked in an outage is never sent and answered
# with ConnectionLoss when the next attempt to connect fails, the same as what was sent and lost its reply: it does not tell the two apart.
# An expired client stays so, and its command line goes on with "Not connected" to all that it is asked.
# Seen: silent network: Disconnected after 2.1 s of a session timeout of 3 s; a connection that ends: at once
#       four watches, a cut, a reconnect in the session: told nothing of znodes; then each changed: /data, /missing, /parent, /there
#       create whose reply was lost: ConnectionLoss, sent 1 time, created True
#       create in an outage: ConnectionLoss, sent 0 times
#       expired: Disconnected, Expired; asked afterwards: Not connected; new session False
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
unpack libcommons-cli-java=1.5.0-1
pip_install kazoo==2.11.0
python3 -W ignore - "$port" "$java/bin/java" "$jars:$work/root/usr/share/java/commons-cli.jar" <<'P'
import logging, subprocess, sys, threading, time
from kazoo.client import KazooClient
from proxy import Proxy

logging.disable()
proxy, other = Proxy(int(sys.argv[1])), KazooClient(f"127.0.0.1:{sys.argv[1]}")
other.start()
for path in "/data", "/there", "/parent":
    other.create(path)
client = subprocess.Popen([sys.argv[2], "-XX:+UseSerialGC", "-cp", sys.argv[3], "org.apache.zookeeper.ZooKeeperMain", "-server", f"127.0.0.1:{proxy.port}", "-timeout", "3000"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
lines = []
threading.Thread(target=lambda: [lines.append(line.strip()) for line in client.stdout], daemon=True).start()

def until(part, begin, number=1):
    """The lines from `begin` on that have this, once there are enough; an error after 15 s."""
    deadline = time.monotonic() + 15
    while True:
        found = [line for line in lines[begin:] if part in line]
        if len(found) >= number:
            return found
        assert time.monotonic() < deadline, (part, lines[begin:])
        time.sleep(0.005)

def ask(command, answer):
    begin = len(lines)
    client.stdin.write(command + "\n")
    client.stdin.flush()
    return until(answer, begin)[0]

def noticed(fault):
    """Seconds from the fault, which comes at once after an answer, until the client says that it has no connection."""
    ask("ls /parent", "[")
    begin, began = len(lines), time.monotonic()
    fault()
    until("state:Disconnected", begin)
    return time.monotonic() - began, begin

until("state:SyncConnected", 0)
silent, begin = noticed(proxy.freeze)
proxy.thaw()
until("state:SyncConnected", begin)
ended, begin = noticed(proxy.cut)
until("state:SyncConnected", begin)
print(f"silent network: Disconnected after {silent:.1f} s of a session timeout of 3 s; a connection that ends: "
      f"{'at once' if ended < 0.3 else ended}")
assert 1.6 < silent < 2.5 and ended < 0.3, (silent, ended)

ask("stat -w /data", "cZxid"), ask("stat -w /there", "cZxid"), ask("stat -w /missing", "not exist"), ask("ls -w /parent", "[")
session, begin = proxy.session, len(lines)
proxy.cut()
until("state:SyncConnected", begin)
ask("ls /parent", "[")
told = [line for line in lines[begin:] if "path:/" in line]
other.set("/data", b"x"), other.delete("/there"), other.create("/missing"), other.create("/parent/child")
fired = sorted(line.split("path:")[1] for line in until("path:/", begin, 4))
print(f"four watches, a cut, a reconnect in the session: told {', '.join(told) or 'nothing'} of znodes; then each changed: {', '.join(fired)}")
assert not told and fired == ["/data", "/missing", "/parent", "/there"] and proxy.session == session, (told, fired)

begin, lost = len(lines), proxy.lose_reply("create", "/lost")
answer = "ConnectionLoss" if "ConnectionLoss" in ask("create /lost", "/lost") else lines[begin:]
assert lost.wait(5)
until("state:SyncConnected", begin)
ask("ls /parent", "[")
sent, created = proxy.requests.count(("create", "/lost")), other.exists("/lost") is not None
print(f"create whose reply was lost: {answer}, sent {sent} time, created {created}")
assert (answer, sent, created) == ("ConnectionLoss", 1, True), (answer, sent, created)

begin = len(lines)
proxy.refuse()
until("state:Disconnected", begin)
answer = "ConnectionLoss" if "ConnectionLoss" in ask("create /late", "/late") else lines[begin:]
proxy.accept()
until("state:SyncConnected", begin)
ask("ls /parent", "[")
sent = proxy.requests.count(("create", "/late"))
print(f"create in an outage: {answer}, sent {sent} times")
assert (answer, sent) == ("ConnectionLoss", 0), (answer, sent)

begin = len(lines)
proxy.expire()
until("state:Expired", begin)
time.sleep(2)
states = [line.split("state:")[1].split()[0] for line in lines[begin:] if "state:" in line]
later = ask("ls /parent", "Not connected")
new = proxy.session != session
print(f"expired: {', '.join(states)}; asked afterwards: {later}; new session {new}")
assert states == ["Disconnected", "Expired"] and not new, (states, new)
client.kill(), other.stop()
P
