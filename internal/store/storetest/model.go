// Package storetest says what a store.Store is, three times: Model does it in
// memory, Run proves a store's promises one by one, and Compare runs random
// steps against a store and the Model side by side.
//
// It is for tests only. The Model forgets everything when the process ends, so
// no server runs on it.
package storetest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// Model is a store.Store in memory. It looks things up by walking over all of
// them: it is written to be read, not to be fast.
type Model struct {
	mu         sync.Mutex
	limits     c3po.Limits
	fixed      time.Time // zero: the clock runs
	ahead      time.Duration
	durability c3po.Durability
	memory     store.Memory
	dropWakes  int
	spaces     map[c3po.Space]*space
	listeners  []*listener
	term       term
	floor      store.Sequence // above which spaces begin
}

var _ store.Store = (*Model)(nil)

// space holds all that lives in one space.
type space struct {
	limits  c3po.Limits
	written bool
	books   store.Counters
	events  []c3po.Event
	agents  map[c3po.AgentID]*agent
	renamed map[c3po.AgentID]alias // former names
	retired []retiree              // in the order they retired
	// registrations there ever were; the last one's number
	registrations int64
	sessions      map[string]c3po.AgentID // the id a client session last had
	leases        map[string]time.Time    // when the lease of a node ends
	paused        string
	messages      map[c3po.MessageID]*message
	keys          map[keyName]*keyRecord
	sends         map[c3po.AgentID][]time.Time // counted for the rate limit
	aliases       map[string]alias
	deadlines     map[c3po.MessageID]time.Time        // not yet said to have passed
	marks         map[c3po.AgentID]map[string]*reader // by who reads
	queues        map[c3po.AgentID]bool               // that anybody ever registered with
	accounts      map[string]*account
	costs         map[string]*chainCost
	files         map[c3po.FileID]*file
	rooms         map[c3po.RoomName]*room
	servedPosts   map[servedPostKey]store.PostServedNote
	edits         map[editKey]*edit
	fence         int64 // the last number of a lease of a file
	lastTick      time.Time
	ticker        string        // the node whose tick was the last to count
	sweep         int64         // the lived second at which the next sweep is due
	empty         *emptiness    // nil while there is something in the space
	livedFor      time.Duration // Counters.Lived is its whole seconds
	epoch         int64         // how often it was raised
	began         int64         // the first number of the epoch
	released      int64         // the number of the last event that released a message
	published     func(c3po.Event)
}

type listener struct {
	space c3po.Space
	ready func()
	wake  func(store.Wake)
}

// NewModel makes an empty store. Its clock is time.Now, so that in a synctest
// bubble its time is the bubble's.
func NewModel(limits c3po.Limits) *Model {
	return &Model{limits: limits, durability: c3po.OnDisk, spaces: map[c3po.Space]*space{}}
}

// SetNow stops the clock at t.
func (m *Model) SetNow(t time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fixed, m.ahead = t, 0
}

// Advance moves the clock, backwards too.
func (m *Model) Advance(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ahead += d
}

// SetDurability is what Durability answers from now on.
func (m *Model) SetDurability(d c3po.Durability) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.durability = d
}

// SetMemory is what Memory answers from now on.
func (m *Model) SetMemory(is store.Memory) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.memory = is
}

// DropWakes keeps the next n wakes from the listeners, as an engine does that
// loses what it published.
func (m *Model) DropWakes(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropWakes = n
}

// Lose takes the subscription of every listener away and gives it back.
func (m *Model) Lose() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.listeners {
		l.ready()
	}
}

// Spoil damages the body of a message, so that it no longer matches its
// checksum.
func (m *Model) Spoil(name c3po.Space, id c3po.MessageID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if msg := m.space(name).messages[id]; msg != nil {
		msg.spoilt = true
	}
}

func (m *Model) now() time.Time {
	t := m.fixed
	if t.IsZero() {
		t = time.Now()
	}
	return stamp(t.Add(m.ahead))
}

// stamp gives a time as stores report it.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

func (m *Model) space(name c3po.Space) *space {
	if sp := m.spaces[name]; sp != nil {
		return sp
	}
	sp := &space{
		limits:      m.limits,
		agents:      map[c3po.AgentID]*agent{},
		sessions:    map[string]c3po.AgentID{},
		leases:      map[string]time.Time{},
		messages:    map[c3po.MessageID]*message{},
		keys:        map[keyName]*keyRecord{},
		sends:       map[c3po.AgentID][]time.Time{},
		aliases:     map[string]alias{},
		renamed:     map[c3po.AgentID]alias{},
		deadlines:   map[c3po.MessageID]time.Time{},
		marks:       map[c3po.AgentID]map[string]*reader{},
		queues:      map[c3po.AgentID]bool{},
		files:       map[c3po.FileID]*file{},
		rooms:       map[c3po.RoomName]*room{},
		servedPosts: map[servedPostKey]store.PostServedNote{},
		accounts:    map[string]*account{},
		edits:       map[editKey]*edit{},
	}
	sp.books.Seq, sp.epoch = m.floor.Last, max(0, m.floor.Epoch-1)
	sp.published = func(e c3po.Event) { m.publish(name, e) }
	m.spaces[name] = sp
	return sp
}

func (m *Model) publish(name c3po.Space, e c3po.Event) {
	if m.dropWakes > 0 {
		m.dropWakes--
		return
	}
	for _, l := range m.listeners {
		if l.space == name {
			l.wake(store.Wake{Seq: e.Seq, Agent: e.Agent})
		}
	}
}

// event takes the next number.
func (sp *space) event(kind c3po.EventKind, about c3po.AgentID, id c3po.MessageID, now time.Time) {
	sp.books.Seq++
	sp.log(c3po.Event{Seq: sp.books.Seq, Kind: kind, Agent: about, ID: id, At: now})
}

func (sp *space) log(e c3po.Event) {
	sp.written = true
	sp.events = append(sp.events, e)
	if over := len(sp.events) - sp.limits.EventEntries; over > 0 {
		sp.events = slices.Delete(sp.events, 0, over)
	}
	sp.published(e)
}

// Listen implements store.Store.
func (m *Model) Listen(ctx context.Context, name c3po.Space, ready func(), wake func(store.Wake)) error {
	l := &listener{space: name, ready: ready, wake: wake}
	m.mu.Lock()
	m.listeners = append(m.listeners, l)
	ready()
	m.mu.Unlock()

	<-ctx.Done()

	m.mu.Lock()
	defer m.mu.Unlock()
	m.listeners = slices.DeleteFunc(m.listeners, func(other *listener) bool { return other == l })
	return ctx.Err()
}

// Events implements store.Store.
func (m *Model) Events(_ context.Context, name c3po.Space, after int64, limit int) ([]c3po.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []c3po.Event
	for _, e := range m.space(name).events {
		if e.Seq > after && len(found) < limit {
			found = append(found, e)
		}
	}
	return found, nil
}

// Durability implements store.Store.
func (m *Model) Durability(context.Context) (c3po.Durability, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.durability, nil
}

// Memory implements store.Store.
func (m *Model) Memory(context.Context) (store.Memory, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.memory, nil
}

// Engine implements store.Store. A model is all there is of it.
func (m *Model) Engine(context.Context) (*c3po.Engine, error) { return nil, nil }

// Writable implements store.Store.
func (m *Model) Writable(context.Context) error { return nil }

// Now implements store.Store.
func (m *Model) Now(context.Context) (time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now(), nil
}
