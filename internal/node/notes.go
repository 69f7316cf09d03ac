package node

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

const (
	flushEvery = time.Second
	// flushItems is how many notes go into one step of the store.
	flushItems = 200
	// maxUnwrittenNotes bounds the served notes of a space while the store does not
	// take any; what is beyond is lost, so it is under-reported.
	maxUnwrittenNotes = 10_000
	// maxGiven bounds what is remembered of one reader; it may then be given
	// its oldest mail again, marked as redelivered.
	maxGiven = 500
	// manyLooked is after how many messages it is worth a note that their reader
	// has them.
	manyLooked = 64
)

// Notes are the facts a node learns by answering. They are written down once a
// second, whatever the number of reads.
type Notes struct {
	store store.Store
	log   *slog.Logger
	calls *LastCalls

	mu        sync.Mutex
	unwritten map[c3po.Space]*unwritten
	// flown are the notes of the last flush. Who reads the store while they are written, or
	// has just done so, does not find them there.
	flown map[c3po.Space]*unwritten
	// given is what each reader was handed and the store may not know yet, so
	// that its next wait is not answered with the same message.
	given map[readerKey]*givenMail
}

type unwritten struct {
	seen        map[c3po.AgentID]struct{}
	late        map[c3po.AgentID]time.Time // when they called
	served      []store.ServedNote
	times       map[c3po.MessageID]int // in served
	latest      map[servedKey]int      // where in served the note of a message and reader is that takes further answers
	notified    map[sessionKey]store.NotifiedNote
	passed      map[sessionKey]store.GivenNote
	servedPosts map[roomKey]store.PostServedNote
}

type servedKey struct {
	id     c3po.MessageID
	reader string
}

type roomKey struct {
	sessionKey
	room c3po.RoomName
}

// NewNotes has nothing to write down yet.
func NewNotes(store store.Store, log *slog.Logger, calls *LastCalls) *Notes {
	return &Notes{store: store, log: log, calls: calls, unwritten: map[c3po.Space]*unwritten{}, given: map[readerKey]*givenMail{}}
}

// Run writes down what has gathered, once a while, until ctx ends.
func (n *Notes) Run(ctx context.Context) {
	flush, sweep := time.NewTicker(flushEvery), time.NewTicker(CallerIdle/10)
	defer flush.Stop()
	defer sweep.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-flush.C:
			n.Flush(ctx, false)
		case now := <-sweep.C:
			n.sweep(now)
		}
	}
}

// AddSeen notes a sign of life of an agent.
func (n *Notes) AddSeen(space c3po.Space, id c3po.AgentID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.of(space).seen[id] = struct{}{}
}

// TimesServed says how often a message was handed out since the last flush, and whether
// this reader is remembered to have it, or somebody was handed it by a note on its way.
func (n *Notes) TimesServed(space c3po.Space, note store.ServedNote) (times int, again bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if u := n.unwritten[space]; u != nil {
		times = u.times[note.ID]
	}
	if u := n.flown[space]; u != nil && u.times[note.ID] > 0 {
		return times, true
	}
	g := n.given[keyOf(space, note)]
	return times, g != nil && g.holds(note.ID)
}

// AddServed notes that a reader was handed a message.
func (n *Notes) AddServed(space c3po.Space, note store.ServedNote) {
	n.mu.Lock()
	defer n.mu.Unlock()
	u := n.of(space)
	key := servedKey{note.ID, note.Reader}
	note.Times, note.First = 1, note.At
	if i, ok := u.latest[key]; ok {
		note.Times, note.First = u.served[i].Times+1, u.served[i].First
		u.served[i] = note
		u.times[note.ID]++
	} else if len(u.served) < maxUnwrittenNotes {
		u.latest[key] = len(u.served)
		u.served = append(u.served, note)
		u.times[note.ID]++
	}
	n.remember(keyOf(space, note), given{id: note.ID, cursor: note.Cursor})
}

// AddServedPost notes that a reader was handed a post. The last of a room stands for
// those before it.
func (n *Notes) AddServedPost(space c3po.Space, note store.PostServedNote) {
	n.mu.Lock()
	defer n.mu.Unlock()
	u, key := n.of(space), roomKey{sessionKey{note.Agent, note.Reader}, note.ID.Room()}
	if note.Seq > u.servedPosts[key].Seq {
		u.servedPosts[key] = note
	}
	n.remember(readerKey{space, note.Agent, note.Reader}, given{note.ID, note.Cursor, note.Seq})
}

// HasServedPost says whether the reader is remembered to have the post.
func (n *Notes) HasServedPost(space c3po.Space, note store.PostServedNote) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	g := n.given[readerKey{space, note.Agent, note.Reader}]
	return g != nil && g.holds(note.ID)
}

// AddNotified notes that a session was told of mail.
func (n *Notes) AddNotified(space c3po.Space, note store.NotifiedNote) {
	n.mu.Lock()
	defer n.mu.Unlock()
	u, key := n.of(space), sessionKey{note.Agent, note.Reader}
	if note.Seq > u.notified[key].Seq {
		u.notified[key] = note
	}
}

// of is called with the lock held.
func (n *Notes) of(space c3po.Space) *unwritten {
	u := n.unwritten[space]
	if u == nil {
		u = &unwritten{seen: map[c3po.AgentID]struct{}{}, late: map[c3po.AgentID]time.Time{}, times: map[c3po.MessageID]int{}, latest: map[servedKey]int{}, notified: map[sessionKey]store.NotifiedNote{}, passed: map[sessionKey]store.GivenNote{}, servedPosts: map[roomKey]store.PostServedNote{}}
		n.unwritten[space] = u
	}
	return u
}

// Flush writes down what has gathered. What is on its way is counted neither
// here nor there for that moment: less than the truth, never more; that it was handed out
// is known. The last flush also says when everybody last called.
func (n *Notes) Flush(ctx context.Context, last bool) {
	late := n.calls.takeDue(last)
	n.mu.Lock()
	for key, ago := range late {
		n.of(key.space).late[key.id] = time.Now().Add(-ago)
	}
	taken := n.unwritten
	n.unwritten, n.flown = map[c3po.Space]*unwritten{}, taken
	n.mu.Unlock()
	type part struct {
		space c3po.Space
		notes store.Notes
	}
	var parts []part
	for space, u := range taken {
		for _, notes := range u.parts() {
			parts = append(parts, part{space, notes})
		}
	}
	InBatches(parts, func(p part) { n.write(ctx, p.space, p.notes) })
}

// parts cuts notes into steps the store can take at once.
func (u *unwritten) parts() []store.Notes {
	var parts []store.Notes
	for chunk := range slices.Chunk(u.served, flushItems) {
		parts = append(parts, store.Notes{Served: chunk})
	}
	for chunk := range slices.Chunk(slices.Collect(maps.Values(u.passed)), flushItems) {
		parts = append(parts, store.Notes{Given: chunk})
	}
	for chunk := range slices.Chunk(slices.Collect(maps.Values(u.servedPosts)), flushItems) {
		parts = append(parts, store.Notes{ServedPosts: chunk})
	}
	var late []store.LateNote
	for id, at := range u.late {
		if _, seen := u.seen[id]; !seen {
			late = append(late, store.LateNote{Agent: id, Ago: time.Since(at)})
		}
	}
	for chunk := range slices.Chunk(late, flushItems) {
		parts = append(parts, store.Notes{Late: chunk})
	}
	var rest store.Notes
	for id := range u.seen {
		rest.Seen = append(rest.Seen, id)
	}
	for _, note := range u.notified {
		rest.Notified = append(rest.Notified, note)
	}
	slices.Sort(rest.Seen)
	for len(rest.Seen) > 0 || len(rest.Notified) > 0 {
		seen, notified := min(len(rest.Seen), flushItems), min(len(rest.Notified), flushItems)
		next := store.Notes{Seen: rest.Seen[:seen], Notified: rest.Notified[:notified]}
		rest = store.Notes{Seen: rest.Seen[seen:], Notified: rest.Notified[notified:]}
		// Few notes of both sorts are the common case: one step, not two.
		if len(parts) > 0 && len(parts[0].Seen) == 0 && len(parts[0].ServedPosts)+len(parts[0].Late) == 0 && len(parts[0].Served)+len(parts[0].Given)+seen+notified <= flushItems {
			parts[0].Seen, parts[0].Notified = next.Seen, next.Notified
			continue
		}
		parts = append(parts, next)
	}
	return parts
}

func (n *Notes) write(ctx context.Context, space c3po.Space, notes store.Notes) {
	ctx, cancel := context.WithTimeout(ctx, StepTimeout)
	defer cancel()
	err := n.store.WriteNotes(ctx, space, notes)
	if err == nil {
		n.forgetGiven(space, notes.Served)
		n.forgetServedPosts(space, notes.ServedPosts)
		return
	}
	n.log.WarnContext(ctx, "notes were not written", "space", space, "err", err)
	// They may have been after all; the store counts a note only once.
	n.putBack(space, notes)
}

func (n *Notes) putBack(space c3po.Space, notes store.Notes) {
	n.mu.Lock()
	defer n.mu.Unlock()
	u := n.of(space)
	for _, id := range notes.Seen {
		u.seen[id] = struct{}{}
	}
	for _, note := range notes.Late {
		u.late[note.Agent] = time.Now().Add(-note.Ago)
	}
	for _, note := range notes.Notified {
		if key := (sessionKey{note.Agent, note.Reader}); note.Seq > u.notified[key].Seq {
			u.notified[key] = note
		}
	}
	for _, note := range notes.Given {
		u.pass(note)
	}
	for _, note := range notes.ServedPosts {
		if key := (roomKey{sessionKey{note.Agent, note.Reader}, note.ID.Room()}); note.Seq > u.servedPosts[key].Seq {
			u.servedPosts[key] = note
		}
	}
	kept := notes.Served[:min(len(notes.Served), maxUnwrittenNotes-len(u.served))]
	u.served = slices.Concat(kept, u.served)
	for _, note := range kept {
		u.times[note.ID] += max(1, note.Times)
	}
	// What may have been written takes no further answers: it would count twice.
	for key, i := range u.latest {
		u.latest[key] = i + len(kept)
	}
}

// forgetServedPosts drops the posts the store knows the reader to have by now.
func (n *Notes) forgetServedPosts(space c3po.Space, written []store.PostServedNote) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, note := range written {
		key := readerKey{space, note.Agent, note.Reader}
		g := n.given[key]
		if g == nil {
			continue
		}
		room := note.ID.Room()
		g.mail = slices.DeleteFunc(g.mail, func(m given) bool { return m.seq > 0 && m.seq <= note.Seq && m.id.Room() == room })
		if len(g.mail) == 0 {
			delete(n.given, key)
		}
	}
}

func (n *Notes) sweep(now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for key, g := range n.given {
		if now.Sub(g.used) >= CallerIdle {
			delete(n.given, key)
		}
	}
}
