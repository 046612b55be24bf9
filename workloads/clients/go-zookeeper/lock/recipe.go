// go-zookeeper's Lock, a new object for each acquire. Where it is waited for no longer it goes on, as it cannot be stopped, and what it grants then
// is given back.
package main

import (
	"reflect"
	"sync/atomic"

	"github.com/samuel/go-zookeeper/zk"
)

const parent = "/lock"

// What is held or waited for; nil before the first acquire. It is not dropped by a release, which may come again.
var lock *zk.Lock

// Whether an acquire is under way.
var waits atomic.Value

func main() {
	waits.Store(false)
	Hooks.Release = release
	Hooks.Znodes = znodes
	Run(Grants(acquire))
}

func acquire(kit *Kit, deadline <-chan struct{}) (string, error) {
	waits.Store(true)
	defer waits.Store(false)
	lock = zk.NewLock(kit.Conn, parent, zk.WorldACL(zk.PermAll))
	if err := lock.Lock(); err != nil {
		return "", err
	}
	// The library tells the path to nobody.
	return reflect.ValueOf(lock).Elem().FieldByName("lockPath").String(), nil
}

// release unlocks, and again where the connection was lost, as nothing of the library does.
func release(kit *Kit, held Object) (Object, error) {
	err := kit.Retry(lock.Unlock)
	if err == zk.ErrNoNode {
		return nil, nil
	}
	return Object{"path": held["path"], "czxid": held["czxid"]}, err
}

// znodes has the one that an acquire waits with as well: the youngest of the session.
func znodes(kit *Kit) map[string]int64 {
	own := kit.znodes()
	if !waits.Load().(bool) {
		return own
	}
	names, err := kit.Children(parent)
	if err != nil {
		return own
	}
	var path string
	var youngest int64
	for _, name := range names {
		there, stat, err := kit.Conn.Exists(parent + "/" + name)
		if err == nil && there && hex(stat.EphemeralOwner) == kit.Session() && stat.Czxid > youngest {
			path, youngest = parent+"/"+name, stat.Czxid
		}
	}
	if path != "" {
		own[path] = youngest
	}
	return own
}
