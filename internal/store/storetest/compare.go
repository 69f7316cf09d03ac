package storetest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/testkit/seed"
)

// stepsInSequence is the length of one random life.
const stepsInSequence = 60

// Compare runs random sequences of steps on a store and on a Model with the
// same clock. Every answer must be the same, and after every step the books
// must balance. The flag -rapid.checks says how many sequences, package seed which.
func Compare(t *testing.T, open func(t *testing.T, limits c3po.Limits) Harness) {
	limits := tightLimits()
	h := open(t, limits)
	seed.Check(t, func(rt *rapid.T) { newComparison(rt, t.Context(), h, limits).fight() })
}

// tightLimits are met by chance within a sequence.
func tightLimits() c3po.Limits {
	l := c3po.DefaultLimits()
	l.InboxMessages, l.InboxBytes, l.SenderShare, l.SpaceBytes = 4, 5_500, 2, 11_000
	l.PersonMessages, l.PersonBytes = 1, 1_000
	l.MessageLife, l.KeyLife, l.NameLife = 10*time.Minute, 25*time.Minute, 15*time.Minute
	l.ChainMessages, l.ChainHops, l.PairMessages, l.AgentMessages, l.AgentBytes = 4, 6, 9, 14, 4_000
	l.ChainTokens = 5_000
	l.EndedLife, l.EndedBytes, l.DeadLife = 20*time.Minute, 2_500, 12*time.Minute
	l.FileLife, l.SpaceFileBytes = 15*time.Minute, 3*c3po.FileChunkBytes
	return roomLimits(l)
}

// A comparison runs one sequence of steps on two stores.
type comparison struct {
	*rapid.T
	ctx    context.Context
	model  *Model
	rival  Harness
	arenas []*comparedSpace
}

// A comparedSpace is one space of a comparison and what a step may refer to there.
type comparedSpace struct {
	space  c3po.Space
	agents []c3po.AgentID
	mail   []c3po.MessageID
	sends  []store.SendStep // that were tried, to be repeated
	said   []store.PostStep // likewise
	posts  []c3po.MessageID
	files  []store.FileStep // that were begun
	seq    int64            // events up to here were compared
}

// GoString keeps the log of a failing sequence readable.
func (a *comparedSpace) GoString() string { return string(a.space) }

func newComparison(rt *rapid.T, ctx context.Context, rival Harness, limits c3po.Limits) *comparison {
	d := &comparison{T: rt, ctx: ctx, model: NewModel(limits), rival: rival}
	now, err := rival.Store.Now(ctx)
	if err != nil {
		rt.Fatalf("clock of the store: %v", err)
	}
	d.model.SetNow(now)
	durability, err := rival.Store.Durability(ctx)
	if err != nil {
		rt.Fatalf("durability of the store: %v", err)
	}
	d.model.SetDurability(durability)
	for range 2 {
		a := &comparedSpace{space: freshSpace()}
		d.arenas = append(d.arenas, a)
		if rival.Drop != nil {
			rt.Cleanup(func() { rival.Drop(a.space) })
		}
	}
	return d
}

func (d *comparison) fight() {
	steps := allSteps()
	for _, a := range append(d.arenas, d.arenas...) {
		d.register(a)
	}
	for range stepsInSequence {
		a := d.arenas[0]
		if d.oneIn(5, "the other space") {
			a = d.arenas[1]
		}
		step := draw(d, "step", steps)
		step.take(d, a)
		d.audit(a)
	}
	for _, a := range d.arenas {
		d.compareEverything(a)
	}
}

// both takes one step on both stores and compares the answers.
func both[T any](d *comparison, what string, step func(store.Store) (T, error), options ...cmp.Option) (T, error) {
	d.Helper()
	want, wantErr := step(d.model)
	got, gotErr := step(d.rival.Store)
	if code(wantErr) != code(gotErr) {
		d.Fatalf("%s: the store says %q (%v), the model %q (%v)", what, code(gotErr), gotErr, code(wantErr), wantErr)
	}
	// Nearly always so, and far cheaper to see than why not.
	if reflect.DeepEqual(want, got) {
		return want, wantErr
	}
	options = append(options, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(store.Record{}, "RegSeq"), cmp.FilterValues(
		func(a, b store.Record) bool { return a.RegSeq == 0 && b.RegSeq == 0 },
		cmp.Comparer(func(a, b store.Record) bool { return a.ID == b.ID }), // an unregistered recipient has only a name
	))
	if diff := cmp.Diff(want, got, options...); diff != "" {
		d.Fatalf("%s differs (-model +store):\n%s", what, diff)
	}
	return want, wantErr
}

// listed is for answers that list messages, where a store need not know which
// sessions were told of them.
func listed() cmp.Option {
	return cmp.Options{cmpopts.IgnoreFields(store.Facts{}, "Notified"), cmpopts.IgnoreFields(store.NextMessage{}, "Looked")}
}

// done takes a step that answers nothing.
func (d *comparison) done(what string, step func(store.Store) error) {
	d.Helper()
	_, _ = both(d, what, func(s store.Store) (struct{}, error) { return struct{}{}, step(s) })
}

func code(err error) c3po.Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*c3po.Error](err); ok {
		return e.Code
	}
	return c3po.Internal
}

// audit proves after a step that both tell the same story and that no message
// is missing from it.
func (d *comparison) audit(a *comparedSpace) {
	d.Helper()
	books, _ := both(d, "counters", func(s store.Store) (store.Counters, error) { return s.Counters(d.ctx, a.space) })
	if books.Sent != books.Pending+books.Acked+books.Cancelled+books.Dead {
		d.Fatalf("the books do not balance: %+v", books)
	}
	found, bytes := 0, int64(0)
	owners := append([]c3po.AgentID{c3po.Human, queueX}, a.agents...)
	sizes, _ := both(d, "inbox sizes", func(s store.Store) ([]int, error) { return s.InboxSizes(d.ctx, a.space, owners) })
	for i, id := range owners {
		n, _ := both(d, "inbox size", func(s store.Store) (int, error) { return s.InboxSize(d.ctx, a.space, id) })
		if n != sizes[i] {
			d.Fatalf("the inbox of %s holds %d, and %d among others", id, n, sizes[i])
		}
		found += n
		size, _ := both(d, "inbox bytes", func(s store.Store) (int64, error) { return s.InboxBytes(d.ctx, a.space, id) })
		bytes += size
	}
	if bytes != books.PendingBytes {
		d.Fatalf("%d bytes are in the inboxes, %d in the books", bytes, books.PendingBytes)
	}
	if int64(found) != books.Pending {
		d.Fatalf("%d messages are in the inboxes, %d in the books", found, books.Pending)
	}
	events, _ := both(d, "events", func(s store.Store) ([]c3po.Event, error) { return s.Events(d.ctx, a.space, a.seq, 1000) })
	for _, e := range events {
		if next := a.seq + 1; e.Seq != next && e.Kind != c3po.EventRollback {
			d.Fatalf("event %d, want %d", e.Seq, next)
		}
		a.seq = e.Seq
		// Bounces are mail that no step answered with.
		if e.Kind == c3po.EventAccepted && !slices.Contains(a.mail, e.ID) {
			a.mail = append(a.mail, e.ID)
		}
	}
	_, _ = both(d, "agents", func(s store.Store) ([]store.Record, error) { return s.AgentPage(d.ctx, a.space, 0, 100) })
}

func (d *comparison) compareEverything(a *comparedSpace) {
	d.Helper()
	threads := map[string]bool{}
	for _, id := range a.mail {
		entry, _ := both(d, "message", func(s store.Store) (*store.Entry, error) { return s.Message(d.ctx, a.space, id) })
		if entry != nil {
			threads[entry.Message.Thread] = true
		}
		_, _ = both(d, "answers", func(s store.Store) ([]store.Entry, error) { return s.Answers(d.ctx, a.space, id) })
	}
	for thread := range threads {
		_, _ = both(d, "thread", func(s store.Store) ([]store.Entry, error) { return s.Thread(d.ctx, a.space, thread, 0, 1000) })
	}
	for _, id := range append([]c3po.AgentID{c3po.Human, queueX}, a.agents...) {
		_, _ = both(d, "inbox", func(s store.Store) (store.InboxPage, error) {
			return s.Inbox(d.ctx, a.space, id, store.InboxQuery{Limit: 1000, Bytes: 1 << 20})
		}, listed())
	}
	d.compareFiles(a)
	d.compareKeys(a, "all")
	_, _ = both(d, "dead letters", func(s store.Store) ([]store.DeadLetter, error) { return s.DeadLetters(d.ctx, a.space, 0, 1000) })
	_, _ = both(d, "online count", func(s store.Store) (int, error) { return s.OnlineCount(d.ctx, a.space) })
	_, _ = both(d, "sequence", func(s store.Store) (store.Sequence, error) { return s.Sequence(d.ctx, a.space) })
}

// advance moves both clocks.
func (d *comparison) advance(by time.Duration) {
	d.model.Advance(by)
	d.rival.Advance(by)
}

// draw picks each with the same chance. rapid.SampledFrom favours both ends of
// a list, so that half of the steps would be the same few.
func draw[T any](d *comparison, what string, from []T) T {
	return rapid.Custom(func(rt *rapid.T) T {
		n := 0
		for range 10 {
			n <<= 1
			if rapid.Bool().Draw(rt, "bit") {
				n++
			}
		}
		return from[n%len(from)]
	}).Draw(d.T, what)
}

// oneIn is true once in n times.
func (d *comparison) oneIn(n int, what string) bool {
	choices := make([]bool, n)
	choices[n-1] = true
	return draw(d, what, choices)
}
