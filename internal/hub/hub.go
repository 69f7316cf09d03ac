// Package hub is the rules of a coordinator: which id an agent gets, who may send what to
// whom, when a message counts as answered. Every transport calls it through As. The store
// keeps the data; the node knows which agents wait and are present here. The hub keeps
// nothing that another coordinator would need.
package hub

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/node"
	"github.com/c3po-dev/c3po/internal/store"
)

const (

	// readyTimeout is how long the store may take to answer while it is called ready.
	readyTimeout = 2 * time.Second
)

// Config configures a Hub. The zero value of every field but Store is usable.
type Config struct {
	Store    store.Store
	Limits   c3po.Limits // the defaults if zero
	Node     string      // this coordinator's name among others; a random one if empty
	Version  string
	Commit   string
	Features []string
	Notifier node.Notifier // notifies the person of questions; may be nil
	// TellsStalls says that the notifier also hears of questions that stall.
	TellsStalls bool
	Auth        string                                              // what callers must show, if that is worth a word
	Entered     func(space c3po.Space, id c3po.AgentID, run string) // called for each run that is given an id here; may be nil
	Sees        func(run string) bool                               // says that the process of a run is on this host; nobody is seen if nil
	// Host names the coordinator's own machine, whose processes it sees; empty if it sees
	// no processes.
	Host string
	// Declared is called for each process that an agent on the named host declares, and
	// Watches says whether that process is seen running. Both may be nil.
	Declared func(space c3po.Space, id c3po.AgentID, host string, pid int, start int64)
	Watches  func(space c3po.Space, id c3po.AgentID, pid int, start int64) bool
	// Stopped says that a process of that host is halted; may be nil.
	Stopped func(pid int) bool
	// Holders are the runs of the live process on the coordinator's machine that holds an
	// agent, which identify the programs it started; empty if there is no such process.
	// If nil, no caller is confined.
	Holders func(store.Record) []string
	// Proved lets a person's act through if it needs no proof or has one, and gives the
	// context to go on with. It may be nil.
	Proved func(ctx context.Context, caller c3po.Caller, act c3po.Act, describe func(context.Context, *c3po.Act) error) (context.Context, error)
	// Notary says which of the messages in a person's name that person has signed. If nil, the
	// store is believed.
	Notary Notary
	// Acted is called after each operation that belongs in the audit, with the caller, the
	// agent it acted as, and what a person decided by it if that was an approval. It may be nil.
	Acted func(ctx context.Context, caller c3po.Caller, as c3po.AgentID, o c3po.Operation, arguments []byte, decided string)
	// Ended is called for each message that a step of this coordinator ended, with the event
	// that says how. It must not wait. If nil, no message is put into a trace.
	Ended func(space c3po.Space, how c3po.EventKind, id c3po.MessageID)
	Meter Meter        // nobody counts if nil
	Log   *slog.Logger // silent if nil
}

// A Hub serves every space of its store. It needs Run beside it: without that
// notes stay unwritten, leases lapse and nothing expires.
type Hub struct {
	store     vouchedStore
	notary    Notary
	limits    c3po.Limits
	host      string
	info      c3po.ServerInfo
	log       *slog.Logger
	meter     Meter
	entered   func(c3po.Space, c3po.AgentID, string)
	sees      func(run string) bool
	declared  func(c3po.Space, c3po.AgentID, string, int, int64)
	holders   func(store.Record) []string
	proved    func(context.Context, c3po.Caller, c3po.Act, func(context.Context, *c3po.Act) error) (context.Context, error)
	acted     func(context.Context, c3po.Caller, c3po.AgentID, c3po.Operation, []byte, string)
	ended     func(c3po.Space, c3po.EventKind, c3po.MessageID)
	bindings  *bindings
	accounts  *accounts
	notes     *node.Notes
	lastCalls *node.LastCalls
	presence  *node.Presence
	marks     *node.Marks
	deadlines *node.Deadlines
	notices   *node.Notices
	stalls    bool // the person hears of them
	wakes     *node.Wakes
	vitals    vitalsCache
	approving stripes
	auditing  atomic.Bool   // one fsck runs
	draining  chan struct{} // closed by Drain
	drain     sync.Once
}

// New makes a Hub over a store.
func New(c Config) *Hub {
	if c.Limits == (c3po.Limits{}) {
		c.Limits = c3po.DefaultLimits()
	}
	if c.Node == "" {
		c.Node = NewNode()
	}
	if c.Meter == nil {
		c.Meter = unmetered{}
	}
	if c.Sees == nil {
		c.Sees = func(string) bool { return false }
	}
	if c.Entered == nil {
		c.Entered = func(c3po.Space, c3po.AgentID, string) {}
	}
	if c.Declared == nil {
		c.Declared = func(c3po.Space, c3po.AgentID, string, int, int64) {}
	}
	if c.Holders == nil {
		c.Holders = func(store.Record) []string { return nil }
	}
	if c.Proved == nil {
		c.Proved = func(ctx context.Context, _ c3po.Caller, _ c3po.Act, _ func(context.Context, *c3po.Act) error) (context.Context, error) {
			return ctx, nil
		}
	}
	if c.Acted == nil {
		c.Acted = func(context.Context, c3po.Caller, c3po.AgentID, c3po.Operation, []byte, string) {}
	}
	if c.Watches == nil {
		c.Watches = func(c3po.Space, c3po.AgentID, int, int64) bool { return false }
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	features := slices.Clone(c.Features)
	if features == nil {
		features = []string{}
	}
	calls := node.NewLastCalls(c.Limits)
	presence := node.NewPresence(c.Store, c.Log, c.Node, c.Limits.NodeLease, c.Stopped)
	fresh := node.NewFreshStore(c.Store, calls, presence, c.Watches)
	vouched := vouchedStore{fresh, c.Notary}
	h := &Hub{
		store:    vouched,
		notary:   c.Notary,
		host:     c.Host,
		limits:   c.Limits,
		info:     c3po.ServerInfo{Version: c.Version, Commit: c.Commit, Features: features, Node: c.Node, Schema: store.Schema, Auth: c.Auth},
		log:      c.Log,
		meter:    c.Meter,
		entered:  c.Entered,
		sees:     c.Sees,
		declared: c.Declared,
		holders:  c.Holders,
		proved:   c.Proved,
		acted:    c.Acted,
		ended:    c.Ended,
		bindings: newBindings(c.Limits.SeenEvery),
		accounts: newAccounts(c.Limits),
		presence: presence,
		draining: make(chan struct{}),
		stalls:   c.TellsStalls,
	}
	h.lastCalls = calls
	h.notes = node.NewNotes(fresh, c.Log, h.lastCalls)
	h.marks = node.NewMarks(fresh, c.Log, c.Meter, c.Limits.CompareEvery, h.forgetSpace)
	h.deadlines = node.NewDeadlines(h.lapse)
	h.notices = node.NewNotices(vouched, c.Log, c.Notifier)
	h.wakes = node.NewWakes(fresh, c.Log, h.marks, c.Limits.CompareEvery)
	return h
}

// NewNode makes a name for a coordinator among others.
func NewNode() string { return rand.Text()[:12] }

// As binds the hub to a caller for one request.
func (h *Hub) As(caller c3po.Caller) *Actor {
	if caller.Space == "" {
		caller.Space = c3po.DefaultSpace
	}
	if caller.Run == "" {
		caller.Run = caller.Session
	}
	return newActor(h, caller)
}

// Run does the background work until ctx ends. It then drains, writes its notes and ends
// its leases, so that its agents are not shown online after it is gone.
func (h *Hub) Run(ctx context.Context) error {
	var work sync.WaitGroup
	work.Go(func() { h.notes.Run(ctx) })
	work.Go(func() { h.presence.RunLeases(ctx) })
	work.Go(func() { h.presence.RunDetaches(ctx) })
	work.Go(func() { h.bindings.run(ctx) })
	work.Go(func() { h.marks.Run(ctx) })
	work.Go(func() { h.runReaper(ctx) })
	work.Go(func() { h.deadlines.Run(ctx) })
	work.Go(func() { h.notices.Run(ctx) })
	work.Go(func() { h.takeUp(ctx) })
	<-ctx.Done()
	h.Drain()
	work.Wait()
	h.wakes.Close()

	goodbye, cancel := context.WithTimeout(context.WithoutCancel(ctx), node.GoodbyeTimeout)
	defer cancel()
	h.notes.Flush(goodbye, true)
	h.presence.End(goodbye)
	h.resign(goodbye)
	return nil
}

// Drain ends every wait at once, and every later one, with the word to call again.
// Everything else keeps working.
func (h *Hub) Drain() { h.drain.Do(func() { close(h.draining) }) }

func (h *Hub) isDraining() bool {
	select {
	case <-h.draining:
		return true
	default:
		return false
	}
}

// Health is what /api/health answers: the state of the default space.
func (h *Hub) Health(ctx context.Context) (c3po.Health, error) {
	online, err := h.store.OnlineCount(ctx, c3po.DefaultSpace)
	if err != nil {
		return c3po.Health{}, err
	}
	return c3po.Health{Status: "ok", AgentsOnline: online}, nil
}

// Ready says whether new work should be sent here, and if not gives every
// reason, joined. It never writes.
func (h *Hub) Ready(ctx context.Context) error {
	var reasons []error
	if h.isDraining() {
		reasons = append(reasons, node.RefuseStopping())
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	if err := h.store.Writable(ctx); err != nil {
		reasons = append(reasons, err)
	}
	return errors.Join(reasons...)
}

// forgetSpace drops what this node believes about a space that went back: ids
// it gave may be known no longer, so everybody registers again by its next call.
func (h *Hub) forgetSpace(space c3po.Space) {
	h.bindings.dropSpace(space)
	h.presence.DropSpace(space)
}
