#!/usr/bin/env bash
# Crate zookeeper 0.8.0, LeaderLatch: it waits with one watch for the contender just ahead, and nothing makes it look again. No watch of the
# crate is set again after a reconnect, so who waited through a cut of a moment never leads, though it is alone; nor does one whose contender
# ahead goes between its list and its watch, as the answer NoNode is taken for a watch that was set. After an expiry the leader leads on: the
# client goes on in a new session, without a word that the first one is over, and `has_leadership` is cleared by `Closed` alone.
# Seen: cut while waiting, connected again; the leader stopped: leads in 4 s: false; contenders left: 1
#       the one ahead stopped between list and watch, no fault: leads in 4 s: false; contenders left: 1
#       leader expired, connected again: has_leadership true; its znode: gone; another one leads: true
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
build_rust 'zookeeper = "=0.8.0"' <<'R'
use std::collections::HashMap;
use std::io::BufRead;
use std::sync::Arc;
use std::time::Duration;
use zookeeper::recipes::leader::LeaderLatch;
use zookeeper::{WatchedEvent, ZooKeeper};

/// Writes each state, and carries out the commands on stdin, one a line: an operation, and a latch's parent and name.
fn main() {
    let server = std::env::args().nth(1).unwrap();
    let client = Arc::new(ZooKeeper::connect(&server, Duration::from_secs(6), |_: WatchedEvent| {}).unwrap());
    client.add_listener(|state| println!("state {state:?}"));
    let mut latches = HashMap::new();
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        let new = || LeaderLatch::new(Arc::clone(&client), words[2].to_owned(), words[1].to_owned());
        let latch = latches.entry((words[1].to_owned(), words[2].to_owned())).or_insert_with(new);
        match words[0] {
            "start" => println!("start {:?}", latch.start()),
            "stop" => println!("stop {:?}", latch.stop()),
            _ => println!("leads {}", latch.has_leadership()),
        }
    }
    std::process::exit(0);
}
R
pip_install kazoo==2.11.0
python3 -W ignore - "$port" "$work/client" <<'P'
import logging, subprocess, sys, threading, time
from kazoo.client import KazooClient
from proxy import Proxy

logging.disable()
other = KazooClient(f"127.0.0.1:{sys.argv[1]}")
other.start()

class Client:
    def __init__(self):
        self.proxy, self.lines = Proxy(int(sys.argv[1])), []
        self.process = subprocess.Popen([sys.argv[2], f"127.0.0.1:{self.proxy.port}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=lambda: [self.lines.append(line.strip()) for line in self.process.stdout], daemon=True).start()

    def until(self, line, begin):
        deadline = time.monotonic() + 10
        while not any(seen.startswith(line) for seen in self.lines[begin:]):
            assert time.monotonic() < deadline, (line, self.lines[begin:])
            time.sleep(0.005)
        return next(seen for seen in self.lines[begin:] if seen.startswith(line))

    def ask(self, command):
        begin = len(self.lines)
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.until({"is": "leads"}.get(command.split()[0], command.split()[0]), begin).split()[1]

    def leads(self, latch, seconds):
        deadline = time.monotonic() + seconds
        while self.ask(f"is {latch}") == "false" and time.monotonic() < deadline:
            time.sleep(0.05)
        return self.ask(f"is {latch}")

one, two = Client(), Client()
assert (one.ask("start /free one"), two.ask("start /free two"), one.leads("/free one", 4)) == ("Ok(())", "Ok(())", "true")
assert one.ask("stop /free one") == "Ok(())" and two.leads("/free two", 4) == "true"  # without a cut it is woken

assert one.ask("start /cut one") == "Ok(())" and one.leads("/cut one", 4) == "true" and two.ask("start /cut two") == "Ok(())"
begin = len(two.lines)
two.proxy.cut()
two.until("state Connected", begin)
assert one.ask("stop /cut one") == "Ok(())"
leads, left = two.leads("/cut two", 4), len(other.get_children("/cut"))
print(f"cut while waiting, connected again; the leader stopped: leads in 4 s: {leads}; contenders left: {left}")
assert (leads, left) == ("false", 1)

assert one.ask("start /race one") == "Ok(())" and one.leads("/race one", 4) == "true"
ahead = "/race/" + other.get_children("/race")[0]
came = two.proxy.before("exists", lambda: one.ask("stop /race one"), ahead)
assert two.ask("start /race two") == "Ok(())" and came.wait(5)
leads, left = two.leads("/race two", 4), len(other.get_children("/race"))
print(f"the one ahead stopped between list and watch, no fault: leads in 4 s: {leads}; contenders left: {left}")
assert (leads, left) == ("false", 1)

assert one.ask("start /gone one") == "Ok(())" and one.leads("/gone one", 4) == "true"
znode = "/gone/" + other.get_children("/gone")[0]
time.sleep(4.5)  # until it has sent a ping: without one for longer than its session timeout it is `Closed` at once
begin = len(one.lines)
one.proxy.expire()
one.until("state Connected", begin)
assert two.ask("start /gone two") == "Ok(())"
first, second = one.ask("is /gone one"), two.leads("/gone two", 4)
print(f"leader expired, connected again: has_leadership {first}; its znode: {'there' if other.exists(znode) else 'gone'}; another one leads: {second}")
assert (first, second) == ("true", "true") and not other.exists(znode)
one.process.kill(), two.process.kill(), other.stop()
P
