// A client that enters creates a znode below that of the round and waits for `ready`, which the last one creates; all
// leave together.
package main

import "fmt"

func main() { Run(Operations(map[string]Operation{"enter": enter, "leave": leave})) }

// place is the znode of a round, and that of the client in it.
func place(kit *Kit, value Object) (round int64, parent, mine string, err error) {
	round, err = value.Int("round")
	parent = fmt.Sprintf("@PARENT@/%d", round)
	return round, parent, parent + "/" + kit.Client, err
}

func enter(kit *Kit, value Object, deadline <-chan struct{}) (Object, error) {
	round, parent, mine, err := place(kit, value)
	if err != nil {
		return nil, err
	}
	members, err := value.Int("members")
	if err != nil {
		return nil, err
	}
	for {
		ready, opened, err := kit.ExistsW(parent + "/ready")
		if err != nil {
			return nil, err
		}
		stat, err := kit.MakeOwn(mine)
		if err != nil {
			return nil, err
		}
		if ready {
			return Object{"round": round, "path": mine, "czxid": stat.Czxid, "session": hex(stat.EphemeralOwner)}, nil
		}
		there, err := kit.Children(parent)
		if err == nil && int64(len(there)) >= members {
			err = kit.Make(parent+"/ready", 0)
		}
		if err == nil {
			err = Wait(opened, deadline)
		}
		if err != nil {
			return nil, err
		}
	}
}

func leave(kit *Kit, value Object, deadline <-chan struct{}) (Object, error) {
	round, parent, mine, err := place(kit, value)
	if err != nil {
		return nil, err
	}
	removed, err := kit.Remove(mine)
	if err != nil {
		return nil, err
	}
	for {
		there, changed, err := kit.ChildrenW(parent)
		if err == nil && len(there) == 1 { // Only `ready`.
			return Object{"round": round, "removed": removed}, nil
		}
		if err == nil {
			err = Wait(changed, deadline)
		}
		if err != nil {
			return nil, err
		}
	}
}
