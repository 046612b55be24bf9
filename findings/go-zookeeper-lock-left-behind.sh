#!/usr/bin/env bash
# samuel/go-zookeeper of 2018-01-30 (Debian 12, golang-github-samuel-go-zookeeper-dev), Lock: an error while `Lock` looks who is ahead
# leaves the znode that it has made, and the object forgets it. The session lives on, so the next `Lock`, of the same object or of another,
# waits for that znode, for as long as the session lasts: the protected create that the lock is built on guards only the create. An
# `Unlock` whose reply is lost has released, and leaves an object that can neither be unlocked (no node) nor locked (twice) any more.
# Seen: Lock of a free lock, a reply lost: connection closed; again: none in 3 s; another object: none in 3 s; znodes 3
#       Unlock, its reply lost: connection closed; again: node does not exist; Lock: trying to acquire a lock twice; another object: <nil>
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
build_go <<'G'
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/samuel/go-zookeeper/zk"
)

type quiet struct{}

func (quiet) Printf(string, ...interface{}) {}

// Carries out the commands on stdin, one a line, and answers each with a line.
func main() {
	conn, events, err := zk.Connect([]string{os.Args[1]}, 10*time.Second, zk.WithLogger(quiet{}))
	if err != nil {
		panic(err)
	}
	for event := range events {
		if event.State == zk.StateHasSession {
			break
		}
	}
	locks := map[string]*zk.Lock{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		name := words[1]
		if locks[name] == nil {
			locks[name] = zk.NewLock(conn, "/"+words[2], zk.WorldACL(zk.PermAll))
		}
		done := make(chan error, 1)
		go func() {
			if words[0] == "lock" {
				done <- locks[name].Lock()
			} else {
				done <- locks[name].Unlock()
			}
		}()
		select {
		case err := <-done:
			fmt.Println(err)
		case <-time.After(3 * time.Second):
			fmt.Println("none in 3 s")
		}
	}
}
G
export PYTHONPATH="$lib" PYTHONDONTWRITEBYTECODE=1
python3 - "$port" "$work/client" <<'P'
import subprocess, sys
from proxy import Proxy

proxy = Proxy(int(sys.argv[1]))
client = subprocess.Popen([sys.argv[2], f"127.0.0.1:{proxy.port}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

def ask(command):
    client.stdin.write(command + "\n")
    client.stdin.flush()
    return client.stdout.readline().strip().removeprefix("zk: ")

assert (ask("lock a one"), ask("unlock a one")) == ("<nil>", "<nil>")
lost = proxy.lose_reply("getChildren2", "/one")
seen = [ask(command) for command in ("lock a one", "lock a one", "lock b one")]
assert lost.wait(5)
made = sum(name == "create" and path.startswith("/one/") for name, path in proxy.requests) - 2
print("Lock of a free lock, a reply lost: {}; again: {}; another object: {}; znodes {}".format(*seen, made))
assert seen == ["connection closed", "none in 3 s", "none in 3 s"] and made == 3, (seen, made)
assert ask("lock c two") == "<nil>"
lost = proxy.lose_reply("delete", "/two")
seen = [ask(command) for command in ("unlock c two", "unlock c two", "lock c two", "lock d two")]
assert lost.wait(5)
print("Unlock, its reply lost: {}; again: {}; Lock: {}; another object: {}".format(*seen))
assert seen == ["connection closed", "node does not exist", "trying to acquire a lock twice", "<nil>"], seen
client.kill()
P
