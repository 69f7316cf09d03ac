package hub

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/node"
)

const (
	// bindingSessions is how many sessions of one run are told apart.
	bindingSessions = 8
)

// A bindingKey is what a caller says of itself.
type bindingKey struct {
	space c3po.Space
	want  c3po.AgentID
	run   string
}

// A binding is the id a caller was given. The store has the last word: a run
// that was ousted elsewhere is refused there, whatever is remembered here.
type binding struct {
	id     c3po.AgentID
	epoch  int64
	notice string
	queues []c3po.AgentID // the mailboxes of its queues
	cause  cause          // what it was given last
	given  given
	work   followed  // what it works on, if that is of interest
	beat   int       // the interval it declared, in seconds
	noted  time.Time // when the store last heard that it is alive
	used   time.Time
	paused string // why it is paused, as far as a wait of it has ended with that
	// ahead is mail that waits have shown beyond the position they gave, by its sequence.
	ahead map[c3po.MessageID]int64
	// sessions the store knows of. A run may use several at once; each is
	// registered by its first call.
	sessions []string
}

// bindings spare the store a write for every call of a caller it knows.
type bindings struct {
	seenEvery time.Duration
	mu        sync.Mutex
	known     map[bindingKey]*binding
}

func newBindings(seenEvery time.Duration) *bindings {
	return &bindings{seenEvery: seenEvery, known: map[bindingKey]*binding{}}
}

// find also says whether it is time to note that the caller was seen.
func (b *bindings) find(key bindingKey, session string) (found binding, note, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	known, ok := b.known[key]
	if !ok || !slices.Contains(known.sessions, session) {
		return binding{}, false, false
	}
	now := time.Now()
	known.used = now
	every := b.seenEvery
	if known.beat > 0 {
		every = min(every, time.Duration(known.beat)*time.Second)
	}
	if now.Sub(known.noted) >= every {
		known.noted, note = now, true
	}
	return *known, note, true
}

func (b *bindings) put(key bindingKey, session string, given binding) {
	given.noted = time.Now()
	given.used = given.noted
	b.mu.Lock()
	defer b.mu.Unlock()
	given.sessions = []string{session}
	if known, ok := b.known[key]; ok && known.id == given.id {
		for _, s := range known.sessions {
			if s != session && len(given.sessions) < bindingSessions {
				given.sessions = append(given.sessions, s)
			}
		}
		given.given, given.work, given.paused, given.ahead = known.given, known.work, known.paused, known.ahead
	}
	b.known[key] = &given
}

func (b *bindings) setQueues(key bindingKey, queues []c3po.AgentID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.known[key]; ok {
		known.queues = queues
	}
}

func (b *bindings) setCause(key bindingKey, given cause) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.known[key]; ok {
		known.cause = given
	}
}

// takeCause gives the chain the caller reacts to, once; empty if there is none.
func (b *bindings) takeCause(key bindingKey) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	known, ok := b.known[key]
	if !ok {
		return ""
	}
	given := known.cause
	known.cause = cause{}
	if given.at.IsZero() || time.Since(given.at) >= reaction {
		return ""
	}
	return given.chain
}

// notePause takes in why a caller is paused, and reports whether a wait is to end with that.
func (b *bindings) notePause(key bindingKey, why string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	known, ok := b.known[key]
	if !ok || known.paused == why {
		return false
	}
	known.paused = why
	return why != ""
}

// addAhead notes mail that a caller was shown beyond its position.
func (b *bindings) addAhead(key bindingKey, shown map[c3po.MessageID]int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.known[key]; ok {
		ahead := maps.Clone(known.ahead)
		if ahead == nil {
			ahead = map[c3po.MessageID]int64{}
		}
		maps.Copy(ahead, shown)
		known.ahead = ahead
	}
}

// ahead is the mail behind a position that a caller was shown.
func (b *bindings) ahead(key bindingKey, after int64) map[c3po.MessageID]int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	known, ok := b.known[key]
	if !ok || len(known.ahead) == 0 {
		return nil
	}
	ahead := maps.Clone(known.ahead)
	maps.DeleteFunc(ahead, func(_ c3po.MessageID, seq int64) bool { return seq <= after })
	known.ahead = ahead
	return ahead
}

func (b *bindings) drop(key bindingKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.known, key)
}

// dropAgent forgets every caller that acts as an agent.
func (b *bindings) dropAgent(space c3po.Space, id c3po.AgentID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, known := range b.known {
		if key.space == space && known.id == id {
			delete(b.known, key)
		}
	}
}

// unnote has the next call of an agent noted at once.
func (b *bindings) unnote(space c3po.Space, id c3po.AgentID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, known := range b.known {
		if key.space == space && known.id == id {
			known.noted = time.Time{}
		}
	}
}

func (b *bindings) dropSpace(space c3po.Space) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key := range b.known {
		if key.space == space {
			delete(b.known, key)
		}
	}
}

func (b *bindings) run(ctx context.Context) {
	tick := time.NewTicker(node.CallerIdle / 10)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			b.sweep(now)
		}
	}
}

func (b *bindings) sweep(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, known := range b.known {
		if now.Sub(known.used) >= node.CallerIdle {
			delete(b.known, key)
		}
	}
}
