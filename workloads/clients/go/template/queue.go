// Items are sequential znodes; a consumer reads the first one and deletes it, and the delete is the delivery: at most once.
package main

import (
	"strconv"

	"github.com/samuel/go-zookeeper/zk"
)

const parent = "@PARENT@"

func main() { Run(Operations(map[string]Operation{"enqueue": enqueue, "dequeue": dequeue})) }

func enqueue(kit *Kit, value Object, deadline <-chan struct{}) (Object, error) {
	item, err := value.Int("item")
	if err != nil {
		return nil, err
	}
	data := []byte(strconv.FormatInt(item, 10))
	path, err := kit.Conn.Create(parent+"/item-", data, zk.FlagSequence, zk.WorldACL(zk.PermAll))
	return Object{"item": item, "path": path, "czxid": nil}, err
}

func dequeue(kit *Kit, value Object, deadline <-chan struct{}) (Object, error) {
	names, err := kit.Children(parent)
	for _, name := range names {
		var data []byte
		if data, _, err = kit.Conn.Get(parent + "/" + name); err == nil {
			item, _ := strconv.ParseInt(string(data), 10, 64)
			kit.Taking(item)
			if err = kit.Conn.Delete(parent+"/"+name, -1); err == nil {
				return Object{"item": item}, nil
			}
		}
		if err != zk.ErrNoNode {
			return nil, err
		}
		err = nil // Another consumer has it.
	}
	return Object{"item": nil}, err
}
