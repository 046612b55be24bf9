// Each contender joins a queue of ephemeral znodes; the first holds, each other one waits for the one before it to go.
package main

import "github.com/samuel/go-zookeeper/zk"

const parent = "@PARENT@"

func main() {
	// Each holder's is higher than that of all before it: the resource refuses a lower one.
	Hooks.Token = func(stat *zk.Stat) int64 { return stat.Czxid }
	Run(Grants(acquire))
}

// acquire is answered with the path of the znode that holds.
func acquire(kit *Kit, deadline <-chan struct{}) (string, error) {
	path, err := kit.Join(parent, "")
	if err != nil {
		return "", err
	}
	for {
		ahead, err := kit.Ahead(path)
		if err != nil || len(ahead) == 0 {
			return path, err
		}
		if err := kit.WaitGone(ahead[len(ahead)-1], deadline); err != nil {
			return "", err
		}
	}
}
