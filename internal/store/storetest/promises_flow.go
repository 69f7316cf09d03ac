package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

func budgets(set func(l *c3po.Limits)) func(l *c3po.Limits) {
	return func(l *c3po.Limits) {
		l.ChainMessages, l.ChainBytes, l.ChainHops, l.PairMessages, l.PairBytes, l.AgentMessages, l.AgentBytes, l.SameTexts, l.ChainTokens = 0, 0, 0, 0, 0, 0, 0, 0, 0
		l.InboxMessages, l.SenderShare = 1000, 1
		set(l)
	}
}

// inThread is a message that goes on with a thread.
func inThread(from, to c3po.AgentID, thread, text string) store.SendStep {
	step := letter(from, to, text)
	step.Thread = thread
	return step
}

func flowPromises() []promise {
	return []promise{
		{"a thread whose messages of an hour are spent is paused until it is resumed", budgets(func(l *c3po.Limits) { l.ChainMessages = 3 }), func(w *testStore) {
			w.enter(alice, bob)
			question := w.send(alice, bob, "0")
			thread := string(question)
			reply := w.reply(bob, question, "1")
			w.must(w.store.Told(w.ctx, w.space, "t:unknown", question))
			same(w, "third", w.spentBy(inThread(alice, bob, thread, "2")), nil)
			want := store.Spent{Whose: store.SpentChain, What: "messages", Account: "t:" + thread, Untold: true, Since: w.now(), Handlers: []c3po.AgentID{alice, bob, alice}}
			w.unchanged(func() { same(w, "fourth", w.spentBy(inThread(bob, alice, thread, "3")), &want) })
			w.unchanged(func() {
				_, err := w.store.Reply(w.ctx, w.space, answer(alice, reply, "4"))
				w.refused(err, c3po.BudgetSpent)
			})
			w.advance(2 * time.Hour)
			want.What = "paused"
			same(w, "later", w.spentBy(inThread(bob, alice, thread, "5")), &want)
			w.must(w.store.Told(w.ctx, w.space, want.Account, "system::human::00000001"))
			want.Untold, want.Question = false, "system::human::00000001"
			same(w, "told", w.spentBy(inThread(bob, alice, thread, "6")), &want)
			w.live(3 * time.Hour)
			_, err := w.store.Trim(w.ctx, w.space, 100)
			w.must(err)
			same(w, "it is not forgotten", w.spentBy(inThread(bob, alice, thread, "7")), &want)

			resumed, err := w.store.ResumeChain(w.ctx, w.space, thread)
			w.must(err)
			same(w, "resumed", resumed, store.Resumed{Done: true, Question: want.Question})
			resumed, err = w.store.ResumeChain(w.ctx, w.space, thread)
			w.must(err)
			same(w, "resumed twice", resumed, store.Resumed{})
			same(w, "goes on", w.spentBy(inThread(bob, alice, thread, "8")), nil)
			same(w, "another thread", w.spentBy(letter(bob, alice, "9")), nil)
		}},
		{"accounts are forgotten in the order of their list, those of one age by name", budgets(func(l *c3po.Limits) { l.ChainMessages = 100 }), func(w *testStore) {
			w.enter(alice, bob, carol)
			hops := func(from, to c3po.AgentID, thread string) int {
				w.Helper()
				stored, err := w.store.Send(w.ctx, w.space, inThread(from, to, thread, "word"))
				w.must(err)
				return stored.Fill.ChainHops
			}
			for _, thread := range []string{"t1", "t2", "t3", "t4"} {
				same(w, "first", hops(alice, bob, thread), 1)
				w.live(store.FlowIdle)
				w.trim(2) // the agent's and the pair's, whose names come first
				same(w, "the chain is still known", hops(alice, bob, thread), 2)
				w.live(store.FlowIdle)
				w.trim(100)
				same(w, "the chain is forgotten", hops(alice, bob, thread), 1)
				w.live(store.FlowIdle)
				w.trim(100)
			}
			hops(alice, bob, "long") // the hour of alice, and of her and bob, begins here
			w.live(10 * time.Minute)
			hops(carol, bob, "short")
			w.live(20 * time.Minute)
			hops(alice, bob, "long")
			w.live(store.FlowIdle - 20*time.Minute)
			w.trim(3) // of alice, of her and bob, and of carol
			same(w, "the shorter chain is still known", hops(carol, bob, "short"), 2)
		}},
		{"a thread that goes on and the ack of its question are one step", budgets(func(l *c3po.Limits) { l.ChainMessages = 1 }), func(w *testStore) {
			w.enter(alice, bob)
			thread := string(w.send(alice, bob, "0"))
			spent := w.spentBy(inThread(alice, bob, thread, "1"))
			stored, err := w.store.Send(w.ctx, w.space, store.SendStep{
				Draft: store.Draft{From: c3po.System, To: c3po.Human, Kind: c3po.KindEscalation, Text: "it is paused", Key: "paused"}, Mailbox: true,
			})
			w.must(err)
			question := stored.Message.ID
			w.must(w.store.Told(w.ctx, w.space, spent.Account, question))
			resumed, err := w.store.ResumeChain(w.ctx, w.space, thread)
			w.must(err)
			same(w, "resumed", resumed, store.Resumed{Done: true, Question: question, Acked: true})
			entry, err := w.store.Message(w.ctx, w.space, question)
			w.must(err)
			same(w, "the question", entry.State, c3po.StateAcked)
		}},
		{"the messages of a thread count by the hour", budgets(func(l *c3po.Limits) { l.ChainMessages = 2 }), func(w *testStore) {
			w.enter(alice, bob)
			for i := range 6 {
				if i%2 == 0 {
					w.advance(time.Hour)
				}
				same(w, fmt.Sprint("message ", i), w.spentBy(inThread(alice, bob, "t", fmt.Sprint(i))), nil)
			}
		}},
		{"a chain has a number of hops, and starts over when a person has a part in it", budgets(func(l *c3po.Limits) { l.ChainHops = 3 }), func(w *testStore) {
			w.enter(alice, bob)
			for i := range 3 {
				w.advance(2 * time.Hour)
				same(w, "hop", w.spentBy(inThread(alice, bob, "t", fmt.Sprint(i))), nil)
			}
			same(w, "a person", w.spentBy(inThread(c3po.Human, bob, "t", "go on")), nil)
			for i := range 3 {
				same(w, "hop", w.spentBy(inThread(bob, alice, "t", fmt.Sprint("again ", i))), nil)
			}
			same(w, "hops", w.spentBy(inThread(bob, alice, "t", "one more")).What, "hops")
		}},
		{"what follows from a chain is charged to it under any thread", budgets(func(l *c3po.Limits) { l.ChainMessages = 3 }), func(w *testStore) {
			w.enter(alice, bob, carol)
			root := w.send(alice, bob, "go")
			step := letter(bob, carol, "go")
			step.Chain = string(root)
			second := w.sendStep(step).Message
			if second.Thread == string(root) {
				w.Fatal("it became the same thread")
			}
			third := w.reply(carol, second.ID, "went")
			_, err := w.store.Reply(w.ctx, w.space, answer(bob, third, "more"))
			w.refused(err, c3po.BudgetSpent)
		}},
		{"a pair and an agent have budgets that come back with the next hour", budgets(func(l *c3po.Limits) { l.PairMessages, l.AgentMessages = 2, 3 }), func(w *testStore) {
			w.enter(alice, bob, carol)
			w.send(alice, bob, "1")
			w.send(bob, alice, "2")
			spent := w.spentBy(letter(alice, bob, "3"))
			same(w, "pair", spent.Whose, store.SpentPair)
			same(w, "untold", spent.Untold, true)
			w.must(w.store.Told(w.ctx, w.space, spent.Account, "system::human::00000001"))
			same(w, "told", w.spentBy(letter(bob, alice, "3")).Untold, false)
			w.send(alice, carol, "1")
			w.send(alice, carol, "2")
			same(w, "third of a pair", w.spentBy(letter(alice, carol, "4")).Whose, store.SpentPair)
			w.enter("dora")
			same(w, "agent", w.spentBy(letter(alice, "dora", "5")).Whose, store.SpentAgent)
			w.advance(time.Hour)
			same(w, "next hour", w.spentBy(letter(alice, bob, "6")), nil)
		}},
		{"bytes have budgets too", budgets(func(l *c3po.Limits) {
			l.ChainBytes, l.PairBytes, l.AgentBytes = weight(alice, bob, 600), 2*weight(alice, bob, 600), 3*weight(alice, bob, 600)
		}), func(w *testStore) {
			w.enter(alice, bob, carol)
			long := strings.Repeat("x", 600)
			same(w, "first", w.spentBy(inThread(alice, bob, "t", long)), nil)
			same(w, "chain", w.spentBy(inThread(alice, bob, "t", long+"y")).What, "bytes")
			same(w, "new thread", w.spentBy(inThread(alice, bob, "u", long)), nil)
			same(w, "pair", w.spentBy(inThread(bob, alice, "v", "z")).Whose, store.SpentPair)
		}},
		{"the same text is refused the third time within ten minutes", budgets(func(l *c3po.Limits) { l.SameTexts = 2 }), func(w *testStore) {
			w.enter(alice, bob)
			say := func(from, to c3po.AgentID, key string) *store.Spent {
				return w.spentBy(keyed(letter(from, to, "are you there?"), key))
			}
			same(w, "first", say(alice, bob, "1"), nil)
			w.advance(5 * time.Minute)
			same(w, "second", say(alice, bob, "2"), nil)
			w.unchanged(func() {
				same(w, "third", say(alice, bob, "3"), &store.Spent{Whose: store.SpentText, What: "repeated"})
			})
			same(w, "the other way", say(bob, alice, "1"), nil)
			w.advance(5 * time.Minute)
			same(w, "after ten minutes", say(alice, bob, "4"), nil)
			for i := range 4 {
				w.reply(bob, w.send(alice, bob, fmt.Sprint("question ", i)), "yes")
			}
		}},
		{"the same text may be sent again once it was answered", budgets(func(l *c3po.Limits) { l.SameTexts = 1 }), func(w *testStore) {
			w.enter(alice, bob)
			ask := func() (store.Stored, error) {
				w.advance(time.Minute)
				in := letter(alice, bob, "are you done?")
				in.ExpectsReply = true
				return w.store.Send(w.ctx, w.space, in)
			}
			first, err := ask()
			w.must(err)
			_, err = ask()
			w.refused(err, c3po.BudgetSpent)
			w.reply(bob, first.Message.ID, "not yet")
			_, err = ask()
			w.must(err)
			_, err = ask()
			w.refused(err, c3po.BudgetSpent)
		}},
		{"a message that is meant as another one is not held against the same text", budgets(func(l *c3po.Limits) { l.SameTexts = 1 }), func(w *testStore) {
			w.enter(alice, bob)
			for _, key := range []string{"t1", "t2", "t3"} {
				step := keyed(letter(alice, bob, "Please review"), key)
				step.Distinct = true
				same(w, key, w.spentBy(step), nil)
			}
			same(w, "a plain one", w.spentBy(keyed(letter(alice, bob, "Please review"), "k1")), nil)
			same(w, "a second plain one", w.spentBy(keyed(letter(alice, bob, "Please review"), "k2")), &store.Spent{Whose: store.SpentText, What: "repeated"})
		}},
		{"the system, a person and what is written to a person have no budget", budgets(func(l *c3po.Limits) { l.ChainMessages, l.PairMessages, l.AgentMessages, l.SameTexts = 1, 1, 1, 1 }), func(w *testStore) {
			w.enter(alice)
			for i := range 3 {
				same(w, "system", w.spentBy(keyed(inThread(c3po.System, alice, "t", "hear"), fmt.Sprint("s", i))), nil)
				same(w, "person", w.spentBy(keyed(inThread(c3po.Human, alice, "t", "hear"), fmt.Sprint("h", i))), nil)
				step := keyed(inThread(alice, c3po.Human, "t", "help"), fmt.Sprint("a", i))
				step.Mailbox = true
				same(w, "to a person", w.spentBy(step), nil)
			}
		}},
		{"an answer to an answer that asked nothing wakes nobody", nil, func(w *testStore) {
			w.enter(alice, bob)
			first := w.reply(bob, w.send(alice, bob, "why?"), "because")
			second, err := w.store.Reply(w.ctx, w.space, answer(alice, first, "thanks"))
			w.must(err)
			same(w, "quiet", second.Message.Quiet, true)
			entry := w.entry(second.Message.ID)
			same(w, "kept", entry.Message.Quiet, true)
			events := w.events(entry.Message.Seq - 1)
			same(w, "whom it wakes", events[0].Agent, c3po.AgentID(""))
			same(w, "it is there", w.inbox(bob), []string{"thanks"})
			same(w, "the first was not quiet", w.entry(first).Message.Quiet, false)
			asking := answer(bob, second.Message.ID, "you are welcome, and you?")
			asking.ExpectsReply = true
			third, err := w.store.Reply(w.ctx, w.space, asking)
			w.must(err)
			same(w, "one that asks", third.Message.Quiet, false)
		}},
	}
}
