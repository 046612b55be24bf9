#!/usr/bin/env bash
# Crate zookeeper 0.8.0: a silent network is not noticed at all while it lasts: a ping that is not answered ends nothing, and no request has a
# time-out. No watch is set again after a reconnect, and none is told of a cut or an expiry. A ping is sent after idleness only, and the age of the
# last one decides at a cut whether the session is over: a client that was asked for something all the time, for longer than its session
# timeout, is `Closed` for good by a cut of a moment, while its session and its ephemeral znodes are there.
# Seen: silent network: noticed: not in 8 s of a session timeout of 3 s; a request meanwhile: not answered; thawed: Closed
#       a connection that ends: at once, connected again; three watches told nothing, then each changed: nothing in 3 s
#       create whose reply was lost: Err(ConnectionLoss), sent 1 time; begun in an outage: Err(ConnectionLoss)
#       expired while idle: Connecting, NotConnected, Connecting, Connected, a new session; a watch: nothing
#       asked without a pause for 5 s, then a cut of a moment: Closed; its ephemeral znode at that time: there
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
build_rust 'zookeeper = "=0.8.0"' <<'R'
use std::io::BufRead;
use std::sync::Arc;
use std::time::Duration;
use zookeeper::{Acl, CreateMode, WatchedEvent, ZooKeeper};

/// Writes each state, and carries out the commands on stdin, each in a thread of its own.
fn main() {
    let server = std::env::args().nth(1).unwrap();
    let client = Arc::new(ZooKeeper::connect(&server, Duration::from_secs(3), |_: WatchedEvent| {}).unwrap());
    client.add_listener(|state| println!("state {state:?}"));
    for line in std::io::stdin().lock().lines() {
        let (line, client) = (line.unwrap(), Arc::clone(&client));
        let act = move || match line.as_str() {
            "watch" => {
                let told = |name: &'static str| move |event: WatchedEvent| println!("watch {name} {:?}", event.event_type);
                client.get_data_w("/data", told("data")).unwrap();
                client.exists_w("/there", told("there")).unwrap();
                client.get_children_w("/parent", told("children")).unwrap();
                println!("watching");
            }
            "exists" => println!("exists {:?}", client.exists("/", false).map(|stat| stat.is_some())),
            path => {
                let mode = if path.ends_with("ephemeral") { CreateMode::Ephemeral } else { CreateMode::Persistent };
                println!("create {:?}", client.create(path, Vec::new(), Acl::open_unsafe().clone(), mode));
            }
        };
        std::thread::spawn(act);
    }
    std::process::exit(0);
}
R
pip_install kazoo==2.11.0
python3 -W ignore - "$port" "$work/client" <<'P'
import logging, subprocess, sys, threading, time
from kazoo.client import KazooClient
from proxy import Proxy, Silent

logging.disable()
other = KazooClient(f"127.0.0.1:{sys.argv[1]}")
other.start()
for path in "/data", "/there", "/parent":
    other.create(path)

processes = []

class Client:
    def __init__(self):
        self.proxy, self.lines = Silent(int(sys.argv[1])), []
        self.process = subprocess.Popen([sys.argv[2], f"127.0.0.1:{self.proxy.port}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        processes.append(self.process)
        threading.Thread(target=lambda: [self.lines.append(line.strip()) for line in self.process.stdout], daemon=True).start()
        assert self.ask("exists", "exists") == "exists Ok(true)"

    def until(self, prefix, begin, seconds=10):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for line in self.lines[begin:]:
                if line.startswith(prefix):
                    return line
            time.sleep(0.005)

    def ask(self, command, prefix, seconds=10):
        begin = len(self.lines)
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.until(prefix, begin, seconds)

    def states(self, begin):
        return [line.split()[1] for line in self.lines[begin:] if line.startswith("state")]

client = Client()
begin = len(client.lines)
client.proxy.freeze()
asked = client.ask("exists", "exists", 8)
noticed = client.states(begin)
client.proxy.thaw()
client.until("state Closed", begin, 5)
after = client.states(begin)[-1]
print(f"silent network: noticed: {', '.join(noticed) or 'not in 8 s of a session timeout of 3 s'}; a request meanwhile: {asked or 'not answered'}; thawed: {after}")
assert (asked, noticed, after) == (None, [], "Closed"), (asked, client.lines)

client = Client()
client.ask("watch", "watching")
time.sleep(2.5)
begin, began = len(client.lines), time.monotonic()
client.proxy.cut()
client.until("state", begin)
ended = time.monotonic() - began
client.until("state Connected", begin)
told = [line for line in client.lines[begin:] if line.startswith("watch")]
other.set("/data", b"x"), other.delete("/there"), other.create("/parent/child")
late = client.until("watch", begin, 3)
print(f"a connection that ends: {'at once' if ended < 0.2 else ended}, {'connected again' if 'Connected' in client.states(begin) else client.states(begin)}; "
      f"three watches told {told or 'nothing'}, then each changed: {late or 'nothing in 3 s'}")
assert ended < 0.2 and "Connected" in client.states(begin) and not told and not late, client.lines

client = Client()
time.sleep(2.5)
lost = client.proxy.lose_reply("create", "/lost")
answer = client.ask("/lost", "create").removeprefix("create ")
sent = client.proxy.requests.count(("create", "/lost"))
client.proxy.refuse()
outage = (client.ask("/late", "create") or "no answer").removeprefix("create ")
client.proxy.accept()
print(f"create whose reply was lost: {answer}, sent {sent} time; begun in an outage: {outage}")
assert (answer, sent, outage) == ("Err(ConnectionLoss)", 1, "Err(ConnectionLoss)"), (answer, sent, outage)

client = Client()
other.create("/there")
client.ask("watch", "watching")
time.sleep(2.5)
begin, before = len(client.lines), client.proxy.session
client.proxy.expire()
client.until("state Connected", begin)
time.sleep(1)
watch = [line for line in client.lines[begin:] if line.startswith("watch")]
print(f"expired while idle: {', '.join(client.states(begin))}, {'a new session' if client.proxy.session != before else 'no new session'}; a watch: {watch or 'nothing'}")
assert client.states(begin) == ["Connecting", "NotConnected", "Connecting", "Connected"] and client.proxy.session != before and not watch, client.lines

client = Client()
assert client.ask("/busy-ephemeral", "create") == 'create Ok("/busy-ephemeral")'
busy = time.monotonic() + 5
while time.monotonic() < busy:
    client.ask("exists", "exists")
begin = len(client.lines)
client.proxy.cut()
client.until("state C", begin)
client.until("state Connected", begin, 2) or client.until("state Closed", begin, 1)
there = other.exists("/busy-ephemeral")
print(f"asked without a pause for 5 s, then a cut of a moment: {client.states(begin)[-1]}; its ephemeral znode at that time: {'there' if there else 'gone'}")
assert client.states(begin)[-1] == "Closed" and there, client.lines
for process in processes:
    process.kill()
other.stop()
P
