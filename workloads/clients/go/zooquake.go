// The client protocol of zooquake: everything but the recipe. Needs Go 1.18 or later, and github.com/samuel/go-zookeeper, or its successor
// github.com/go-zookeeper/zk, which has the same interface.
//
// A recipe answers the operations of its family, each by a function of Operations; of what is held (locks, elections, semaphores)
// Grants does all but waiting. Run does the rest and never returns. Failed means that an operation certainly did not happen and that nothing of it is left; any
// other error is an unknown outcome. What the kit does in place of the recipe a function of Hooks replaces; what it leaves to the kit is not on trial, and `hello`
// states it.
package main

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/samuel/go-zookeeper/zk"
)

const (
	notHeld   = Failed("not-held")
	scratch   = "/zooquake/scratch/"
	confirmMs = 10_000
	// A write has arrived this long after its reply.
	arrival = 200 * time.Millisecond
	// How long after its deadline an operation is answered that did not answer by itself.
	grace = 100 * time.Millisecond
)

var errTimedOut = errors.New("timed out")

// Failed is the error of an operation that certainly did not happen and of which nothing is left.
type Failed string

func (why Failed) Error() string { return string(why) }

// Object is a value of a request or a reply.
type Object map[string]interface{}

// Int is a whole number of a value; Failed if it is missing or another type.
func (value Object) Int(name string) (int64, error) {
	number, _ := value[name].(json.Number)
	whole, err := number.Int64()
	if err != nil {
		return 0, Failed(fmt.Sprintf("the value has no number `%s`", name))
	}
	return whole, nil
}

// Policy is the state of the session at which Grants revokes a grant: "disconnected", "expired", or "none": then only the recipe revokes, by
// Lose. To be set before Run.
var Policy = "disconnected"

// revokes returns whether Policy revokes a grant in a state of the session.
func revokes(state string) bool {
	return state == "expired" && Policy != "none" || state == "disconnected" && Policy == "disconnected"
}

// Cannot is what the client cannot report, in the words of docs/protocol.md; to be set before Run.
var Cannot []string

// Hooks is what the recipe does itself that the kit does otherwise; to be set before Run.
var Hooks struct {
	// Connect opens a session: its connection, and the events of that. It is called again when that was closed, and half a second after an error. By the
	// kit: one of its own.
	Connect func(servers []string, timeout time.Duration) (*zk.Conn, <-chan zk.Event, error)
	// Release gives back what is held, whose "grant", "path", "czxid" and "session" these are, or clears away what is left of it after it was lost; what it
	// removed, as Remove, or nil. By the kit: removes the znode.
	Release func(kit *Kit, held Object) (Object, error)
	// Lost is why a grant is lost, now that the session is in this state; empty if it is not. It is called when that changes, before each work and
	// `confirm`, and after each operation. It must not wait. By the kit: as Policy has it.
	Lost func(kit *Kit, held Object, state string) string
	// Znodes is the contenders' znodes that are the client's own, because it holds or waits with them, with the zxid that created each. Where that is 0,
	// the kit looks it up. By the kit: those that it was named.
	Znodes func(kit *Kit) map[string]int64
	// Created is the stat of the znode that holds, at least Czxid and EphemeralOwner. By the kit: as ZooKeeper has it.
	Created func(kit *Kit, path string) (*zk.Stat, error)
	// Token is what is sent with each write, in a fenced variant. Without it none is.
	Token func(stat *zk.Stat) int64
}

// byKit is the names of the hooks that the recipe has not, so that the kit does it; those of grants only where it holds something.
func byKit(grants bool) []string {
	left := []string{}
	for _, hook := range []struct {
		name     string
		own, all bool
	}{
		{"connect", Hooks.Connect != nil, true},
		{"release", Hooks.Release != nil, false},
		{"lost", Hooks.Lost != nil || Policy == "none", false},
		{"znodes", Hooks.Znodes != nil, true},
		{"created", Hooks.Created != nil, false},
	} {
		if !hook.own && (grants || hook.all) {
			left = append(left, hook.name)
		}
	}
	return left
}

// Recipe is what answers operations.
type Recipe interface {
	// Knows reports whether there is an operation of this name.
	Knows(f string) bool
	// Operate answers an operation. It ends soon after the deadline's channel is closed; the channel is nil if there is none.
	Operate(f string, value Object, deadline <-chan struct{}) (Object, error)
	// Holds is the value of the grant that the client believes to hold; nil if it holds nothing.
	Holds() Object
	// SessionChanged receives that the session is connected, disconnected or expired. It must not wait.
	SessionChanged(state string)
	// Replied receives that the reply of an operation was sent, and its result if that came after its deadline.
	Replied(late Object)
	// Quiet is closed when nothing goes on in the background.
	Quiet() <-chan struct{}
}

// Plain is what a recipe embeds that holds nothing.
type Plain struct{}

func (Plain) Holds() Object          { return nil }
func (Plain) SessionChanged(string)  {}
func (Plain) Replied(Object)         {}
func (Plain) Quiet() <-chan struct{} { return closed() }

// Operation answers an operation. It ends soon after the deadline's channel is closed; the channel is nil if there is none.
type Operation func(kit *Kit, value Object, deadline <-chan struct{}) (Object, error)

type operations struct {
	Plain
	kit *Kit
	of  map[string]Operation
}

// Operations makes a recipe that holds nothing, of a function for each operation.
func Operations(of map[string]Operation) func(*Kit) Recipe {
	return func(kit *Kit) Recipe { return operations{kit: kit, of: of} }
}

func (o operations) Knows(f string) bool { return o.of[f] != nil }

func (o operations) Operate(f string, value Object, deadline <-chan struct{}) (Object, error) {
	return o.of[f](o.kit, value, deadline)
}

// Kit is a recipe's access to its client: the connection, the client's name, its own znodes.
type Kit struct {
	// Conn is the connection.
	Conn *zk.Conn
	// Client is the client's name.
	Client string

	recipe    Recipe
	output    *os.File
	writing   sync.Mutex
	guard     sync.Mutex
	own       map[string]int64
	session   string
	state     string
	pending   *int64
	late      chan struct{}
	connected chan struct{}
	work      chan func()
}

func closed() chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

func hex(session int64) string { return "0x" + strconv.FormatUint(uint64(session), 16) }

// Session is the present session as the protocol writes it; empty if there is none.
func (kit *Kit) Session() string {
	session, _ := kit.at()
	return session
}

// at is the present session, and its state.
func (kit *Kit) at() (session, state string) {
	kit.guard.Lock()
	defer kit.guard.Unlock()
	return kit.session, kit.state
}

// Retry does a request again for as long as its connection is lost; the end of the session is an error.
func (kit *Kit) Retry(request func() error) error {
	session := kit.Session()
	for {
		err := request()
		if err != zk.ErrConnectionClosed && err != zk.ErrNoServer {
			return err
		}
		time.Sleep(50 * time.Millisecond)
		if kit.Session() != session {
			return zk.ErrSessionExpired
		}
	}
}

// Created records a contender's znode as this client's own; it returns the znode's stat.
func (kit *Kit) Created(path string) (*zk.Stat, error) {
	kit.name(path, 0)
	var there bool
	var stat *zk.Stat
	err := kit.Retry(func() (err error) {
		there, stat, err = kit.Conn.Exists(path)
		return err
	})
	if err == nil && !there {
		err = zk.ErrNoNode
	}
	if err != nil {
		kit.forget(path)
		return nil, err
	}
	kit.name(path, stat.Czxid)
	return stat, nil
}

// Remove deletes a znode of this client's own, and again after an unknown outcome; what it removed, nil if it was gone.
func (kit *Kit) Remove(path string) (Object, error) {
	kit.guard.Lock()
	czxid := kit.own[path]
	kit.guard.Unlock()
	// Any error but NoNode is the end of the session, which takes its ephemeral znodes with it.
	defer kit.forget(path)
	err := kit.Retry(func() error { return kit.Conn.Delete(path, -1) })
	if err == zk.ErrNoNode {
		return nil, nil
	}
	return znode(path, czxid), err
}

// bySequence sorts names by the ten digits that ZooKeeper ends those of sequential znodes with.
func bySequence(names []string) []string {
	number := func(at int) string {
		if name := names[at]; len(name) > 10 {
			return name[len(name)-10:]
		}
		return names[at]
	}
	sort.Slice(names, func(a, b int) bool { return number(a) < number(b) })
	return names
}

// Children is the names of a znode's children, in the order of their sequence numbers if they have such.
func (kit *Kit) Children(parent string) (names []string, err error) {
	err = kit.Retry(func() (err error) {
		names, _, err = kit.Conn.Children(parent)
		return err
	})
	return bySequence(names), err
}

// ChildrenW is Children, and a channel that receives an event when they change, or the session does.
func (kit *Kit) ChildrenW(parent string) (names []string, changed <-chan zk.Event, err error) {
	err = kit.Retry(func() (err error) {
		names, _, changed, err = kit.Conn.ChildrenW(parent)
		return err
	})
	return bySequence(names), changed, err
}

// ExistsW returns whether a znode exists; the channel receives an event when that changes, or the session does.
func (kit *Kit) ExistsW(path string) (there bool, changed <-chan zk.Event, err error) {
	err = kit.Retry(func() (err error) {
		there, _, changed, err = kit.Conn.ExistsW(path)
		return err
	})
	return there, changed, err
}

// Make creates a znode, and its parents, unless it is there; again after an unknown outcome.
func (kit *Kit) Make(path string, flags int32) error {
	err := kit.Retry(func() error {
		_, err := kit.Conn.Create(path, nil, flags, zk.WorldACL(zk.PermAll))
		return err
	})
	switch err {
	case zk.ErrNodeExists:
		return nil
	case zk.ErrNoNode:
		if err := kit.Make(path[:strings.LastIndex(path, "/")], 0); err != nil {
			return err
		}
		return kit.Make(path, flags)
	}
	return err
}

// MakeOwn makes an ephemeral znode of this client's own, in the place of one that a former session of it left.
func (kit *Kit) MakeOwn(path string) (*zk.Stat, error) {
	for {
		if err := kit.Make(path, zk.FlagEphemeral); err != nil {
			return nil, err
		}
		stat, err := kit.Created(path)
		if err == nil && hex(stat.EphemeralOwner) == kit.Session() {
			return stat, nil
		}
		if err == nil {
			err = kit.Retry(func() error { return kit.Conn.Delete(path, -1) })
		}
		if err != nil && err != zk.ErrNoNode {
			return nil, err
		}
	}
}

// Join joins a queue: it creates an ephemeral sequential znode below the parent, once, though the reply to an earlier try may have been
// lost. What an acquire has joined that grants nothing, the kit removes.
func (kit *Kit) Join(parent, name string) (path string, err error) {
	var unique [16]byte
	if _, err := rand.Read(unique[:]); err != nil {
		return "", err
	}
	prefix := fmt.Sprintf("%x-%s", unique, name)
	again := false
	err = kit.Retry(func() (err error) {
		if again {
			// A follower that lags lists no znode of an earlier try before it has applied a later write of the session.
			if _, err := kit.quorumWrite(); err != nil {
				return err
			}
			names, _, err := kit.Conn.Children(parent)
			if err != nil {
				return err
			}
			for _, other := range names {
				if strings.HasPrefix(other, prefix) {
					path = parent + "/" + other
					return nil
				}
			}
		}
		again = true
		path, err = kit.Conn.Create(parent+"/"+prefix, nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
		return err
	})
	if err == nil {
		_, err = kit.Created(path)
	}
	return path, err
}

// Ahead is those that joined a queue before this one did, in order; an error if it has gone with its session.
func (kit *Kit) Ahead(path string) ([]string, error) {
	parent := path[:strings.LastIndex(path, "/")+1]
	names, err := kit.Children(strings.TrimSuffix(parent, "/"))
	for at, name := range names {
		names[at] = parent + name
		if names[at] == path {
			return names[:at], err
		}
	}
	if err == nil {
		err = zk.ErrNoNode
	}
	return nil, err
}

// WaitGone waits until a znode is gone, or the session changes: look again.
func (kit *Kit) WaitGone(path string, deadline <-chan struct{}) error {
	there, gone, err := kit.ExistsW(path)
	if err != nil || !there {
		return err
	}
	return Wait(gone, deadline)
}

// Taking reports which item is about to be taken: to be called before the request that takes it.
func (kit *Kit) Taking(item int64) { kit.notice("taking", Object{"item": item}) }

// leave removes all znodes of this client's own.
func (kit *Kit) leave() {
	kit.guard.Lock()
	paths := []string{}
	for path := range kit.own {
		paths = append(paths, path)
	}
	kit.guard.Unlock()
	for _, path := range paths {
		if _, err := kit.Remove(path); err != nil {
			fmt.Fprintln(os.Stderr, "removing", path, err)
		}
	}
}

func (kit *Kit) name(path string, czxid int64) {
	kit.guard.Lock()
	defer kit.guard.Unlock()
	kit.own[path] = czxid
}

func (kit *Kit) forget(path string) {
	kit.guard.Lock()
	defer kit.guard.Unlock()
	delete(kit.own, path)
}

func znode(path string, czxid int64) Object {
	if czxid == 0 {
		return Object{"path": path, "czxid": nil}
	}
	return Object{"path": path, "czxid": czxid}
}

// Lose revokes the grant that is held, if one is: the notice `lost`, and its znode is cleared away.
func (kit *Kit) Lose(why string) {
	if g, grants := kit.recipe.(*grants); grants {
		g.lose(why)
	}
}

// grants is a recipe of what is held.
type grants struct {
	kit     *Kit
	acquire func(deadline <-chan struct{}) (string, error)
	guard   sync.Mutex
	held    Object
	quiet   chan struct{}
	idle    chan struct{}
}

// Grants makes a recipe of a function that waits until the client holds, and returns the path of its ephemeral znode.
func Grants(acquire func(kit *Kit, deadline <-chan struct{}) (string, error)) func(*Kit) Recipe {
	return func(kit *Kit) Recipe {
		waits := func(deadline <-chan struct{}) (string, error) { return acquire(kit, deadline) }
		return &grants{kit: kit, acquire: waits, quiet: closed(), idle: closed()}
	}
}

func (g *grants) Knows(f string) bool {
	return strings.Contains(" acquire elect release resign write work read ", " "+f+" ")
}

func (g *grants) Operate(f string, value Object, deadline <-chan struct{}) (Object, error) {
	grant, named := value["grant"].(string)
	if !named {
		return nil, Failed("the value has no `grant`")
	}
	answer := Object{"grant": grant}
	switch f {
	case "acquire", "elect":
		if err := Wait(g.Quiet(), deadline); err != nil {
			return nil, err
		}
		path, err := g.acquire(deadline)
		if err != nil {
			g.kit.leave()
			return nil, err
		}
		created := (*Kit).Created
		if Hooks.Created != nil {
			created = Hooks.Created
		}
		stat, err := created(g.kit, path)
		if err != nil {
			return nil, err
		}
		g.kit.name(path, stat.Czxid)
		answer["path"], answer["czxid"], answer["session"] = path, stat.Czxid, hex(stat.EphemeralOwner)
		if Hooks.Token != nil {
			answer["token"] = Hooks.Token(stat)
		}
		g.guard.Lock()
		defer g.guard.Unlock()
		g.held = answer
		return answer, nil
	case "release", "resign":
		held := g.take(grant)
		if held == nil {
			if err := Wait(g.Quiet(), deadline); err != nil {
				return nil, err
			}
			return nil, notHeld
		}
		removed, err := g.giveBack(held)
		answer["removed"] = removed
		return answer, err
	}
	held := g.Holds()
	if held == nil || held["grant"] != grant {
		return nil, notHeld
	}
	g.guard.Lock()
	g.idle = make(chan struct{})
	g.guard.Unlock()
	// Missing is 0.
	milliseconds, _ := value.Int("work_ms")
	time.Sleep(time.Duration(milliseconds) * time.Millisecond)
	if f == "write" {
		answer["value"], answer["token"] = value["value"], held["token"]
	}
	return answer, nil
}

// take ends the hold of this grant, or of any if it is empty; nil if it is not held.
func (g *grants) take(grant string) Object {
	g.guard.Lock()
	defer g.guard.Unlock()
	if g.held == nil || grant != "" && g.held["grant"] != grant {
		return nil
	}
	held := g.held
	g.held = nil
	return held
}

// giveBack releases; released or not, it is held no more.
func (g *grants) giveBack(held Object) (Object, error) {
	path := held["path"].(string)
	defer g.kit.forget(path)
	if Hooks.Release != nil {
		return Hooks.Release(g.kit, held)
	}
	return g.kit.Remove(path)
}

func (g *grants) Holds() Object {
	_, state := g.kit.at()
	return g.stillHeld(state)
}

// stillHeld is what is held, unless it is lost now.
func (g *grants) stillHeld(state string) Object {
	g.guard.Lock()
	held := g.held
	g.guard.Unlock()
	if held == nil {
		return nil
	}
	lost := g.lost
	if Hooks.Lost != nil {
		lost = func(held Object, state string) string { return Hooks.Lost(g.kit, held, state) }
	}
	if why := lost(held, state); why != "" {
		g.lose(why)
		return nil
	}
	return held
}

// lost is why Policy has a grant lost; empty if it has not.
func (g *grants) lost(held Object, state string) string {
	if revokes(state) {
		return state
	}
	if session, _ := g.kit.at(); Policy != "none" && held["session"] != session {
		return "expired"
	}
	return ""
}

func (g *grants) Quiet() <-chan struct{} {
	g.guard.Lock()
	defer g.guard.Unlock()
	return g.quiet
}

func (g *grants) SessionChanged(state string) { g.stillHeld(state) }

func (g *grants) Replied(late Object) {
	g.guard.Lock()
	select {
	case <-g.idle:
	default:
		close(g.idle)
	}
	g.guard.Unlock()
	if late["session"] != nil {
		g.lose("answered too late")
	}
	g.Holds()
}

// lose keeps the znode of a lost grant, if the session lives, until the work under it has arrived.
func (g *grants) lose(why string) {
	held := g.take("")
	if held == nil {
		return
	}
	g.kit.notice("lost", Object{"grant": held["grant"], "why": why})
	clearing := make(chan struct{})
	g.guard.Lock()
	idle := g.idle
	g.quiet = clearing
	g.guard.Unlock()
	go func() {
		defer close(clearing)
		<-idle
		time.Sleep(arrival)
		if _, err := g.giveBack(held); err != nil {
			fmt.Fprintln(os.Stderr, "clearing away", held["path"], err)
		}
	}()
}

// Wait waits for a channel; an error at the deadline.
func Wait[T any](done <-chan T, deadline <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-deadline:
		return errTimedOut
	}
}

// Run runs a client with a recipe on stdin and stdout. Whatever else prints goes to stderr.
func Run(recipe func(*Kit) Recipe) {
	if Policy != "disconnected" && Policy != "expired" && Policy != "none" {
		panic(fmt.Sprintf("Policy is %q, not disconnected, expired or none", Policy))
	}
	kit := &Kit{
		Client: os.Getenv("ZOOQUAKE_CLIENT"), output: os.Stdout, own: map[string]int64{}, late: closed(),
		state: "connected", connected: make(chan struct{}), work: make(chan func(), 1024),
	}
	os.Stdout = os.Stderr
	kit.recipe = recipe(kit)
	_, holds := kit.recipe.(*grants)
	hello := Object{"type": "hello", "protocol": 1, "pid": os.Getpid(), "session": nil}
	hello["cannot"], hello["kit"] = append([]string{}, Cannot...), byKit(holds)
	kit.send(hello)
	milliseconds, err := strconv.Atoi(os.Getenv("ZOOQUAKE_SESSION_MS"))
	if err != nil {
		panic(err)
	}
	go kit.connect(strings.Split(os.Getenv("ZOOQUAKE_CONNECT"), ","), time.Duration(milliseconds)*time.Millisecond)
	go func() {
		for work := range kit.work {
			work()
		}
	}()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) > 0 {
			kit.take(lines.Bytes())
		}
	}
	os.Exit(0)
}

// connect has a session opened, and another one when its connection was closed.
func (kit *Kit) connect(servers []string, timeout time.Duration) {
	open := func(servers []string, timeout time.Duration) (*zk.Conn, <-chan zk.Event, error) {
		return zk.Connect(servers, timeout)
	}
	if Hooks.Connect != nil {
		open = Hooks.Connect
	}
	for ; ; time.Sleep(500 * time.Millisecond) {
		conn, events, err := open(servers, timeout)
		if err != nil {
			fmt.Fprintln(os.Stderr, "connecting:", err)
			continue
		}
		kit.guard.Lock()
		kit.Conn = conn
		kit.guard.Unlock()
		kit.watch(events)
		kit.guard.Lock()
		session := kit.session
		kit.session, kit.state = "", "expired"
		kit.guard.Unlock()
		if session != "" {
			kit.notice("session", Object{"session": session, "state": "closed"})
			kit.recipe.SessionChanged("expired")
		}
	}
}

func (kit *Kit) watch(events <-chan zk.Event) {
	for event := range events {
		told := map[zk.State]string{zk.StateHasSession: "connected", zk.StateDisconnected: "disconnected", zk.StateExpired: "expired"}[event.State]
		if event.Type != zk.EventSession || told == "" {
			continue
		}
		kit.guard.Lock()
		if told == "connected" {
			kit.session = hex(kit.Conn.SessionID())
		}
		session, before := kit.session, kit.state
		kit.state = told
		if told == "expired" {
			kit.session = ""
		}
		kit.guard.Unlock()
		// Each try to connect that fails is reported as one more disconnection, also before there is a session.
		if session == "" || told == "disconnected" && before != "connected" {
			continue
		}
		kit.notice("session", Object{"session": session, "state": told})
		kit.recipe.SessionChanged(told)
		if told == "connected" {
			select {
			case <-kit.connected:
			default:
				close(kit.connected)
			}
		}
	}
}

func (kit *Kit) send(line Object) {
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	kit.writing.Lock()
	defer kit.writing.Unlock()
	if _, err := kit.output.Write(append(text, '\n')); err != nil {
		fmt.Fprintln(os.Stderr, "write stdout:", err)
	}
}

func (kit *Kit) notice(name string, value Object) {
	kit.send(Object{"type": "notice", "notice": name, "value": value})
}

func (kit *Kit) reply(id int64, value Object, err error) {
	line := Object{"type": "reply", "id": id, "outcome": "ok", "value": value}
	var failed Failed
	if errors.As(err, &failed) {
		line["outcome"] = "fail"
	} else if err != nil {
		line["outcome"] = "info"
	}
	if err != nil {
		line["value"], line["error"] = nil, err.Error()
	}
	kit.send(line)
}

func (kit *Kit) take(line []byte) {
	var request struct {
		ID      *int64      `json:"id"`
		F       interface{} `json:"f"`
		Value   interface{} `json:"value"`
		Timeout *int64      `json:"timeout_ms"`
	}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	err := decoder.Decode(&request)
	f, named := request.F.(string)
	if err != nil || request.ID == nil || !named {
		fmt.Fprintf(os.Stderr, "not a request (%v): %s\n", err, line)
		if request.ID != nil {
			kit.reply(*request.ID, nil, Failed("not a request"))
		}
		return
	}
	id, deadline := *request.ID, after(request.Timeout)
	value, _ := request.Value.(map[string]interface{})
	switch {
	case f == "ping":
		kit.reply(id, Object{}, nil)
	case f == "confirm":
		if request.Timeout == nil {
			usual := int64(confirmMs)
			deadline = after(&usual)
		}
		go kit.beside(id, kit.confirm, deadline)
	case f == "quiesce":
		go kit.beside(id, kit.quiesce, deadline)
	case !kit.recipe.Knows(f):
		kit.reply(id, nil, Failed(fmt.Sprintf("no operation `%s`", f)))
	default:
		kit.begin(id, f, value, request.Timeout, deadline)
	}
}

// after is closed so many milliseconds from now; nil for none.
func after(milliseconds *int64) chan struct{} {
	if milliseconds == nil {
		return nil
	}
	deadline := make(chan struct{})
	time.AfterFunc(time.Duration(*milliseconds)*time.Millisecond, func() { close(deadline) })
	return deadline
}

// beside answers a control request by its deadline.
func (kit *Kit) beside(id int64, work func(<-chan struct{}) (Object, error), deadline <-chan struct{}) {
	type outcome struct {
		value Object
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := work(deadline)
		done <- outcome{value, err}
	}()
	select {
	case it := <-done:
		kit.reply(id, it.value, it.err)
	case <-deadline:
		kit.reply(id, nil, errTimedOut)
	}
}

func (kit *Kit) begin(id int64, f string, value Object, timeout *int64, deadline <-chan struct{}) {
	kit.guard.Lock()
	busy := kit.pending != nil
	if !busy {
		kit.pending = &id
	}
	kit.guard.Unlock()
	if busy {
		kit.reply(id, nil, Failed(fmt.Sprintf("busy: `%s` was asked for while another operation runs", f)))
		return
	}
	if timeout != nil {
		time.AfterFunc(time.Duration(*timeout)*time.Millisecond+grace, func() { kit.end(id, nil, errTimedOut) })
	}
	kit.work <- func() {
		done := make(chan struct{})
		kit.guard.Lock()
		kit.late = done
		kit.guard.Unlock()
		defer close(done)
		var answer Object
		err := Wait(kit.connected, deadline)
		if err == nil {
			answer, err = kit.recipe.Operate(f, value, deadline)
		}
		if kit.end(id, answer, err) {
			answer = nil
		}
		kit.recipe.Replied(answer)
	}
}

// end answers the pending operation; false if it was answered already.
func (kit *Kit) end(id int64, value Object, err error) bool {
	kit.guard.Lock()
	defer kit.guard.Unlock()
	if kit.pending == nil || *kit.pending != id {
		return false
	}
	kit.reply(id, value, err)
	kit.pending = nil
	return true
}

// quorumWrite writes the client's scratch znode: what is read after it in the same session has all that was acknowledged before.
func (kit *Kit) quorumWrite() (*zk.Stat, error) {
	path := scratch + kit.Client
	stat, err := kit.Conn.Set(path, nil, -1)
	if err == zk.ErrNoNode {
		if _, err := kit.Conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil && err != zk.ErrNodeExists {
			return nil, err
		}
		stat, err = kit.Conn.Set(path, nil, -1)
	}
	return stat, err
}

func (kit *Kit) confirm(deadline <-chan struct{}) (Object, error) {
	if err := Wait(kit.connected, deadline); err != nil {
		return nil, err
	}
	session := kit.Session()
	stat, err := kit.quorumWrite()
	if err != nil {
		return nil, err
	}
	// Belief is looked at after the write, and not before.
	held := kit.recipe.Holds()
	if session == "" || kit.Session() != session || held != nil && held["session"] != session {
		return nil, errors.New("the session changed meanwhile")
	}
	if held == nil {
		return Object{"holds": false, "zxid": stat.Mzxid}, nil
	}
	return Object{"holds": true, "grant": held["grant"], "zxid": stat.Mzxid}, nil
}

func (kit *Kit) quiesce(deadline <-chan struct{}) (Object, error) {
	kit.guard.Lock()
	pending, late := kit.pending, kit.late
	kit.guard.Unlock()
	if pending == nil {
		if err := Wait(late, deadline); err != nil {
			return nil, err
		}
	}
	sessions, znodes := []string{}, []Object{}
	select {
	case <-kit.connected:
	default:
		// There has been no session, and there is nothing that lives with one.
		return Object{"sessions": sessions, "znodes": znodes}, nil
	}
	if err := Wait(kit.recipe.Quiet(), deadline); err != nil {
		return nil, err
	}
	if session := kit.Session(); session != "" {
		sessions = append(sessions, session)
	}
	named := kit.znodes
	if Hooks.Znodes != nil {
		named = func() map[string]int64 { return Hooks.Znodes(kit) }
	}
	for path, czxid := range named() {
		if czxid == 0 {
			there, stat, err := kit.Conn.Exists(path)
			if err != nil {
				return nil, err
			}
			// What is gone is nobody's.
			if !there {
				continue
			}
			czxid = stat.Czxid
		}
		znodes = append(znodes, znode(path, czxid))
	}
	return Object{"sessions": sessions, "znodes": znodes}, nil
}

// znodes is those that the kit was named.
func (kit *Kit) znodes() map[string]int64 {
	kit.guard.Lock()
	defer kit.guard.Unlock()
	own := map[string]int64{}
	for path, czxid := range kit.own {
		own[path] = czxid
	}
	return own
}
