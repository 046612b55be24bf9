#!/usr/bin/env bash
# Crate zookeeper 0.8.0, ZkQueue: `poll` "returns Ok(None) if the queue is empty". It does so as well when another consumer has taken the head
# between its list and its delete, whatever else lies there: NoNode of one item is answered as an empty queue. Consumers that rest when a queue is
# empty rest while it grows. `take` looks again.
# Seen: two items, the head taken by another one meanwhile: poll None, items left 1; again: "two", items left 0
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
build_rust 'zookeeper = "=0.8.0"' <<'R'
use std::io::BufRead;
use std::sync::Arc;
use std::time::Duration;
use zookeeper::recipes::queue::ZkQueue;
use zookeeper::{WatchedEvent, ZooKeeper};

/// Answers each line on stdin with what `poll` gives.
fn main() {
    let server = std::env::args().nth(1).unwrap();
    let client = Arc::new(ZooKeeper::connect(&server, Duration::from_secs(10), |_: WatchedEvent| {}).unwrap());
    let queue = ZkQueue::new(client, "/queue".to_owned()).unwrap();
    for _ in std::io::stdin().lock().lines() {
        match queue.poll() {
            Ok(Some(item)) => println!("{:?}", String::from_utf8_lossy(&item)),
            other => println!("{}", other.map_or_else(|error| format!("{error:?}"), |_| "None".to_owned())),
        }
    }
    std::process::exit(0);
}
R
pip_install kazoo==2.11.0
python3 -W ignore - "$port" "$work/client" <<'P'
import logging, subprocess, sys
from kazoo.client import KazooClient
from proxy import Proxy

logging.disable()
proxy, other = Proxy(int(sys.argv[1])), KazooClient(f"127.0.0.1:{sys.argv[1]}")
other.start()
other.create("/queue")
for item in b"one", b"two":
    other.create("/queue/qn-", item, sequence=True)
client = subprocess.Popen([sys.argv[2], f"127.0.0.1:{proxy.port}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

def poll():
    client.stdin.write("\n")
    client.stdin.flush()
    return client.stdout.readline().strip(), len(other.get_children("/queue"))

head = "/queue/" + sorted(other.get_children("/queue"))[0]
taken = proxy.before("delete", lambda: other.delete(head), head)
first = poll()
assert taken.wait(5)
second = poll()
print(f"two items, the head taken by another one meanwhile: poll {first[0]}, items left {first[1]}; again: {second[0]}, items left {second[1]}")
assert first == ("None", 1) and second == ('"two"', 0), (first, second)
client.kill(), other.stop()
P
