package storetest

import (
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

func (w *testStore) answers(id c3po.MessageID) []store.Entry {
	w.Helper()
	answers, err := w.store.Answers(w.ctx, w.space, id)
	w.must(err)
	return answers
}

func replyPromises() []promise {
	return []promise{
		{"a reply goes to the asker, in the thread, and acks the question", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			ask := letter(alice, bob, "why?")
			ask.Thread = "reasons"
			question := w.sendStep(ask).Message.ID
			step := answer(bob, question, "ask carol")
			step.Context, step.Status, step.HandedTo = "she knows", c3po.ReplyHandedOver, carol
			stored, err := w.store.Reply(w.ctx, w.space, step)
			w.must(err)
			want := c3po.Message{
				ID: stored.Message.ID, MessageID: question, FromAgent: bob, ToAgent: alice, Kind: c3po.KindReply, Response: "ask carol",
				Context: "she knows", Status: c3po.ReplyHandedOver, Timestamp: w.now(), Thread: "reasons", Priority: c3po.Normal,
				HandedTo: carol, Seq: stored.Message.Seq,
			}
			same(w, "stored", stored, store.Stored{Message: want, State: c3po.StatePending, Recipient: w.record(alice).Told(), Acked: true, MovedTo: stored.MovedTo, Fill: stored.Fill, Now: w.now()})
			same(w, "what the asker's inbox holds", store.Fill{Messages: stored.Fill.Messages, OwnMessages: stored.Fill.OwnMessages}, store.Fill{Messages: 1, OwnMessages: 1})
			same(w, "what the space holds", stored.Fill.SpaceBytes, w.books().PendingBytes)
			same(w, "inbox of the asker", w.page(alice, store.InboxQuery{}).Entries[0].Message, want)
			same(w, "inbox of the asked", w.inbox(bob), nil)
			same(w, "question", w.entry(question).State, c3po.StateAcked)
			same(w, "answered", w.entry(question).Facts.Answers, []c3po.Answered{{ID: stored.Message.ID, At: w.now(), MovedTo: stored.MovedTo}})
		}},
		{"what follows from a person's message goes back to it, and what is handed on does", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			step := letter(c3po.Human, alice, "release it")
			step.Proof = &c3po.Proof{ID: "p", Passkey: "my phone", At: w.now()}
			said := w.sendStep(step).Message
			word := &c3po.Word{ID: said.ID, At: said.Timestamp, Passkey: "my phone"}
			same(w, "itself", w.entry(said.ID).Message.GoesBackTo, (*c3po.Word)(nil))
			w.advance(time.Second)
			ask := letter(alice, bob, "is it green?")
			ask.GoesBackTo = word
			asked := w.sendStep(ask).Message
			same(w, "a message", asked.GoesBackTo, word)
			w.advance(time.Second)
			hand := answer(bob, asked.ID, "ask carol")
			hand.Status, hand.HandedTo = c3po.ReplyHandedOver, carol
			stored, err := w.store.Reply(w.ctx, w.space, hand)
			w.must(err)
			same(w, "the reply", stored.Message.GoesBackTo, word)
			same(w, "what is handed on", w.entry(stored.MovedTo).Message.GoesBackTo, word)
			same(w, "the reply to that", w.entry(w.reply(carol, stored.MovedTo, "it is")).Message.GoesBackTo, word)
			hand = answer(alice, said.ID, "ask carol")
			hand.Status, hand.HandedTo, hand.GoesBackTo = c3po.ReplyHandedOver, carol, word
			stored, err = w.store.Reply(w.ctx, w.space, hand)
			w.must(err)
			same(w, "the answer to the person", w.entry(stored.Message.ID).Message.GoesBackTo, (*c3po.Word)(nil))
			moved := w.entry(stored.MovedTo).Message
			same(w, "the person's message, handed on", moved.GoesBackTo, word)
			same(w, "its proof", moved.Proof, step.Proof)
		}},
		{"a reply goes back to what its sender was given, unless what it answers says otherwise", nil, func(w *testStore) {
			w.enter(alice, bob)
			first, second := w.send(c3po.Human, alice, "one"), w.send(c3po.Human, bob, "two")
			plain := answer(bob, w.send(alice, bob, "why?"), "because")
			plain.GoesBackTo = &c3po.Word{ID: second, At: w.now()}
			stored, err := w.store.Reply(w.ctx, w.space, plain)
			w.must(err)
			same(w, "what it was given", stored.Message.GoesBackTo, plain.GoesBackTo)
			ask := letter(alice, bob, "how?")
			ask.GoesBackTo = &c3po.Word{ID: first, At: w.now()}
			led := answer(bob, w.sendStep(ask).Message.ID, "so")
			led.GoesBackTo = plain.GoesBackTo
			stored, err = w.store.Reply(w.ctx, w.space, led)
			w.must(err)
			same(w, "what it answers", stored.Message.GoesBackTo, ask.GoesBackTo)
			same(w, "as it is kept", w.entry(stored.Message.ID).Message.GoesBackTo, ask.GoesBackTo)
		}},
		{"a conversation goes back and forth in one thread", nil, func(w *testStore) {
			w.enter(alice, bob)
			first := w.send(alice, bob, "1")
			second := w.reply(bob, first, "2")
			third := w.reply(alice, second, "3")
			same(w, "thread", w.entry(third).Message.Thread, string(first))
			same(w, "to", w.entry(third).Message.ToAgent, bob)
			same(w, "inbox", w.inbox(bob), []string{"3"})
		}},
		{"several replies are kept in order", nil, func(w *testStore) {
			w.enter(alice, bob)
			question := w.send(alice, bob, "why?")
			w.reply(bob, question, "one")
			w.advance(time.Second)
			w.reply(bob, question, "two")
			same(w, "answers", texts(w.answers(question)), []string{"one", "two"})
		}},
		{"the first answer is found after it was acked", nil, func(w *testStore) {
			w.enter(alice, bob)
			question := w.send(alice, bob, "why?")
			w.ack(alice, w.reply(bob, question, "because"))
			answers := w.answers(question)
			same(w, "answers", texts(answers), []string{"because"})
			same(w, "state", answers[0].State, c3po.StateAcked)
		}},
		{"a question that waits has no answers, an unknown one is refused", nil, func(w *testStore) {
			w.enter(alice, bob)
			same(w, "answers", len(w.answers(w.send(alice, bob, "why?"))), 0)
			_, err := w.store.Answers(w.ctx, w.space, "alice::box/bob::00000000")
			w.refused(err, c3po.InvalidRequest)
		}},
		{"a message that was acked can still be answered", nil, func(w *testStore) {
			w.enter(alice, bob)
			question := w.send(alice, bob, "why?")
			w.ack(bob, question)
			ended := w.entry(question).Facts.Ended
			w.advance(time.Second)
			before := w.books().Seq
			stored, err := w.store.Reply(w.ctx, w.space, answer(bob, question, "because"))
			w.must(err)
			same(w, "acked by it", stored.Acked, false)
			same(w, "ended", w.entry(question).Facts.Ended, ended)
			same(w, "events", kinds(w.events(before)), []c3po.EventKind{c3po.EventAnswered})
			same(w, "acked", w.books().Acked, int64(1))
		}},
		{"only the recipient may reply", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			question := w.send(alice, bob, "why?")
			w.unchanged(func() {
				for _, id := range []c3po.AgentID{carol, alice} {
					_, err := w.store.Reply(w.ctx, w.space, answer(id, question, "me too"))
					w.refused(err, c3po.Forbidden)
				}
			})
			same(w, "question", w.entry(question).State, c3po.StatePending)
		}},
		{"an unknown message cannot be answered", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.unchanged(func() {
				_, err := w.store.Reply(w.ctx, w.space, answer(bob, "alice::box/bob::00000000", "what?"))
				w.refused(err, c3po.InvalidRequest)
			})
		}},
		{"a run that was taken over cannot reply", nil, func(w *testStore) {
			w.enter(alice)
			w.register(bob, "r1")
			question := w.send(alice, bob, "why?")
			step := answer(bob, question, "because")
			step.Run = "r2"
			w.unchanged(func() {
				_, err := w.store.Reply(w.ctx, w.space, step)
				w.refused(err, c3po.Superseded)
			})
		}},
		{"nobody answers a bounce", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.bury(w.send(alice, bob, "lost"))
			bounce := w.page(alice, store.InboxQuery{}).Entries[0].Message.ID
			w.unchanged(func() {
				_, err := w.store.Reply(w.ctx, w.space, answer(alice, bounce, "oh"))
				w.refused(err, c3po.AgentNotFound)
			})
		}},
		{"a person is answered without being registered, and that mail never expires", nil, func(w *testStore) {
			w.enter(bob)
			question := w.send(c3po.Human, bob, "how far are you?")
			reply := w.reply(bob, question, "done")
			same(w, "inbox", w.inbox(c3po.Human), []string{"done"})
			same(w, "expires", w.entry(reply).Facts.Expires, 0)
		}},
		{"an answer of a person resumes who waits for it", nil, func(w *testStore) {
			w.enter(bob)
			step := letter(bob, c3po.Human, "may I?")
			step.Kind, step.Mailbox, step.PauseFrom = c3po.KindEscalation, true, c3po.PausedForHuman
			question := w.sendStep(step).Message.ID
			yes := answer(c3po.Human, question, "yes")
			yes.ResumeTo = true
			before := w.books().Seq
			stored, err := w.store.Reply(w.ctx, w.space, yes)
			w.must(err)
			same(w, "paused", w.record(bob).Paused, "")
			same(w, "recipient", stored.Recipient.Paused, "")
			same(w, "events", kinds(w.events(before)), []c3po.EventKind{c3po.EventAnswered, c3po.EventAcked, c3po.EventResumed})
		}},
		{"a question has one answer of a person, and a repeat of it is no second", nil, func(w *testStore) {
			w.enter(bob)
			step := letter(bob, c3po.Human, "may I?")
			step.Kind, step.Mailbox = c3po.KindEscalation, true
			question := w.sendStep(step).Message.ID
			yes := answer(c3po.Human, question, "yes")
			yes.ResumeTo, yes.Key = true, "first"
			first, err := w.store.Reply(w.ctx, w.space, yes)
			w.must(err)
			no := answer(c3po.Human, question, "no")
			no.ResumeTo, no.Key = true, "second"
			_, err = w.store.Reply(w.ctx, w.space, no)
			same(w, "a second answer", c3po.AsError(err).Message, store.RefuseAnswered(question).Message)
			again, err := w.store.Reply(w.ctx, w.space, yes)
			w.must(err)
			same(w, "the repeat", again.Message.ID, first.Message.ID)
			same(w, "inbox", w.inbox(bob), []string{"yes"})
		}},
		{"an answer does not resume who was paused for another reason", nil, func(w *testStore) {
			w.enter(bob)
			step := letter(bob, c3po.Human, "may I?")
			step.Mailbox = true
			question := w.sendStep(step).Message.ID
			w.must(w.store.SetPaused(w.ctx, w.space, bob, "lunch"))
			yes := answer(c3po.Human, question, "yes")
			yes.ResumeTo = true
			_, err := w.store.Reply(w.ctx, w.space, yes)
			w.must(err)
			same(w, "paused", w.record(bob).Paused, "lunch")
		}},
		{"an answer of an agent resumes nobody", nil, func(w *testStore) {
			w.enter(alice, bob)
			question := w.send(bob, alice, "may I?")
			w.must(w.store.SetPaused(w.ctx, w.space, bob, c3po.PausedForHuman))
			w.reply(alice, question, "yes")
			same(w, "paused", w.record(bob).Paused, c3po.PausedForHuman)
		}},
	}
}

func threadPromises() []promise {
	return []promise{
		{"a thread is read back oldest first, whatever became of its messages", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			first := w.send(alice, bob, "1")
			w.reply(bob, first, "2")
			more := letter(carol, alice, "3")
			more.Thread, more.Priority = string(first), c3po.Urgent
			w.bury(w.sendStep(more).Message.ID)
			w.send(alice, bob, "elsewhere")
			entries, err := w.store.Thread(w.ctx, w.space, string(first), 0, 10)
			w.must(err)
			same(w, "thread", texts(entries), []string{"1", "2", "3", "it was not read"})
			same(w, "states", []string{entries[0].State, entries[1].State, entries[2].State},
				[]string{c3po.StateAcked, c3po.StatePending, c3po.StateDead})
		}},
		{"everything that is kept is read thread by thread, until it is forgotten", nil, func(w *testStore) {
			w.enter(alice, bob)
			step := letter(alice, bob, "1")
			step.Thread = "t"
			first := w.sendStep(step).Message
			w.send(bob, alice, "2")
			step.Text = "3"
			w.sendStep(step)
			read := func(after string, below int64, limit int) (all []string, end string) {
				kept, end, err := w.store.Kept(w.ctx, w.space, after, below, limit)
				w.must(err)
				for _, entry := range kept {
					all = append(all, entry.Message.Text())
				}
				return all, end
			}
			all, end := read("", 1<<40, 10)
			same(w, "all", all, []string{"1", "3", "2"})
			same(w, "the end", end, "")
			some, place := read("", 1<<40, 2)
			same(w, "the first two", some, []string{"1", "3"})
			some, _ = read(place, 1<<40, 2)
			same(w, "what is behind them", some, []string{"2"})
			some, _ = read("", first.Seq+1, 10)
			same(w, "before the second", some, []string{"1"})
			kept, _, err := w.store.Kept(w.ctx, w.space, "", first.Seq+1, 10)
			w.must(err)
			some, _ = read(kept[0].Place, 1<<40, 1)
			same(w, "behind the first", some, []string{"3"})
			w.cancel(alice, first.ID)
			w.live(w.limits.EndedLife)
			w.trim(100)
			all, _ = read("", 1<<40, 10)
			same(w, "without what is forgotten", all, []string{"3", "2"})
		}},
		{"a thread is read in pages", nil, func(w *testStore) {
			w.enter(alice, bob)
			for _, text := range []string{"1", "2", "3", "4", "5"} {
				step := letter(alice, bob, text)
				step.Thread = "t"
				w.sendStep(step)
			}
			var read []string
			var after int64
			for {
				entries, err := w.store.Thread(w.ctx, w.space, "t", after, 2)
				w.must(err)
				if len(entries) == 0 {
					break
				}
				read = append(read, texts(entries)...)
				after = entries[len(entries)-1].Message.Seq
			}
			same(w, "all pages", read, []string{"1", "2", "3", "4", "5"})
			spans, err := w.store.ThreadSpans(w.ctx, w.space, []string{"nothing", "t"})
			w.must(err)
			same(w, "of nothing", spans[0].Count, 0)
			same(w, "its length", spans[1].Count, 5)
			same(w, "its ends", []string{spans[1].First.Message.Text(), spans[1].Last.Message.Text()}, []string{"1", "5"})
		}},
		{"threads whose names begin alike are different threads", nil, func(w *testStore) {
			w.enter(alice, bob)
			for _, thread := range []string{"t", "t2", "t 2", "t\x01", "t\x000000000000000001", ""} {
				step := letter(alice, bob, "in "+thread)
				step.Thread = thread
				w.sendStep(step)
			}
			entries, err := w.store.Thread(w.ctx, w.space, "t", 0, 10)
			w.must(err)
			same(w, "thread", texts(entries), []string{"in t"})
		}},
		{"an unknown thread is empty, an unknown message is none", nil, func(w *testStore) {
			w.enter(alice)
			entries, err := w.store.Thread(w.ctx, w.space, "nothing", 0, 10)
			w.must(err)
			same(w, "thread", len(entries), 0)
			if e := w.message("box/bob::alice::00000000"); e != nil {
				w.Errorf("an unknown message is %+v", e)
			}
		}},
	}
}
