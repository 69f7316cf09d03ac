package storetest

import (
	"fmt"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// uses reports what a run has used for a message, in tokens that were written.
func (w *testStore) uses(agent c3po.AgentID, run string, id c3po.MessageID, tokens int64) bool {
	w.Helper()
	recorded, err := w.store.Use(w.ctx, w.space, store.UsageStep{Agent: agent, Run: run, Client: "codex", ID: id, Usage: c3po.Usage{OutputTokens: tokens}})
	w.must(err)
	return recorded
}

func (w *testStore) chainCost(chain string) *c3po.Cost {
	w.Helper()
	cost, err := w.store.ChainCost(w.ctx, w.space, chain)
	w.must(err)
	return cost
}

func costPromises() []promise {
	return []promise{
		{"what a run has used for a message is added to its chain once, however often it says so", nil, func(w *testStore) {
			w.enter(alice, bob)
			id := w.send(alice, bob, "why?")
			same(w, "nobody has said", w.chainCost(string(id)), nil)
			all := c3po.Usage{InputTokens: 100, OutputTokens: 20, CacheReadTokens: 3_000, CacheWriteTokens: 400, MicroUSD: 5_000}
			step := store.UsageStep{Agent: bob, Client: "claude-code", ID: id, Usage: all}
			for i, want := range []bool{true, false} {
				recorded, err := w.store.Use(w.ctx, w.space, step)
				w.must(err)
				same(w, fmt.Sprint("report ", i), recorded, want)
			}
			same(w, "the message's", w.entry(id).Facts.Used, []store.RunUsage{{Client: "claude-code", Usage: all}})
			same(w, "the chain's", w.chainCost(string(id)), &c3po.Cost{Usage: all, Messages: 1})
			less := step
			less.Usage = c3po.Usage{InputTokens: 1, OutputTokens: 30}
			less.Shared = true
			_, err := w.store.Use(w.ctx, w.space, less)
			w.must(err)
			all.OutputTokens = 30
			same(w, "only grows", w.entry(id).Facts.Used, []store.RunUsage{{Client: "claude-code", Usage: all, Shared: true}})
			same(w, "the chain's later", w.chainCost(string(id)), &c3po.Cost{Usage: all, Messages: 1})
		}},
		{"nobody reports for another's message, and nothing is recorded of what is not there", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			id := w.send(alice, bob, "why?")
			w.unchanged(func() {
				same(w, "carol's word", w.uses(carol, "", id, 5), false)
				same(w, "alice's word", w.uses(alice, "", id, 5), false)
				same(w, "no message", w.uses(bob, "", "box/alice::box/bob::00000000", 5), false)
				same(w, "nothing", w.uses(bob, "", id, 0), false)
			})
			same(w, "the chain's", w.chainCost(string(id)), nil)
		}},
		{"runs of one agent add up, and the oldest are remembered together", nil, func(w *testStore) {
			w.enter(alice, bob)
			id := w.send(alice, bob, "why?")
			var want []store.RunUsage
			for i := range store.MaxUsageRuns + 2 {
				run := fmt.Sprint("r", i)
				w.advance(time.Hour) // the run before is gone
				reg, err := w.store.Register(w.ctx, w.space, store.RegisterStep{Want: bob, Run: run, Session: "s"})
				w.must(err)
				same(w, "id", reg.Record.ID, bob)
				same(w, "recorded", w.uses(bob, run, id, int64(100+i)), true)
				same(w, "again", w.uses(bob, run, id, int64(100+i)), false)
				want = append(want, store.RunUsage{Run: run, Client: "codex", Usage: c3po.Usage{OutputTokens: int64(100 + i)}})
			}
			_, err := w.store.Use(w.ctx, w.space, store.UsageStep{Agent: bob, Run: "r0", ID: id, Usage: c3po.Usage{OutputTokens: 1_000}})
			w.refused(err, c3po.Superseded)
			want[2].Run, want[2].Usage.OutputTokens = "+", 100+101+102
			same(w, "runs", w.entry(id).Facts.Used, want[2:])
			same(w, "the sum", w.chainCost(string(id)).Usage.OutputTokens, int64(1_045))
		}},
		{"a chain whose tokens of an hour are used is paused at the next message, until it is resumed", budgets(func(l *c3po.Limits) { l.ChainTokens = 100 }), func(w *testStore) {
			w.enter(alice, bob, carol)
			question := w.send(alice, bob, "0")
			thread := string(question)
			same(w, "recorded", w.uses(bob, "", question, 99), true)
			next := inThread(bob, carol, thread, "1")
			same(w, "within", w.spentBy(next), nil)
			onward := w.page(carol, store.InboxQuery{}).Entries[0].Message.ID
			same(w, "used up", w.uses(carol, "", onward, 1), true)
			spent := w.spentBy(inThread(carol, bob, thread, "2"))
			if spent == nil || spent.Whose != store.SpentChain || !spent.Untold {
				w.Fatalf("the message after the last token: %+v", spent)
			}
			same(w, "another chain", w.spentBy(letter(bob, alice, "3")), nil)
			w.advance(2 * time.Hour)
			if w.spentBy(inThread(carol, bob, thread, "4")) == nil {
				w.Fatal("the hour alone has resumed it")
			}
			_, err := w.store.ResumeChain(w.ctx, w.space, thread)
			w.must(err)
			w.uses(carol, "", onward, 100)
			same(w, "a new budget", w.spentBy(inThread(carol, bob, thread, "5")), nil)
			w.uses(carol, "", onward, 101)
			if w.spentBy(inThread(carol, bob, thread, "6")) == nil {
				w.Fatal("the new budget does not end")
			}
			same(w, "the sum", w.chainCost(thread), &c3po.Cost{Usage: c3po.Usage{OutputTokens: 200}, Messages: 2})
		}},
		{"the tokens of a chain count by the hour, and start over when a person has a part in it", budgets(func(l *c3po.Limits) { l.ChainTokens = 100 }), func(w *testStore) {
			w.enter(alice, bob)
			question := w.send(alice, bob, "0")
			thread := string(question)
			w.uses(bob, "", question, 60)
			w.advance(time.Hour)
			w.uses(bob, "", question, 120)
			same(w, "an hour later", w.spentBy(inThread(bob, alice, thread, "1")), nil)
			w.advance(time.Minute)
			same(w, "the person", w.spentBy(inThread(c3po.Human, bob, thread, "2")), nil)
			w.uses(bob, "", question, 180)
			same(w, "after the person", w.spentBy(inThread(bob, alice, thread, "3")), nil)
		}},
		{"a send says what its chain has used of the tokens of the hour", budgets(func(l *c3po.Limits) { l.ChainTokens = 100 }), func(w *testStore) {
			w.enter(alice, bob)
			question := w.send(alice, bob, "0")
			tokens := func(text string) int64 {
				w.Helper()
				stored, err := w.store.Send(w.ctx, w.space, inThread(bob, alice, string(question), text))
				w.must(err)
				return stored.Fill.ChainTokens
			}
			same(w, "before a report", tokens("1"), 0)
			w.uses(bob, "", question, 60)
			same(w, "after it", tokens("2"), 60)
			w.advance(time.Hour)
			same(w, "in the next hour", tokens("3"), 0)
		}},
		{"what a chain has cost is forgotten after its life, and not before", nil, func(w *testStore) {
			w.enter(alice, bob)
			id := w.send(alice, bob, "why?")
			w.uses(bob, "", id, 7)
			for _, known := range []bool{true, false} {
				w.advance(store.CostLife - time.Hour)
				_, err := w.store.Trim(w.ctx, w.space, 100)
				w.must(err)
				same(w, "known", w.chainCost(string(id)) != nil, known)
			}
		}},
	}
}
