package storetest

import (
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

func (w *testStore) sendRefused(step store.SendStep, code c3po.Code) error {
	w.Helper()
	_, err := w.store.Send(w.ctx, w.space, step)
	w.refused(err, code)
	return err
}

func sendPromises() []promise {
	return []promise{
		{"a message is read as it was sent", nil, func(w *testStore) {
			w.enter(alice, bob)
			step := letter(bob, alice, "line one\r\nzwei\u2028\x00 \U0001F916 <b>&\\\" \x7f{}[]")
			step.Context, step.Thread, step.ContentType = "why \x00", "deploy", "application/json"
			step.Metadata = []byte(`{"a":[],"n":9007199254740993,"o":{}}`)
			stored := w.sendStep(step)
			want := c3po.Message{
				ID: stored.Message.ID, FromAgent: bob, ToAgent: alice, Kind: c3po.KindMessage, Message: step.Text, Context: step.Context,
				Timestamp: w.now(), Thread: "deploy", Priority: c3po.Normal, ExpectsReply: true, ContentType: "application/json",
				Metadata: step.Metadata, Seq: stored.Message.Seq,
			}
			same(w, "receipt", stored, store.Stored{Message: want, State: c3po.StatePending, Recipient: w.record(alice).Told(), Now: w.now(), Fill: stored.Fill})
			entry := w.page(alice, store.InboxQuery{}).Entries[0]
			same(w, "message", entry.Message, want)
			same(w, "state", entry.State, c3po.StatePending)
			same(w, "facts", entry.Facts, store.Facts{
				Accepted: w.now(), Durability: c3po.OnDisk, Bytes: step.Bytes(), KeyBytes: step.KeyBytes(), Expires: int64(w.limits.MessageLife / time.Second),
			})
			same(w, "alone", w.entry(stored.Message.ID).Message, want)
		}},
		{"a message weighs its texts, and what is kept for it beside", nil, func(w *testStore) {
			w.enter(alice, bob)
			step := letter(bob, alice, "äöü")
			step.Context, step.Metadata = "12345", []byte(`{}`)
			same(w, "bytes", w.entry(w.sendStep(step).Message.ID).Facts.Bytes, step.Bytes())
			bare := letter(bob, alice, "")
			if more := step.Bytes() - bare.Bytes(); more < 6+5+2 || bare.Bytes() < 1000 {
				w.Errorf("texts of 13 bytes weigh %d, a message without any %d", more, bare.Bytes())
			}
		}},
		{"the id of a message comes from its number", nil, func(w *testStore) {
			w.enter(alice, bob)
			for range 3 {
				m := w.sendStep(urgent(letter(bob, alice, strings.Repeat("x", int(w.books().Seq))))).Message
				same(w, "seq", m.Seq, w.books().Seq)
				same(w, "id", m.ID, c3po.NewMessageID(bob, alice, store.MessageHex(m.Seq)))
			}
		}},
		{"an id that the recipient still has is not given again", nil, func(w *testStore) {
			w.enter(alice, bob)
			first := w.sendStep(letter(bob, alice, "first")).Message
			// The same hex comes around after 2^32 numbers.
			again := first.Seq + 1<<32
			at, _, err := w.store.RaiseEpoch(w.ctx, w.space, store.Sequence{Epoch: 1, Last: again - store.EpochMargin - 2})
			w.must(err)
			same(w, "the number before", at.Last, again-1)
			second := w.sendStep(letter(bob, alice, "second")).Message
			same(w, "seq", second.Seq, again+1)
			same(w, "both are there", w.inbox(alice), []string{"first", "second"})
			same(w, "the first", w.entry(first.ID).Message.Message, "first")
		}},
		{"a message without a thread begins one named after itself", nil, func(w *testStore) {
			w.enter(alice, bob)
			m := w.sendStep(letter(bob, alice, "hi")).Message
			same(w, "thread", m.Thread, string(m.ID))
		}},
		{"what the engine promised is kept with the message", nil, func(w *testStore) {
			w.enter(alice, bob)
			step := letter(bob, alice, "hi")
			step.Durability = c3po.InMemory
			same(w, "durability", w.entry(w.sendStep(step).Message.ID).Facts.Durability, c3po.InMemory)
		}},
		{"a stranger gets no mail", nil, func(w *testStore) {
			w.enter(bob)
			w.unchanged(func() { w.sendRefused(letter(bob, alice, "hi"), c3po.AgentNotFound) })
		}},
		{"an agent can write to itself", nil, func(w *testStore) {
			w.enter(alice)
			w.send(alice, alice, "remember")
			same(w, "inbox", w.inbox(alice), []string{"remember"})
		}},
		{"an offline agent gets its mail, and the receipt says so", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.unregister(alice, "")
			stored := w.sendStep(letter(bob, alice, "later"))
			same(w, "online", stored.Recipient.Online, false)
			same(w, "inbox", w.inbox(alice), []string{"later"})
		}},
		{"a mailbox needs nobody and its mail never expires", nil, func(w *testStore) {
			w.enter(bob)
			step := letter(bob, c3po.Human, "may I?")
			step.Kind, step.Mailbox = c3po.KindEscalation, true
			stored := w.sendStep(step)
			same(w, "recipient", stored.Recipient.ID, c3po.Human)
			same(w, "expires", w.entry(stored.Message.ID).Facts.Expires, 0)
			w.live(w.limits.MessageLife * 10)
			due, err := w.store.DueMail(w.ctx, w.space, 10)
			w.must(err)
			same(w, "due", due, nil)
			same(w, "inbox", w.inbox(c3po.Human), []string{"may I?"})
		}},
		{"a sender that was taken over is refused, an anonymous one never", nil, func(w *testStore) {
			w.register(bob, "r1")
			w.enter(alice)
			step := letter(bob, alice, "hi")
			step.Run = "r2"
			w.unchanged(func() { w.sendRefused(step, c3po.Superseded) })
			step.Run = ""
			w.sendStep(step)
			step.Run, step.Text = "r1", "again"
			w.sendStep(step)
		}},
		{"a sender can ask to fail when the recipient is away", nil, func(w *testStore) {
			w.enter(alice, bob)
			step := letter(bob, alice, "hi")
			step.FailIfAway = true
			refused := func() { w.Helper(); w.unchanged(func() { w.sendRefused(step, c3po.AgentUnavailable) }) }

			w.must(w.store.SetStatus(w.ctx, w.space, alice, "", c3po.Away, ""))
			refused()
			w.must(w.store.SetStatus(w.ctx, w.space, alice, "", c3po.Busy, ""))
			w.must(w.store.SetPaused(w.ctx, w.space, alice, "lunch"))
			refused()
			w.must(w.store.SetPaused(w.ctx, w.space, alice, ""))
			w.must(w.store.SetPaused(w.ctx, w.space, "", "all"))
			refused()
			w.must(w.store.SetPaused(w.ctx, w.space, "", ""))
			w.unregister(alice, "")
			refused()
			w.enter(alice)
			w.sendStep(step)
		}},
		{"a question of who asked to fail reaches a closed session that it starts", nil, func(w *testStore) {
			w.enter(bob)
			w.register(alice, "r1")
			w.unregister(alice, "r1")
			w.must(w.store.Attach(w.ctx, w.space, alice, "n1", c3po.SessionClosed))
			step := letter(bob, alice, "hi")
			step.FailIfAway, step.ExpectsReply = true, false
			w.unchanged(func() { w.sendRefused(step, c3po.AgentUnavailable) })
			step.ExpectsReply = true
			w.sendStep(step)
			w.must(w.store.Detach(w.ctx, w.space, alice, "n1", false, 0))
			step.Text = "again"
			w.unchanged(func() { w.sendRefused(step, c3po.AgentUnavailable) })
		}},
		{"away or paused agents get mail of who did not ask to fail", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.must(w.store.SetStatus(w.ctx, w.space, alice, "", c3po.Away, ""))
			w.must(w.store.SetPaused(w.ctx, w.space, alice, "lunch"))
			stored := w.sendStep(letter(bob, alice, "hi"))
			same(w, "paused", stored.Recipient.Paused, "lunch")
		}},
		{"a bare name that lately meant another agent is refused with both", nil, func(w *testStore) {
			w.enter(alice, "a/api", "b/api")
			step := letter(alice, "a/api", "one")
			step.Alias = "|api"
			w.sendStep(step)
			step.Text = "two"
			w.sendStep(step)
			step.To = "b/api"
			w.unchanged(func() {
				err := w.sendRefused(step, c3po.InvalidRequest)
				for _, id := range []string{"a/api", "b/api"} {
					if !strings.Contains(err.Error(), id) {
						w.Errorf("%q does not name %s", err, id)
					}
				}
			})
			w.live(w.limits.NameLife)
			w.sendStep(step)
		}},
		{"names are remembered for each host that asks", nil, func(w *testStore) {
			w.enter(alice, "a/api", "b/api")
			step := letter(alice, "a/api", "one")
			step.Alias = "x|api"
			w.sendStep(step)
			step.To, step.Alias = "b/api", "y|api"
			w.sendStep(step)
		}},
		{"an escalation pauses its sender in the same step", nil, func(w *testStore) {
			w.enter(bob)
			step := letter(bob, c3po.Human, "may I?")
			step.Kind, step.Mailbox, step.PauseFrom = c3po.KindEscalation, true, c3po.PausedForHuman
			before := w.books().Seq
			id := w.sendStep(step).Message.ID
			same(w, "paused", w.record(bob).Paused, c3po.PausedForHuman)
			same(w, "events", kinds(w.events(before)), []c3po.EventKind{c3po.EventAccepted, c3po.EventPaused})
			step.Text = "and this?"
			w.sendStep(step)
			same(w, "events of a paused sender", kinds(w.events(before+2)), []c3po.EventKind{c3po.EventAccepted})
			same(w, "kind", w.entry(id).Message.Kind, c3po.KindEscalation)
		}},
		{"a send is checked in a fixed order", func(l *c3po.Limits) { l.InboxMessages, l.SenderShare = 1, 1 }, func(w *testStore) {
			w.register(bob, "r1")
			w.enter("a/api")
			first := keyed(letter(bob, "a/api", "first"), "k")
			first.Alias, first.RateLimit = "api", 1
			w.sendStep(first)

			step := letter(bob, "b/api", "second")
			step.Key, step.Run, step.Alias, step.RateLimit, step.FailIfAway = "k", "r2", "api", 1, true
			w.sendRefused(step, c3po.KeyConflict)
			step.Key = ""
			w.sendRefused(step, c3po.Superseded)
			step.Run = "r1"
			w.sendRefused(step, c3po.AgentNotFound)
			w.enter("b/api")
			w.unregister("b/api", "")
			filler := letter("a/api", "b/api", "filler")
			w.sendStep(filler)
			w.sendRefused(step, c3po.InvalidRequest)
			step.Alias = ""
			w.sendRefused(step, c3po.AgentUnavailable)
			step.FailIfAway = false
			w.sendRefused(step, c3po.RateLimited)
			step.RateLimit = 0
			w.sendRefused(step, c3po.InboxFull)
		}},
	}
}

func kinds(events []c3po.Event) []c3po.EventKind {
	var out []c3po.EventKind
	for _, e := range events {
		out = append(out, e.Kind)
	}
	return out
}
