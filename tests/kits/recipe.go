// A queue of ephemeral znodes that does itself all that the kit does otherwise. TWIN names what it does wrong, or is `correct`.
package main

import (
	"os"
	"sync"
	"time"

	"github.com/samuel/go-zookeeper/zk"
)

const parent = "/lock"

var (
	twin  = os.Getenv("TWIN")
	begun = time.Now()
	guard sync.Mutex
	mine  string
)

func main() {
	Hooks.Connect = func(servers []string, timeout time.Duration) (*zk.Conn, <-chan zk.Event, error) {
		return zk.Connect(servers, timeout)
	}
	Hooks.Release, Hooks.Lost, Hooks.Znodes, Hooks.Created = release, lost, znodes, created
	Hooks.Token = func(stat *zk.Stat) int64 { return stat.Czxid }
	Run(Grants(acquire))
}

func set(path string) {
	guard.Lock()
	defer guard.Unlock()
	mine = path
}

func acquire(kit *Kit, deadline <-chan struct{}) (string, error) {
	path, err := kit.Join(parent, "")
	if err != nil {
		return "", err
	}
	set(path)
	for {
		ahead, err := kit.Ahead(path)
		if err == nil && len(ahead) == 0 {
			return path, nil
		}
		if err == nil {
			err = kit.WaitGone(ahead[len(ahead)-1], deadline)
		}
		if err != nil {
			set("")
			return "", err
		}
	}
}

func release(kit *Kit, held Object) (Object, error) {
	path := held["path"].(string)
	set("")
	if twin == "thief" && kit.Client == "c1" {
		queue, err := kit.Children(parent)
		for at, name := range queue {
			if err == nil && parent+"/"+name == path && at+1 < len(queue) {
				behind := parent + "/" + queue[at+1]
				_, stat, err := kit.Conn.Exists(behind)
				if err == nil {
					err = kit.Conn.Delete(behind, -1)
				}
				if err != nil {
					return nil, err
				}
				_, err = kit.Remove(path)
				return Object{"path": behind, "czxid": stat.Czxid}, err
			}
		}
	}
	if twin == "thief" && kit.Client == "c2" && time.Since(begun) > 5*time.Second {
		panic("the lock's own mistake")
	}
	return kit.Remove(path)
}

func lost(kit *Kit, held Object, state string) string {
	switch {
	case twin == "deaf":
		return ""
	case state != "connected":
		return state
	case held["session"] != kit.Session():
		return "expired"
	}
	return ""
}

func znodes(kit *Kit) map[string]int64 {
	guard.Lock()
	defer guard.Unlock()
	if mine == "" {
		return nil
	}
	return map[string]int64{mine: 0}
}

func created(kit *Kit, path string) (stat *zk.Stat, err error) {
	err = kit.Retry(func() error {
		there, found, err := kit.Conn.Exists(path)
		if err == nil && !there {
			err = zk.ErrNoNode
		}
		stat = found
		return err
	})
	return stat, err
}
