#!/usr/bin/env bash
# Crate tokio-zookeeper 0.4.0: "If the connection to the server fails, the client will automatically try to re-connect. Only if re-connection
# fails is an error returned". It does connect again at once, and the server takes its session up; then the client's own task ends, since it looks
# for the answer by the wrong xid (ActivePacketizer's poll_read: 0, where Packetizer counted on). From then on every request is an error, and the
# stream of events has ended without an event. What it asked for at that reconnect is a session timeout of 0, so the server takes its shortest:
# ephemeral znodes go long before the timeout that the session was made with. Requests that were sent and applied are answered as "failed to
# enqueue". A silent network is never noticed. No error of a lost connection has a type of its own: all of them are text.
# Seen: a connection that ends: session taken up again by the server; stream of events: ended without an event; ephemeral znode of a timeout of 20 s: gone in under 3 s; requests from then on: failed to enqueue new request: TrySendError { kind: Disconnected }
#       create whose reply was lost: failed to enqueue new request: Canceled; the znode: there
#       silent network, asked for 8 s with a session timeout of 3 s: not answered
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
build_rust 'tokio-zookeeper = "=0.4.0"' 'tokio = { version = "1", features = ["macros", "rt-multi-thread", "sync"] }' 'futures = "0.3"' <<'R'
use futures::StreamExt;
use std::io::BufRead;
use std::sync::Arc;
use std::time::Duration;
use tokio_zookeeper::{Acl, CreateMode, ZooKeeperBuilder};

/// Writes each event, and carries out the commands on stdin, each in a task of its own.
#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let mut builder = ZooKeeperBuilder::default();
    builder.set_timeout(Duration::from_secs(arguments[2].parse().unwrap()));
    let (client, mut events) = builder.connect(&arguments[1].parse().unwrap()).await.unwrap();
    tokio::spawn(async move {
        while let Some(event) = events.next().await {
            println!("event {event:?}");
        }
        println!("ended");
    });
    let (send, mut lines) = tokio::sync::mpsc::unbounded_channel();
    std::thread::spawn(move || std::io::stdin().lock().lines().for_each(|line| send.send(line.unwrap()).unwrap()));
    let client = Arc::new(client);
    while let Some(path) = lines.recv().await {
        let client = client.clone();
        tokio::spawn(async move {
            let mode = if path.ends_with("ephemeral") { CreateMode::Ephemeral } else { CreateMode::Persistent };
            match client.create(&path, Vec::new(), Acl::open_unsafe(), mode).await {
                Ok(answer) => println!("create {answer:?}"),
                Err(error) => println!("create {error}"),
            }
        });
    }
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
processes = []

class Client:
    def __init__(self, timeout, proxy=Proxy):
        self.proxy, self.lines = proxy(int(sys.argv[1])), []
        self.process = subprocess.Popen([sys.argv[2], f"127.0.0.1:{self.proxy.port}", str(timeout)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        processes.append(self.process)
        threading.Thread(target=lambda: [self.lines.append(line.strip()) for line in self.process.stdout], daemon=True).start()

    def until(self, check, seconds=10):
        deadline = time.monotonic() + seconds
        while not (answer := check()) and time.monotonic() < deadline:
            time.sleep(0.005)
        return answer

    def create(self, path, seconds=10):
        begin = len(self.lines)
        self.process.stdin.write(path + "\n")
        self.process.stdin.flush()
        line = self.until(lambda: next((line for line in self.lines[begin:] if line.startswith("create")), None), seconds)
        return line and line.removeprefix("create ")

client = Client(20)
assert client.create("/ephemeral") == 'Ok("/ephemeral")', client.lines
session = client.proxy.session
client.proxy.cut()
began = time.monotonic()
gone = client.until(lambda: not other.exists("/ephemeral")) and time.monotonic() - began
client.until(lambda: "ended" in client.lines)
again = ("connect", session) in client.proxy.requests and client.proxy.session == session
told = client.lines[1:]
answers = {client.create("/later") for _ in range(3)}
print(f"a connection that ends: session {'taken up again by the server' if again else 'not taken up'}; stream of events: "
      f"{'ended without an event' if told == ['ended'] else told}; ephemeral znode of a timeout of 20 s: "
      f"{'gone in under 3 s' if gone and gone < 3 else gone}; requests from then on: {', '.join(answers)}")
assert again and told == ["ended"] and gone and gone < 3 and answers == {"failed to enqueue new request: TrySendError { kind: Disconnected }"}

client = Client(3)
client.create("/before")
lost = client.proxy.lose_reply("create", "/lost")
answer = client.create("/lost")
assert lost.wait(5)
print(f"create whose reply was lost: {answer}; the znode: {'there' if other.exists('/lost') else 'missing'}")
assert answer == "failed to enqueue new request: Canceled" and other.exists("/lost")

client = Client(3, Silent)
client.create("/connected")
client.proxy.freeze()
answer = client.create("/silent", 8)
print(f"silent network, asked for 8 s with a session timeout of 3 s: {answer or 'not answered'}")
assert answer is None and "ended" not in client.lines, client.lines
for process in processes:
    process.kill()
other.stop()
P
