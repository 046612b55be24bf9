// Each contender joins a queue of ephemeral znodes; the first holds, each other one waits for the one before it to go.
package main

const parent = "@PARENT@"

func main() { Run(Grants(acquire)) }

// acquire is answered with the path of the znode that holds; its czxid is the token by which the resource refuses older holders.
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
