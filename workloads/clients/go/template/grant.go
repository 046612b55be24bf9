// Each contender creates a znode of its own; the first in the queue holds, each other one waits for the one before it to go.
package main

import (
	"errors"
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/samuel/go-zookeeper/zk"
)

const parent = "@PARENT@"

func main() {
	rand.Seed(time.Now().UnixNano() + int64(os.Getpid()))
	Run(Grants(acquire))
}

func acquire(kit *Kit, deadline <-chan struct{}) (path string, err error) {
	prefix := fmt.Sprintf("%016x-", rand.Uint64())
	defer func() {
		if err != nil {
			leave(kit, prefix)
		}
	}()
	if path, err = join(kit, prefix); err != nil {
		return "", err
	}
	if _, err = kit.Created(path); err != nil {
		return "", err
	}
	for {
		contenders, err := queue(kit)
		if err != nil {
			return "", err
		}
		place := len(contenders) - 1
		for place >= 0 && contenders[place] != path {
			place--
		}
		if place < 0 {
			return "", errors.New("the znode went with its session")
		}
		if place == 0 {
			return path, nil
		}
		var there bool
		var gone <-chan zk.Event
		err = kit.Retry(func() (err error) {
			there, _, gone, err = kit.Conn.ExistsW(contenders[place-1])
			return err
		})
		if err != nil {
			return "", err
		}
		if there {
			select {
			case <-gone:
			case <-deadline:
				return "", errTimedOut
			}
		}
	}
}

// join joins the queue once, though an earlier try may have done so without hearing of it.
func join(kit *Kit, prefix string) (path string, err error) {
	err = kit.Retry(func() error {
		contenders, err := queue(kit)
		if err != nil {
			return err
		}
		for _, contender := range contenders {
			if strings.Contains(contender, prefix) {
				path = contender
				return nil
			}
		}
		path, err = kit.Conn.Create(parent+"/"+prefix, nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
		return err
	})
	return path, err
}

// leave removes what an attempt has left.
func leave(kit *Kit, prefix string) {
	contenders, err := queue(kit)
	for _, contender := range contenders {
		if strings.Contains(contender, prefix) {
			_, err = kit.Remove(contender)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "leaving:", err)
	}
}

// queue is the paths of the contenders, in order.
func queue(kit *Kit) (paths []string, err error) {
	var names []string
	err = kit.Retry(func() (err error) {
		names, _, err = kit.Conn.Children(parent)
		return err
	})
	sort.Slice(names, func(a, b int) bool { return names[a][len(names[a])-10:] < names[b][len(names[b])-10:] })
	for _, name := range names {
		paths = append(paths, parent+"/"+name)
	}
	return paths, err
}
