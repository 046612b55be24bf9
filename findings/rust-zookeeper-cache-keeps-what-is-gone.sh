#!/usr/bin/env bash
# Crate zookeeper 0.8.0, PathChildrenCache: a child leaves it by the event of a watch on that child, and by nothing else. Reading the list again, as
# it does after each change and each reconnect, adds what is new and removes nothing. No watch of the crate is set again after a reconnect, so
# what was deleted meanwhile stays for good; so does, without any fault, a child that was changed and deleted before the change was read:
# its watch was used up. When such a name is made again the entry keeps the old data, since a name that is known is not read.
# Seen: deleted during a cut, connected again: still listed after 3 s: true
#       changed and deleted in one transaction, no fault: still listed after 3 s: true; made again: old data after 3 s: true
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
build_rust 'zookeeper = "=0.8.0"' <<'R'
use std::io::BufRead;
use std::sync::Arc;
use std::time::Duration;
use zookeeper::recipes::cache::PathChildrenCache;
use zookeeper::{WatchedEvent, ZooKeeper};

/// Writes each state, and for each line on stdin what the cache has.
fn main() {
    let server = std::env::args().nth(1).unwrap();
    let client = Arc::new(ZooKeeper::connect(&server, Duration::from_secs(6), |_: WatchedEvent| {}).unwrap());
    client.add_listener(|state| println!("state {state:?}"));
    let mut cache = PathChildrenCache::new(Arc::clone(&client), "/group").unwrap();
    cache.start().unwrap();
    for _ in std::io::stdin().lock().lines() {
        let data = cache.get_current_data();
        let entries = data.iter().map(|(path, child)| format!("{path}={}", String::from_utf8_lossy(&child.0)));
        println!("has {}", entries.collect::<Vec<_>>().join(" "));
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
for name in "stays", "cut", "both":
    other.create(f"/group/{name}", b"old", makepath=True)
proxy, lines = Proxy(int(sys.argv[1])), []
client = subprocess.Popen([sys.argv[2], f"127.0.0.1:{proxy.port}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
threading.Thread(target=lambda: [lines.append(line.strip()) for line in client.stdout], daemon=True).start()

def until(prefix, begin):
    deadline = time.monotonic() + 10
    while not any(line.startswith(prefix) for line in lines[begin:]):
        assert time.monotonic() < deadline, (prefix, lines[begin:])
        time.sleep(0.005)
    return next(line for line in lines[begin:] if line.startswith(prefix))

def has():
    begin = len(lines)
    client.stdin.write("\n")
    client.stdin.flush()
    return set(until("has", begin).split()[1:])

def settles(wanted, seconds):
    """Whether the cache has just this within so many seconds."""
    deadline = time.monotonic() + seconds
    while has() != wanted and time.monotonic() < deadline:
        time.sleep(0.05)
    return has() == wanted

assert settles({"/group/stays=old", "/group/cut=old", "/group/both=old"}, 3)
other.create("/group/plain", b"old")
assert settles({"/group/stays=old", "/group/cut=old", "/group/both=old", "/group/plain=old"}, 3)
other.delete("/group/plain")
assert settles({"/group/stays=old", "/group/cut=old", "/group/both=old"}, 3)  # without a fault

begin = len(lines)
proxy.refuse()
other.delete("/group/cut")
proxy.accept()
until("state Connected", begin)
time.sleep(3)
cut = "/group/cut=old" in has()
print(f"deleted during a cut, connected again: still listed after 3 s: {str(cut).lower()}")

transaction = other.transaction()
transaction.set_data("/group/both", b"changed")
transaction.delete("/group/both")
assert transaction.commit()[1] is True
time.sleep(3)
both = "/group/both=old" in has()
other.create("/group/both", b"new")
time.sleep(3)
again = "/group/both=old" in has()
print(f"changed and deleted in one transaction, no fault: still listed after 3 s: {str(both).lower()}; made again: old data after 3 s: {str(again).lower()}")
assert cut and both and again, lines
client.kill(), other.stop()
P
