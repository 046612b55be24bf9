#!/usr/bin/env bash
# Crate zookeeper-client 0.11.2: a lost connection is `ConnectionLoss` only where the server ended it (FIN). After a reset, or where nothing
# comes for 2/5 of the session timeout, the same request of unknown outcome is answered with `Custom`, an error that can be told by its text only
# (session/mod.rs: `Error::other`, `with_message`); `Client::lock`, whose documentation says how it deals with connection loss, retries the first kind alone, and
# after the others raises and leaves its znode to a session that lives on. And an outage of all servers that lasts longer than 7/5 of the session
# timeout is reported as `Expired`, for good, by the client's own clock: once they are back, they have the session and its ephemeral znodes.
# What is asked in an outage waits for a connection.
# Seen: create that was applied and whose reply was lost, by FIN: ConnectionLoss; by RST: Custom; one in a silent network: Custom, after under 3 s
#       lock whose create lost its reply, by FIN: locked; by RST: Custom, its znode there 2 s later
#       three watches, a cut: state Disconnected, SyncConnected, watches told nothing, then each changed: three events; expired: Disconnected, Expired, each watch told
#       create begun in an outage: waited, then Ok; server down for longer than the session timeout: Expired; the ephemeral znode when it is up again: there
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
build_rust 'zookeeper-client = { version = "=0.11.2", features = ["tokio"] }' 'tokio = { version = "1", features = ["macros", "rt-multi-thread", "sync"] }' <<'R'
use std::io::BufRead;
use std::sync::Arc;
use std::time::Duration;
use zookeeper_client::{Acls, Client, CreateMode, LockPrefix};

/// Writes each state, and carries out the commands on stdin, each in a task of its own.
#[tokio::main]
async fn main() {
    let server = std::env::args().nth(1).unwrap();
    let client = Client::connector().with_session_timeout(Duration::from_secs(3)).connect(&server).await.unwrap();
    println!("connected");
    let mut states = client.state_watcher();
    tokio::spawn(async move {
        loop {
            let state = states.changed().await;
            println!("state {state:?}");
            if state.is_terminated() {
                return;
            }
        }
    });
    let client = Arc::new(client);
    let (send, mut lines) = tokio::sync::mpsc::unbounded_channel();
    std::thread::spawn(move || std::io::stdin().lock().lines().for_each(|line| send.send(line.unwrap()).unwrap()));
    while let Some(line) = lines.recv().await {
        let client = Arc::clone(&client);
        tokio::spawn(async move {
            match line.split_once(' ').unwrap() {
                ("create", path) => {
                    let mode = if path.ends_with("ephemeral") { CreateMode::Ephemeral } else { CreateMode::Persistent };
                    println!("create {:?}", client.create(path, b"", &mode.with_acls(Acls::anyone_all())).await.map(drop));
                }
                ("lock", path) => match client.lock(LockPrefix::new_curator(path, "lock-").unwrap(), b"", Acls::anyone_all()).await {
                    Ok(lock) => {
                        println!("lock locked");
                        std::mem::forget(lock);
                    }
                    Err(error) => println!("lock {error:?}"),
                },
                _ => {
                    let (_, _, data) = client.get_and_watch_data("/data").await.unwrap();
                    let (_, there) = client.check_and_watch_stat("/there").await.unwrap();
                    let (_, _, children) = client.get_and_watch_children("/parent").await.unwrap();
                    println!("watching");
                    for watcher in [data, there, children] {
                        tokio::spawn(async move {
                            let event = watcher.changed().await;
                            println!("watch {:?} {:?}", event.event_type, event.session_state);
                        });
                    }
                }
            }
        });
    }
}
R
pip_install kazoo==2.11.0
disown "$server"  # it is killed below
python3 -W ignore - "$port" "$work/client" "$work/zoo.cfg" "$java/bin/java" "$jars" "$server" <<'P'
import atexit, logging, os, signal, subprocess, sys, threading, time
from kazoo.client import KazooClient
from proxy import Proxy, Silent

logging.disable()
port, program, config, java, jars, server = int(sys.argv[1]), *sys.argv[2:6], int(sys.argv[6])
processes = []
atexit.register(lambda: [process.kill() for process in processes])

def connect():
    client = KazooClient(f"127.0.0.1:{port}")
    client.start(30)
    return client

def until(check, seconds=15):
    deadline = time.monotonic() + seconds
    while not (answer := check()) and time.monotonic() < deadline:
        time.sleep(0.005)
    return answer

class Client:
    def __init__(self, proxy=Proxy):
        self.proxy, self.lines = proxy(port), []
        self.process = subprocess.Popen([program, f"127.0.0.1:{self.proxy.port}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        processes.append(self.process)
        threading.Thread(target=lambda: [self.lines.append(line.strip()) for line in self.process.stdout], daemon=True).start()
        assert until(lambda: self.lines)

    def begin(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def heard(self, prefix, begin=0):
        return [line.removeprefix(prefix + " ") for line in self.lines[begin:] if line.startswith(prefix)]

    def ask(self, command, prefix, seconds=15):
        begin = len(self.lines)
        self.begin(command)
        answer = until(lambda: self.heard(prefix, begin), seconds)
        return answer and ("Custom" if "Custom" in answer[0] else answer[0].removeprefix("Err(").removesuffix(")"))

other = connect()
for path in "/data", "/there", "/parent", "/locks", "/locks/fin", "/locks/rst":
    other.create(path)

created, locked = {}, {}
for name, reset in ("fin", False), ("rst", True):
    client = Client()
    client.proxy.lose_reply("create2", f"/{name}", reset=reset)
    created[name] = client.ask(f"create /{name}", "create")
    client = Client()
    client.proxy.lose_reply("create2", f"/locks/{name}/", reset=reset)
    locked[name] = client.ask(f"lock /locks/{name}", "lock")
time.sleep(2)
left = len(other.get_children("/locks/rst"))
client = Client(Silent)
client.ask("create /before", "create")
client.proxy.freeze()
began = time.monotonic()
created["silent"] = client.ask("create /silent", "create")
took = time.monotonic() - began
client.proxy.thaw()
applied = other.exists("/fin") and other.exists("/rst")
print(f"create that was applied and whose reply was lost, by FIN: {created['fin']}; by RST: {created['rst']}; one in a silent network: "
      f"{created['silent']}, after {'under 3 s' if took < 3 else took}")
print(f"lock whose create lost its reply, by FIN: {locked['fin']}; by RST: {locked['rst']}, its znode {'there' if left == 1 else left} 2 s later")
assert created == {"fin": "ConnectionLoss", "rst": "Custom", "silent": "Custom"} and took < 3 and applied, created
assert locked == {"fin": "locked", "rst": "Custom"} and left == 1, (locked, left)

client = Client()
client.ask("watch all", "watching")
client.proxy.cut()
until(lambda: client.heard("state")[-1:] == ["SyncConnected"])
cut, quiet = client.heard("state"), not client.heard("watch ")
other.set("/data", b"x"), other.delete("/there"), other.create("/parent/child")
events = until(lambda: len(client.heard("watch ")) == 3)
other.create("/there")
client = Client()
client.ask("watch all", "watching")
client.proxy.expire()
ended = until(lambda: len(client.heard("watch Session Expired")) == 3) and client.heard("state")
print(f"three watches, a cut: state {', '.join(cut)}, watches told {'nothing' if quiet else 'something'}, then each changed: "
      f"{'three events' if events else client.lines}; expired: {', '.join(ended)}, each watch told")
assert cut == ["Disconnected", "SyncConnected"] and quiet and events and ended == ["Disconnected", "Expired"], client.lines

client = Client()
client.proxy.refuse()
until(lambda: client.heard("state") == ["Disconnected"])
client.begin("create /outage")
time.sleep(0.5)
waited = not client.heard("create")
client.proxy.accept()
outage = until(lambda: client.heard("create"))[0]
client = Client()
client.ask("create /ephemeral", "create")
other.stop()
os.kill(server, signal.SIGKILL)
expired = until(lambda: "Expired" in client.heard("state"))
processes.append(subprocess.Popen([java, "-XX:+UseSerialGC", "-cp", jars, "-Dzookeeper.extendedTypesEnabled=true",
                                   "org.apache.zookeeper.server.quorum.QuorumPeerMain", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
other = connect()
there = other.exists("/ephemeral")
print(f"create begun in an outage: {'waited, then ' if waited else ''}{outage.replace('Ok(())', 'Ok')}; server down for longer than the session timeout: "
      f"{'Expired' if expired else client.lines}; the ephemeral znode when it is up again: {'there' if there else 'gone'}")
assert waited and outage == "Ok(())" and expired and there, (waited, outage, client.lines, there)
other.stop()
P
