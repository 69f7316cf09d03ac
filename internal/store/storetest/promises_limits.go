package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// fill sends n different messages.
func (w *testStore) fill(from, to c3po.AgentID, n int) []c3po.MessageID {
	w.Helper()
	var ids []c3po.MessageID
	for i := range n {
		ids = append(ids, w.send(from, to, fmt.Sprint(from, " ", i, " of ", n)))
	}
	return ids
}

func fourMessages(l *c3po.Limits) { l.InboxMessages, l.SenderShare = 4, 1 }
func sharedByTwo(l *c3po.Limits)  { l.InboxMessages, l.SenderShare = 4, 2 }

// spaceOfTwo has room for two messages, of 300 bytes of text together.
func spaceOfTwo(l *c3po.Limits) { l.SpaceBytes = weight(bob, alice, 100) + weight(bob, alice, 200) }

// inboxOfTwo has room for a message of 400 characters and one of 200.
func inboxOfTwo(l *c3po.Limits) {
	l.InboxBytes, l.SenderShare = weight(bob, alice, 400)+weight(carol, alice, 200), 1
}

func limitPromises() []promise {
	return []promise{
		{"a full inbox refuses, and takes mail again after an ack", fourMessages, func(w *testStore) {
			w.enter(alice, bob, carol)
			ids := append(w.fill(bob, alice, 2), w.fill(carol, alice, 2)...)
			w.unchanged(func() { w.sendRefused(letter(bob, alice, "too much"), c3po.InboxFull) })
			w.ack(alice, ids[0])
			w.send(bob, alice, "fits")
		}},
		{"an inbox is full of bytes", inboxOfTwo, func(w *testStore) {
			w.enter(alice, bob, carol)
			w.send(bob, alice, strings.Repeat("x", 400))
			w.sendRefused(letter(carol, alice, strings.Repeat("y", 300)), c3po.InboxFull)
			w.send(carol, alice, strings.Repeat("y", 200))
			w.sendRefused(letter(carol, alice, ""), c3po.InboxFull)
		}},
		{"one sender can hold only its share of an inbox", sharedByTwo, func(w *testStore) {
			w.enter(alice, bob, carol)
			ids := w.fill(bob, alice, 2)
			w.unchanged(func() { w.sendRefused(letter(bob, alice, "too much"), c3po.InboxFull) })
			w.fill(carol, alice, 1)
			w.ack(alice, ids[0])
			w.send(bob, alice, "fits")
		}},
		{"one sender can hold only its share of the bytes", func(l *c3po.Limits) {
			l.InboxBytes, l.SenderShare = 2*(weight(bob, alice, 400)+weight(bob, alice, 200)), 2
		}, func(w *testStore) {
			w.enter(alice, bob, carol)
			w.send(bob, alice, strings.Repeat("x", 400))
			w.sendRefused(letter(bob, alice, strings.Repeat("y", 300)), c3po.InboxFull)
			w.send(bob, alice, strings.Repeat("y", 200))
			w.send(carol, alice, strings.Repeat("z", 400))
		}},
		{"replies have no share but fill the inbox", fourMessages, func(w *testStore) {
			w.enter(alice, bob)
			questions := w.fill(alice, bob, 4)
			for _, id := range questions {
				w.reply(bob, id, "yes")
			}
			question := w.send(alice, bob, "one more?")
			w.unchanged(func() {
				_, err := w.store.Reply(w.ctx, w.space, answer(bob, question, "no room"))
				w.refused(err, c3po.InboxFull)
			})
			same(w, "the question", w.entry(question).State, c3po.StatePending)
		}},
		{"replies are not held to a sender's share", sharedByTwo, func(w *testStore) {
			w.enter(alice, bob)
			for i := range 3 {
				w.reply(bob, w.send(alice, bob, fmt.Sprint("question ", i)), "yes")
			}
			same(w, "inbox", len(w.inbox(alice)), 3)
		}},
		{"a mailbox is not shared out", sharedByTwo, func(w *testStore) {
			w.enter(bob)
			for i := range 4 {
				step := letter(bob, c3po.Human, fmt.Sprint("question ", i))
				step.Mailbox = true
				w.sendStep(step)
			}
			step := letter(bob, c3po.Human, "too much")
			step.Mailbox = true
			w.sendRefused(step, c3po.InboxFull)
		}},
		{"a person's word finds a reserve in an inbox full of messages", func(l *c3po.Limits) { fourMessages(l); l.PersonMessages = 2 }, func(w *testStore) {
			w.enter(alice, bob)
			w.fill(bob, alice, 4)
			w.sendRefused(letter(bob, alice, "too much"), c3po.InboxFull)
			w.sendStep(letter(c3po.Human, alice, "stop"))
			w.sendStep(letter(c3po.Human, alice, "I mean it"))
			w.unchanged(func() { w.sendRefused(letter(c3po.Human, alice, "the reserve is used up"), c3po.InboxFull) })
			w.unchanged(func() { w.sendRefused(letter(bob, alice, "the reserve is not for agents"), c3po.InboxFull) })
		}},
		{"a person's word finds a reserve in an inbox full of bytes", func(l *c3po.Limits) {
			l.InboxBytes, l.SenderShare, l.PersonBytes = weight(bob, alice, 400), 1, weight(c3po.Human, alice, 100)
		}, func(w *testStore) {
			w.enter(alice, bob)
			w.sendStep(letter(bob, alice, strings.Repeat("x", 400)))
			w.sendRefused(letter(bob, alice, "x"), c3po.InboxFull)
			w.unchanged(func() { w.sendRefused(letter(c3po.Human, alice, strings.Repeat("x", 400)), c3po.InboxFull) })
			w.sendStep(letter(c3po.Human, alice, strings.Repeat("x", 100)))
		}},
		{"a person's answer finds the reserve too", func(l *c3po.Limits) { fourMessages(l); l.PersonMessages = 1 }, func(w *testStore) {
			w.enter(alice, bob)
			step := letter(alice, c3po.Human, "may I?")
			step.Mailbox = true
			asked := w.sendStep(step).Message.ID
			w.fill(bob, alice, 4)
			w.reply(c3po.Human, asked, "no")
		}},
		{"a bounce comes into a full inbox", fourMessages, func(w *testStore) {
			w.enter(alice, bob)
			lost := w.send(bob, alice, "lost")
			w.fill(alice, bob, 4)
			w.bury(lost)
			same(w, "inbox", len(w.inbox(bob)), 5)
		}},
		{"a full space refuses with STORE_FULL, and takes mail again after an ack", spaceOfTwo, func(w *testStore) {
			w.enter(alice, bob, carol)
			ids := append(w.fill(bob, alice, 1), w.fill(alice, carol, 1)...)
			w.unchanged(func() { w.sendRefused(letter(carol, bob, strings.Repeat("x", 200)), c3po.StoreFull) })
			w.ack(alice, ids[0])
			w.send(carol, bob, strings.Repeat("x", 200))
		}},
		{"an answer no longer than its question drains a full space", spaceOfTwo, func(w *testStore) {
			w.enter(alice, bob)
			short, long := w.send(alice, bob, strings.Repeat("q", 100)), w.send(alice, bob, strings.Repeat("q", 200))
			w.unchanged(func() {
				_, err := w.store.Reply(w.ctx, w.space, answer(bob, short, strings.Repeat("a", 400)))
				w.refused(err, c3po.StoreFull)
			})
			w.reply(bob, short, strings.Repeat("a", 100))
			w.reply(bob, long, "yes")
			left := 0
			for _, text := range []string{strings.Repeat("a", 100), "yes"} {
				reply := answer(bob, short, text).Draft
				reply.To = alice
				left += reply.Bytes()
			}
			same(w, "bytes", w.books().PendingBytes, int64(left))
		}},
		{"people and the system find room in a full space", spaceOfTwo, func(w *testStore) {
			w.enter(alice, bob)
			lost := w.send(bob, alice, strings.Repeat("x", 300))
			w.sendRefused(letter(bob, alice, strings.Repeat("y", 101)), c3po.StoreFull)
			step := letter(bob, c3po.Human, strings.Repeat("help ", 100))
			step.Mailbox = true
			w.sendStep(step)
			w.sendStep(letter(c3po.Human, alice, "go on"))
			w.bury(lost)
			same(w, "inbox", len(w.inbox(bob)), 1)
		}},
		{"a dead letter does not come back into a full space", spaceOfTwo, func(w *testStore) {
			w.enter(alice, bob, carol)
			lost := w.send(bob, alice, strings.Repeat("x", 300))
			w.bury(lost)
			w.ack(bob, w.page(bob, store.InboxQuery{}).Entries[0].Message.ID)
			full := w.send(bob, carol, strings.Repeat("y", 300))
			revive := func() store.ReviveOutcome {
				outcome, err := w.store.Revive(w.ctx, w.space, lost, store.ReviveStep{Notice: "it is back", Durability: c3po.InMemory})
				w.must(err)
				return outcome
			}
			w.unchanged(func() { same(w, "outcome", revive(), store.ReviveFull) })
			w.ack(carol, full)
			same(w, "outcome", revive(), store.ReviveDone)
		}},
		{"a space without a limit is never full", func(l *c3po.Limits) { l.SpaceBytes = 0 }, func(w *testStore) {
			w.enter(alice, bob)
			w.send(bob, alice, strings.Repeat("x", 400))
		}},
		{"a send tells how full inbox, share and space are with it", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			w.send(carol, bob, "elsewhere")
			w.send(carol, alice, "other")
			w.send(bob, alice, "first")
			got := w.sendStep(letter(bob, alice, "second"))
			own := letter(bob, alice, "first").Bytes() + letter(bob, alice, "second").Bytes()
			all := own + letter(carol, alice, "other").Bytes()
			same(w, "fill", *got.Fill, store.Fill{
				Messages: 3, Bytes: all, OwnMessages: 2, OwnBytes: own, SpaceBytes: int64(all + letter(carol, bob, "elsewhere").Bytes()),
			})
		}},
		{"the bytes of a space are those of its inboxes", nil, func(w *testStore) {
			w.enter(alice, bob)
			ids := w.fill(bob, alice, 4)
			w.ack(alice, ids[0])
			w.bury(ids[1])
			w.reply(alice, ids[2], "an answer")
			found := int64(0)
			for _, id := range []c3po.AgentID{alice, bob} {
				bytes, err := w.store.InboxBytes(w.ctx, w.space, id)
				w.must(err)
				found += bytes
			}
			same(w, "bytes", w.books().PendingBytes, found)
			if found == 0 {
				w.Error("nothing was counted")
			}
		}},
		{"a sender is held to its rate, with count and limit in the sentence", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			for i := range 3 {
				step := letter(bob, alice, fmt.Sprint(i))
				step.RateLimit = 3
				w.sendStep(step)
			}
			step := letter(bob, carol, "too fast")
			step.RateLimit = 3
			w.unchanged(func() {
				err := w.sendRefused(step, c3po.RateLimited)
				same(w, "sentence", err.Error(), "rate limit: 3 of 3 messages sent in the last 60 seconds")
			})
			step.From = carol
			step.To = alice
			w.sendStep(step)
		}},
		{"callers that share an id are held to a rate each", nil, func(w *testStore) {
			w.enter(alice, bob)
			send := func(payer, text string) store.SendStep {
				step := letter(bob, alice, text)
				step.RateLimit, step.Payer = 1, payer
				return step
			}
			w.sendStep(send("bridge#one", "1"))
			w.unchanged(func() { w.sendRefused(send("bridge#one", "2"), c3po.RateLimited) })
			w.sendStep(send("bridge#two", "3"))
			w.sendStep(send("", "4"))
		}},
		{"the rate window rolls", nil, func(w *testStore) {
			w.enter(alice, bob)
			send := func(text string) error {
				step := letter(bob, alice, text)
				step.RateLimit = 2
				_, err := w.store.Send(w.ctx, w.space, step)
				return err
			}
			w.must(send("at 0 s"))
			w.advance(30 * time.Second)
			w.must(send("at 30 s"))
			w.advance(30*time.Second - time.Millisecond)
			w.refused(send("just under 60 s"), c3po.RateLimited)
			w.advance(time.Millisecond)
			w.must(send("at 60 s"))
			w.refused(send("still at 60 s"), c3po.RateLimited)
			w.advance(30 * time.Second)
			w.must(send("at 90 s"))
		}},
		{"a clock that was set back stops no sender", nil, func(w *testStore) {
			w.enter(alice, bob)
			step := letter(bob, alice, "before")
			step.RateLimit = 1
			w.sendStep(step)
			w.advance(-2 * time.Hour)
			step.Text = "after"
			w.sendStep(step)
			w.advance(2 * time.Hour)
			step.Text = "once the clock is right again"
			w.sendStep(step)
		}},
		{"a clock that was set back stops no speaker", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.joinRoom(lobby, alice, bob)
			for i, by := range []time.Duration{0, -2 * time.Hour, 2 * time.Hour} {
				w.advance(by)
				step := saying(bob, lobby, fmt.Sprint(i))
				step.RateLimit = 1
				w.post(step)
			}
			w.expectHears(alice, "0", "1", "2")
		}},
		{"sends that are not limited are not counted", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.fill(bob, alice, 3)
			step := letter(bob, alice, "first that counts")
			step.RateLimit = 1
			w.sendStep(step)
			w.send(bob, alice, "not limited either")
		}},
	}
}
