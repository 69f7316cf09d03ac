package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// A Harness is a store under test. Its clock stands still but for Advance,
// which also moves it backwards.
type Harness struct {
	Store   store.Store
	Advance func(d time.Duration)
	// Holds gives all that is kept of a space: of each key, by the name that the
	// documentation of redisstore has, its fields or members. nil if the store does not
	// keep things so.
	Holds func(space c3po.Space) map[string][]string
	// Drop takes away all that is kept of a space. nil if nobody minds.
	Drop func(space c3po.Space)
}

// A promise is something every store keeps. Its name is the sentence.
type promise struct {
	name   string
	limits func(l *c3po.Limits) // what it needs to be different; nil for nothing
	keep   func(w *testStore)
}

// Run holds a store to all promises, each in a space and with a store of its
// own.
func Run(t *testing.T, open func(t *testing.T, limits c3po.Limits) Harness) {
	for _, p := range allPromises() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			limits := smallLimits()
			if p.limits != nil {
				p.limits(&limits)
			}
			h := open(t, limits)
			w := &testStore{T: t, ctx: t.Context(), store: h.Store, advance: h.Advance, limits: limits, space: freshSpace(), other: freshSpace()}
			p.keep(w)
			if h.Holds != nil {
				w.noLeftovers(h.Holds(w.space))
			}
		})
	}
}

func allPromises() []promise {
	return slices.Concat(
		registerPromises(), agentPromises(), presencePromises(), notePromises(),
		sendPromises(), repeatPromises(), limitPromises(), inboxPromises(), nextPromises(),
		ackPromises(), replyPromises(), queuePromises(), flowPromises(), costPromises(), leasePromises(), threadPromises(), ticketPromises(), holdUpPromises(), noticePromises(), reaperPromises(), trimPromises(), sweepPromises(), retirementPromises(), letterPromises(), renamePromises(), eventPromises(), epochPromises(),
		roomPromises(), roomLifePromises(), filePromises(),
	)
}

// smallLimits are easy to reach.
func smallLimits() c3po.Limits {
	l := c3po.DefaultLimits().Unbudgeted()
	l.InboxMessages = 16
	l.InboxBytes = 64_000
	l.SenderShare = 2
	return l
}

// freshSpace names a space nobody has used, whatever the engine remembers of
// earlier tests.
func freshSpace() c3po.Space { return c3po.Space("t-" + strings.ToLower(rand.Text())) }

const (
	alice c3po.AgentID = "alice"
	bob   c3po.AgentID = "box/bob"
	carol c3po.AgentID = "carol"
)

// A testStore is the store that a promise is tried on. Its methods do what must succeed.
type testStore struct {
	*testing.T
	ctx     context.Context
	store   store.Store
	advance func(time.Duration)
	limits  c3po.Limits
	space   c3po.Space
	other   c3po.Space
}

func (w *testStore) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatalf("refused: %v (%v)", err, c3po.AsError(err).Code)
	}
}

func (w *testStore) refused(err error, code c3po.Code) {
	w.Helper()
	if !errors.Is(err, code) {
		w.Fatalf("error = %v, want code %v", err, code)
	}
	if e := c3po.AsError(err); e.Message == "" || e.Suggestion == "" {
		w.Fatalf("%v has no sentence or no suggestion: %+v", code, e)
	}
}

// same compares; an empty list is as good as none.
func same[T any](w *testStore, what string, got, want T) {
	w.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		w.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

func (w *testStore) now() time.Time {
	w.Helper()
	now, err := w.store.Now(w.ctx)
	w.must(err)
	return now
}

// live lets time pass, lived time too.
func (w *testStore) live(d time.Duration) {
	w.Helper()
	_, err := w.store.Tick(w.ctx, w.space, "", d)
	w.must(err)
	w.advance(d)
	_, err = w.store.Tick(w.ctx, w.space, "", d)
	w.must(err)
}

// register asks for an id as a run, without a session.
func (w *testStore) register(want c3po.AgentID, run string) store.Registration {
	w.Helper()
	reg, err := w.store.Register(w.ctx, w.space, store.RegisterStep{Want: want, Run: run})
	w.must(err)
	return reg
}

// enter registers agents whose run does not matter.
func (w *testStore) enter(ids ...c3po.AgentID) {
	w.Helper()
	for _, id := range ids {
		w.register(id, "")
	}
}

func (w *testStore) record(id c3po.AgentID) store.Record {
	w.Helper()
	records, err := w.store.Agents(w.ctx, w.space, []c3po.AgentID{id})
	w.must(err)
	if len(records) != 1 {
		w.Fatalf("%d records of %s", len(records), id)
	}
	return records[0]
}

// letter is an ordinary message.
func letter(from, to c3po.AgentID, text string) store.SendStep {
	return store.SendStep{
		Draft:      store.Draft{From: from, To: to, Kind: c3po.KindMessage, Priority: c3po.Normal, Text: text, ExpectsReply: true},
		Durability: c3po.OnDisk,
	}
}

// weight is what an ordinary message weighs.
func weight(from, to c3po.AgentID, length int) int {
	return letter(from, to, strings.Repeat("x", length)).Bytes()
}

func urgent(step store.SendStep) store.SendStep {
	step.Priority = c3po.Urgent
	return step
}

func keyed(step store.SendStep, key string) store.SendStep {
	step.Key = key
	return step
}

// answer is an ordinary reply.
func answer(from c3po.AgentID, to c3po.MessageID, text string) store.ReplyStep {
	return store.ReplyStep{
		Draft:      store.Draft{From: from, Priority: c3po.Normal, Text: text, Status: c3po.ReplySuccess},
		Durability: c3po.OnDisk,
		Answers:    to,
	}
}

func (w *testStore) sendStep(step store.SendStep) store.Stored {
	w.Helper()
	stored, err := w.store.Send(w.ctx, w.space, step)
	w.must(err)
	return stored
}

func (w *testStore) send(from, to c3po.AgentID, text string) c3po.MessageID {
	w.Helper()
	return w.sendStep(letter(from, to, text)).Message.ID
}

// tell sends what expects no answer.
func (w *testStore) tell(from, to c3po.AgentID, text string) c3po.MessageID {
	w.Helper()
	step := letter(from, to, text)
	step.ExpectsReply = false
	return w.sendStep(step).Message.ID
}

func (w *testStore) reply(from c3po.AgentID, to c3po.MessageID, text string) c3po.MessageID {
	w.Helper()
	stored, err := w.store.Reply(w.ctx, w.space, answer(from, to, text))
	w.must(err)
	return stored.Message.ID
}

func (w *testStore) ack(owner c3po.AgentID, ids ...c3po.MessageID) []store.AckOutcome {
	w.Helper()
	outcomes, err := w.store.Ack(w.ctx, w.space, owner, "", ids)
	w.must(err)
	return outcomes
}

func (w *testStore) bury(id c3po.MessageID) {
	w.Helper()
	buried, err := w.store.Bury(w.ctx, w.space, id, c3po.ReasonExpired, "it was not read")
	w.must(err)
	if !buried {
		w.Fatalf("%s was not buried", id)
	}
}

func (w *testStore) page(owner c3po.AgentID, q store.InboxQuery) store.InboxPage {
	w.Helper()
	if q.Limit == 0 {
		q.Limit = 100
	}
	if q.Bytes == 0 {
		q.Bytes = 1 << 20
	}
	page, err := w.store.Inbox(w.ctx, w.space, owner, q)
	w.must(err)
	return page
}

// inbox is all a reader would read.
func (w *testStore) inbox(owner c3po.AgentID) []string {
	w.Helper()
	return texts(w.page(owner, store.InboxQuery{}).Entries)
}

func texts(entries []store.Entry) []string {
	var out []string
	for _, e := range entries {
		out = append(out, e.Message.Text())
	}
	return out
}

func (w *testStore) next(owner c3po.AgentID, q store.NextQuery) (text string, seq int64) {
	w.Helper()
	next, err := w.store.Next(w.ctx, w.space, owner, q)
	w.must(err)
	if next.Entry == nil {
		return "", next.Seq
	}
	return next.Entry.Message.Text(), next.Seq
}

func (w *testStore) message(id c3po.MessageID) *store.Entry {
	w.Helper()
	entry, err := w.store.Message(w.ctx, w.space, id)
	w.must(err)
	return entry
}

// entry is a message that must be known.
func (w *testStore) entry(id c3po.MessageID) store.Entry {
	w.Helper()
	entry := w.message(id)
	if entry == nil {
		w.Fatalf("%s is unknown", id)
	}
	return *entry
}

func (w *testStore) books() store.Counters {
	w.Helper()
	books, err := w.store.Counters(w.ctx, w.space)
	w.must(err)
	return books
}

func (w *testStore) events(after int64) []c3po.Event {
	w.Helper()
	events, err := w.store.Events(w.ctx, w.space, after, 1000)
	w.must(err)
	return events
}

// unchanged runs a step and proves that it left no trace in the books.
func (w *testStore) unchanged(step func()) {
	w.Helper()
	before := w.books()
	step()
	same(w, "the books of a step that changes nothing", w.books(), before)
}

// noLeftovers finds entries of memberships, rooms and attachments that are over. What a
// promise says need not depend on them: they would wait for the next of that name.
func (w *testStore) noLeftovers(holds map[string][]string) {
	w.Helper()
	has := map[string]bool{}
	for key, fields := range holds {
		for _, field := range fields {
			has[key+"\x00"+field] = true
		}
	}
	for key, fields := range holds {
		kind, of, _ := strings.Cut(key, ":")
		for _, field := range fields {
			room, _, _ := strings.Cut(field, "\x00")
			node, id, _ := strings.Cut(field, " ")
			ok := true
			switch kind {
			case "skips":
				ok = has["agents\x00"+of] && (room == string(c3po.Everybody) || has["joined:"+of+"\x00"+room])
			case "reads":
				ok = room == string(c3po.Everybody) || has["joined:"+of+"\x00"+room]
			case "joined":
				ok = has["members:"+field+"\x00"+of]
			case "members", "invited", "room":
				ok = has["rooms\x00"+of]
			case "attached":
				ok = has["agents\x00"+id] && !slices.ContainsFunc(fields, func(other string) bool {
					elsewhere, same, _ := strings.Cut(other, " ")
					return same == id && elsewhere != node
				})
			}
			if !ok {
				w.Errorf("%s still has %q", key, field)
			}
		}
	}
}
