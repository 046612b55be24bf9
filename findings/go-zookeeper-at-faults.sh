#!/usr/bin/env bash
# samuel/go-zookeeper of 2018-01-30 (Debian 12, golang-github-samuel-go-zookeeper-dev): it waits for a second before each round of its list
# of servers, the first after a cut as well; with one server a cut of a moment takes a second, whatever the session timeout is, and what
# is asked meanwhile fails. Watches for data, existence and children are set again after a reconnect; each is told of an expiry.
# Seen: silent network: noticed after 2.0 s of a session timeout of 3 s; a connection that ends: at once, connected again after 1.0 s
#       four watches, a cut, a reconnect in the session: told nothing; then each changed: data, there, missing, children
#       create whose reply was lost: connection closed, sent 1 time; begun in an outage: could not connect to a server
#       expired: StateExpired, a new session; watches: session has been expired by the server, 4 times
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
build_go <<'G'
package main

import (
	"bufio"
	"fmt"
	"os"
	"time"

	"github.com/samuel/go-zookeeper/zk"
)

type quiet struct{}

func (quiet) Printf(string, ...interface{}) {}

// Writes each session event, carries out the commands on stdin, and writes what they answer and each event of a watch.
func main() {
	say := make(chan string, 1000)
	conn, events, err := zk.Connect([]string{os.Args[1]}, 3*time.Second, zk.WithLogger(quiet{}))
	if err != nil {
		panic(err)
	}
	go func() {
		for event := range events {
			say <- "state " + event.State.String()
		}
	}()
	go func() {
		for line := range say {
			fmt.Println(line)
		}
	}()
	wait := func(name string, channel <-chan zk.Event) {
		event := <-channel
		say <- fmt.Sprint("watch ", name, " ", event.Type, " ", event.Err)
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		switch line := lines.Text(); line {
		case "watch":
			_, _, data, _ := conn.GetW("/data")
			_, _, there, _ := conn.ExistsW("/there")
			_, _, missing, _ := conn.ExistsW("/missing")
			_, _, children, _ := conn.ChildrenW("/parent")
			go wait("data", data)
			go wait("there", there)
			go wait("missing", missing)
			go wait("children", children)
			say <- "watching"
		case "session":
			say <- fmt.Sprint("session ", conn.SessionID())
		case "exists":
			_, _, err := conn.Exists("/")
			say <- fmt.Sprint("exists ", err)
		default:
			_, err := conn.Create(line, []byte{}, 0, zk.WorldACL(zk.PermAll))
			say <- fmt.Sprint("create ", err)
		}
	}
}
G
pip_install kazoo==2.11.0
python3 -W ignore - "$port" "$work/client" <<'P'
import logging, subprocess, sys, threading, time
from kazoo.client import KazooClient
from proxy import Proxy

logging.disable()
proxy, other = Proxy(int(sys.argv[1])), KazooClient(f"127.0.0.1:{sys.argv[1]}")
other.start()
for path in "/data", "/there", "/parent":
    other.create(path)
client = subprocess.Popen([sys.argv[2], f"127.0.0.1:{proxy.port}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
lines = []
threading.Thread(target=lambda: [lines.append(line.strip()) for line in client.stdout], daemon=True).start()

def until(prefix, begin, number=1):
    """The lines from `begin` on that begin so, once there are enough; an error after 15 s."""
    deadline = time.monotonic() + 15
    while True:
        found = [line for line in lines[begin:] if line.startswith(prefix)]
        if len(found) >= number:
            return found
        assert time.monotonic() < deadline, (prefix, lines[begin:])
        time.sleep(0.005)

def ask(command, prefix):
    begin = len(lines)
    client.stdin.write(command + "\n")
    client.stdin.flush()
    return until(prefix, begin)[0]

until("state StateHasSession", 0)
ask("exists", "exists")
begin, began = len(lines), time.monotonic()
proxy.freeze()
until("state StateDisconnected", begin)
silent = time.monotonic() - began
proxy.thaw()
until("state StateHasSession", begin)
begin, began = len(lines), time.monotonic()
proxy.cut()
until("state StateDisconnected", begin)
ended = time.monotonic() - began
until("state StateHasSession", begin)
back = time.monotonic() - began
print(f"silent network: noticed after {silent:.1f} s of a session timeout of 3 s; a connection that ends: {'at once' if ended < 0.2 else ended}, "
      f"connected again after {back:.1f} s")
assert 1.7 < silent < 2.5 and ended < 0.2 and 0.9 < back < 2, (silent, ended, back)

ask("watch", "watching")
begin, session = len(lines), ask("session", "session")
proxy.cut()
until("state StateHasSession", begin)
assert ask("exists", "exists") == "exists <nil>" and ask("session", "session") == session
told = [line for line in lines[begin:] if line.startswith("watch")]
other.set("/data", b"x"), other.delete("/there"), other.create("/missing"), other.create("/parent/child")
fired = [line.split()[1] for line in until("watch", begin, 4)]
print(f"four watches, a cut, a reconnect in the session: told {', '.join(told) or 'nothing'}; then each changed: {', '.join(fired)}")
assert not told and sorted(fired) == ["children", "data", "missing", "there"], (told, fired)

begin = len(lines)
lost = proxy.lose_reply("create", "/lost")
answer = ask("/lost", "create").removeprefix("create zk: ")
assert lost.wait(5)
until("state StateHasSession", begin)
sent = proxy.requests.count(("create", "/lost"))
begin = len(lines)
proxy.refuse()
until("state StateDisconnected", begin)
late = ask("/late", "create").removeprefix("create zk: ")
proxy.accept()
until("state StateHasSession", begin)
print(f"create whose reply was lost: {answer}, sent {sent} time; begun in an outage: {late}")
assert (answer, sent, late) == ("connection closed", 1, "could not connect to a server"), (answer, sent, late)

other.create("/there"), other.delete("/missing")
ask("watch", "watching")
begin = len(lines)
proxy.expire()
until("state StateHasSession", begin)
told = until("watch", begin, 4)
new = ask("session", "session") != session
assert "state StateExpired" in lines[begin:] and new and {line.split("zk: ")[1] for line in told} == {"session has been expired by the server"}, lines[begin:]
print(f"expired: StateExpired, a new session; watches: session has been expired by the server, {len(told)} times")
client.kill(), other.stop()
P
