package storetest

import (
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// repeats sends a step again and proves that it gives the first message.
func (w *testStore) repeats(step store.SendStep, first c3po.MessageID, state string) store.Stored {
	w.Helper()
	var again store.Stored
	w.unchanged(func() { again = w.sendStep(step) })
	same(w, "repeat", again.Repeat, true)
	same(w, "id", again.Message.ID, first)
	same(w, "state", again.State, state)
	return again
}

// isNew sends a step and proves that it is no repeat.
func (w *testStore) isNew(step store.SendStep, first c3po.MessageID) {
	w.Helper()
	again := w.sendStep(step)
	same(w, "repeat", again.Repeat, false)
	if again.Message.ID == first {
		w.Fatalf("a new message has the id of the first: %s", first)
	}
}

func repeatPromises() []promise {
	return []promise{
		{"the same key is the same message", nil, func(w *testStore) {
			w.enter(alice, bob)
			step := keyed(letter(bob, alice, "hi"), "k1")
			first := w.sendStep(step)
			w.advance(time.Hour)
			again := w.repeats(step, first.Message.ID, c3po.StatePending)
			same(w, "message", again.Message, first.Message)
			same(w, "inbox", w.inbox(alice), []string{"hi"})
		}},
		{"a repeat tells what became of the message", nil, func(w *testStore) {
			w.enter(alice, bob)
			step := keyed(letter(bob, alice, "hi"), "k1")
			first := w.sendStep(step).Message.ID
			w.ack(alice, first)
			w.repeats(step, first, c3po.StateAcked)
			other := keyed(letter(bob, alice, "ho"), "k2")
			second := w.sendStep(other).Message.ID
			w.bury(second)
			w.repeats(other, second, c3po.StateDead)
		}},
		{"the same key with another draft is refused", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			w.sendStep(keyed(letter(bob, alice, "hi"), "k1"))
			for _, change := range []func(*store.SendStep){
				func(s *store.SendStep) { s.Text = "ho" },
				func(s *store.SendStep) { s.Context = "because" },
				func(s *store.SendStep) { s.To = carol },
				func(s *store.SendStep) { s.Thread = "t" },
				func(s *store.SendStep) { s.Priority = c3po.Urgent },
			} {
				step := keyed(letter(bob, alice, "hi"), "k1")
				change(&step)
				w.unchanged(func() { w.sendRefused(step, c3po.KeyConflict) })
			}
		}},
		{"keys of different senders do not meet", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			first := w.sendStep(keyed(letter(bob, alice, "hi"), "k1")).Message.ID
			w.isNew(keyed(letter(carol, alice, "hi"), "k1"), first)
		}},
		{"a key lives for KeyLife of lived time, and no clock ends it sooner", nil, func(w *testStore) {
			w.enter(alice, bob)
			step := keyed(letter(bob, alice, "hi"), "k1")
			first := w.sendStep(step).Message.ID
			w.advance(w.limits.KeyLife * 10)
			w.repeats(step, first, c3po.StatePending)
			w.live(w.limits.KeyLife)
			w.isNew(step, first)
		}},
		{"a key outlives the message", func(l *c3po.Limits) { l.EndedBytes = 0 }, func(w *testStore) {
			w.enter(alice, bob)
			step := keyed(letter(bob, alice, "hi"), "k1")
			first := w.sendStep(step).Message
			w.ack(alice, first.ID)
			if w.message(first.ID) != nil {
				w.Fatal("the message was to be forgotten")
			}
			again := w.repeats(step, first.ID, c3po.StateAcked).Message
			want := c3po.Message{
				ID: first.ID, FromAgent: bob, ToAgent: alice, Timestamp: first.Timestamp, Thread: first.Thread, BodyGone: true,
			}
			same(w, "what is still known", again, want)
		}},
		{"without a key the same draft is the same message for a short while", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			step := letter(bob, alice, "hi")
			first := w.sendStep(step).Message.ID
			w.advance(w.limits.RepeatWindow - time.Millisecond)
			w.repeats(step, first, c3po.StatePending)
			w.advance(time.Millisecond)
			w.isNew(step, first)
		}},
		{"without a key another draft is another message", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			first := w.send(bob, alice, "hi")
			w.isNew(letter(bob, carol, "hi"), first)
			w.isNew(letter(carol, alice, "hi"), first)
			w.isNew(letter(bob, alice, "hi "), first)
			threaded := letter(bob, alice, "hi")
			threaded.Thread = "t"
			w.isNew(threaded, first)
		}},
		{"without a key what was acked can be sent again", nil, func(w *testStore) {
			w.enter(alice, bob)
			step := letter(bob, alice, "hi")
			first := w.sendStep(step).Message.ID
			w.ack(alice, first)
			w.isNew(step, first)
		}},
		{"a run that was taken over still finds what it stored", nil, func(w *testStore) {
			w.register(bob, "r1")
			w.enter(alice)
			w.joinRoom(lobby, bob)
			asked := w.send(alice, bob, "well?")
			send, reply, post := keyed(letter(bob, alice, "hi"), "k1"), answer(bob, asked, "yes"), saying(bob, lobby, "hello")
			send.Run, reply.Run, reply.Key, post.Run = "r1", "r1", "k2", "r1"
			sent := w.sendStep(send).Message.ID
			replied, err := w.store.Reply(w.ctx, w.space, reply)
			w.must(err)
			said := w.post(post).Message.ID
			w.register(bob, "r2")
			w.unchanged(func() {
				w.repeats(send, sent, c3po.StatePending)
				again, err := w.store.Reply(w.ctx, w.space, reply)
				w.must(err)
				same(w, "reply", again.Message.ID, replied.Message.ID)
				same(w, "post", w.post(post).Message.ID, said)
			})
		}},
		{"a refusal says whether something is stored under its key", nil, func(w *testStore) {
			w.register(bob, "r1")
			w.enter(alice)
			asked := w.send(alice, bob, "well?")
			w.sendStep(keyed(letter(bob, alice, "hi"), "k1"))
			proves := func(what string, err error, want bool) {
				w.Helper()
				same(w, what, c3po.AsError(err).NotStored, want)
			}
			proves("another message has the key", w.sendRefused(keyed(letter(bob, alice, "ho"), "k1"), c3po.KeyConflict), false)
			proves("no such agent", w.sendRefused(keyed(letter(bob, "nobody", "hi"), "k2"), c3po.AgentNotFound), true)
			proves("without a key", w.sendRefused(letter(bob, "nobody", "hi"), c3po.AgentNotFound), false)
			reply := answer(bob, asked, "yes")
			reply.Key, reply.Run = "k3", "r0"
			_, err := w.store.Reply(w.ctx, w.space, reply)
			proves("superseded", err, true)
			_, err = w.store.Post(w.ctx, w.space, saying(bob, lobby, "hello"))
			proves("no such room", err, true)
		}},
		{"a conflict names the first recipient if nothing but it differs", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			w.sendStep(keyed(letter(bob, alice, "hi"), "k1"))
			for text, want := range map[string]c3po.AgentID{"hi": alice, "ho": ""} {
				stored, err := w.store.Send(w.ctx, w.space, keyed(letter(bob, carol, text), "k1"))
				w.refused(err, c3po.KeyConflict)
				same(w, text, stored.Meant, want)
			}
		}},
		{"of a sender whose budget is spent only repeats get through", nil, func(w *testStore) {
			w.enter(alice, bob)
			asked := w.send(bob, alice, "well?")
			step, reply := letter(alice, bob, "first"), answer(alice, asked, "yes")
			step.Key, reply.Key = "k1", "k2"
			first := w.sendStep(step).Message.ID
			stored, err := w.store.Reply(w.ctx, w.space, reply)
			w.must(err)
			barred := c3po.Errorf(c3po.BudgetSpent, "spent").Suggest("Wait.")
			step.Barred, reply.Barred = barred, barred
			w.unchanged(func() {
				again := w.sendStep(step)
				same(w, "repeat", again.Repeat, true)
				same(w, "id", again.Message.ID, first)
				answered, err := w.store.Reply(w.ctx, w.space, reply)
				w.must(err)
				same(w, "answer", answered.Message.ID, stored.Message.ID)
				step.Key, step.Text, reply.Key = "k3", "second", "k4"
				w.sendRefused(step, c3po.BudgetSpent)
				_, err = w.store.Reply(w.ctx, w.space, reply)
				w.refused(err, c3po.BudgetSpent)
			})
		}},
		{"a repeat passes every limit and counts in none", func(l *c3po.Limits) { l.InboxMessages, l.SenderShare = 1, 1 }, func(w *testStore) {
			w.enter(alice, bob)
			step := keyed(letter(bob, alice, "hi"), "k1")
			step.RateLimit = 2
			first := w.sendStep(step).Message.ID
			w.unregister(alice, "")
			step.FailIfAway = true
			for range 4 {
				w.repeats(step, first, c3po.StatePending)
			}
			w.ack(alice, first)
			next := letter(bob, alice, "ho")
			next.RateLimit = 2
			w.sendStep(next)
		}},
		{"the same key at the same time stores one message", nil, func(w *testStore) {
			w.enter(alice, bob)
			const senders = 8
			results := make(chan store.Stored, senders)
			for range senders {
				go func() {
					stored, err := w.store.Send(w.ctx, w.space, keyed(letter(bob, alice, "hi"), "k1"))
					if err != nil {
						w.Errorf("send: %v", err)
					}
					results <- stored
				}()
			}
			ids, fresh := map[c3po.MessageID]bool{}, 0
			for range senders {
				stored := <-results
				ids[stored.Message.ID] = true
				if !stored.Repeat {
					fresh++
				}
			}
			same(w, "ids", len(ids), 1)
			same(w, "told that theirs was the first", fresh, 1)
			same(w, "inbox", w.inbox(alice), []string{"hi"})
		}},
		{"a reply is repeated by its key, and without one for a short while", nil, func(w *testStore) {
			w.enter(alice, bob)
			question := w.send(alice, bob, "why?")
			for _, key := range []string{"k1", ""} {
				step := answer(bob, question, "because"+key)
				step.Key = key
				first, err := w.store.Reply(w.ctx, w.space, step)
				w.must(err)
				w.unchanged(func() {
					again, err := w.store.Reply(w.ctx, w.space, step)
					w.must(err)
					same(w, "repeat", again.Repeat, true)
					same(w, "message", again.Message, first.Message)
				})
			}
			step := answer(bob, question, "something else")
			step.Key = "k1"
			_, err := w.store.Reply(w.ctx, w.space, step)
			w.refused(err, c3po.KeyConflict)
		}},
		{"the same answer to another question is another answer", nil, func(w *testStore) {
			w.enter(alice, bob)
			first := w.reply(bob, w.send(alice, bob, "one?"), "yes")
			second := w.reply(bob, w.send(alice, bob, "two?"), "yes")
			if first == second {
				w.Errorf("both answers are %s", first)
			}
		}},
	}
}
