package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/store"
)

// YearLimits are lives that are over within a month, so that what a store holds
// after two of them is what it holds for ever.
func YearLimits() c3po.Limits {
	l := c3po.DefaultLimits().Unbudgeted()
	l.EndedLife, l.DeadLife, l.RetireAfter = 3*24*time.Hour, 7*24*time.Hour, 3*24*time.Hour
	l.ChainMessages, l.RoomPosts, l.EventEntries = 2, 20, 400
	l.ReapEvery = 12 * time.Hour
	return l
}

// Year lets a store live through months of 30 days in which everything comes and
// goes: restarts, names, queues, rooms, letters that nobody reads, conversations
// that are paused, coordinators that die. It calls month after each, and each after
// every day with its number.
func Year(t *testing.T, h Harness, limits c3po.Limits, months int, each func(space c3po.Space, day int), month func(n int)) {
	t.Helper()
	w := &testStore{T: t, ctx: t.Context(), store: h.Store, advance: h.Advance, limits: limits, space: "year"}
	reaper := hub.New(hub.Config{Store: h.Store, Limits: limits, Node: "reaper"})
	for day := range months * 30 {
		w.day(day)
		each(w.space, day)
		for range 2 {
			w.advance(limits.ReapEvery)
			w.must(reaper.Reap(w.ctx))
		}
		if day%30 == 29 {
			month(day/30 + 1)
		}
	}
}

// day is what happens in one.
func (w *testStore) day(n int) {
	w.Helper()
	run := fmt.Sprintf("run-%d", n)
	register := func(space c3po.Space, id c3po.AgentID, run string, capabilities ...string) {
		w.Helper()
		_, err := w.store.Register(w.ctx, space, store.RegisterStep{
			Want: id, Run: run, Session: "session of " + run + string(id), Explicit: true, Profile: store.Profile{Capabilities: capabilities},
		})
		w.must(err)
	}
	// Two stay and restart every day, one is of the day, with a queue of its own.
	register(w.space, "steady", run)
	register(w.space, "reader", run)
	guest, queue := c3po.AgentID(fmt.Sprintf("guest-%d", n)), fmt.Sprintf("role-%d", n)
	register(w.space, guest, "")
	register(w.space, guest, run, queue)

	// A coordinator holds them, and dies without a word.
	node := fmt.Sprintf("node-%d", n)
	for _, id := range []c3po.AgentID{"steady", guest} {
		w.must(w.store.Attach(w.ctx, w.space, id, node, c3po.SessionWaiting))
	}

	step := letter("steady", guest, fmt.Sprint("read, day ", n))
	step.Key, step.Alias, step.Within = fmt.Sprint("key-", n), fmt.Sprintf("|guest-%d", n), time.Hour
	read := w.sendStep(step).Message.ID
	w.must(w.store.WriteNotes(w.ctx, w.space, store.Notes{
		Served:   []store.ServedNote{{ID: read, Reader: run, Route: "mcp", At: w.now()}},
		Notified: []store.NotifiedNote{{Agent: guest, Reader: run, Route: "hook", Seq: 1, At: w.now()}},
	}))
	w.reply(guest, read, fmt.Sprint("answer, day ", n))
	w.send("steady", guest, fmt.Sprint("never read, day ", n))
	toQueue := letter("steady", c3po.AgentID("role/"+queue), fmt.Sprint("task, day ", n))
	toQueue.Queue = true
	task := w.sendStep(toQueue).Message.ID
	if n%2 == 0 {
		_, err := w.store.Claim(w.ctx, w.space, store.ClaimStep{Queue: c3po.AgentID("role/" + queue), Agent: guest, ID: task})
		w.must(err)
		_, err = w.store.AckClaimed(w.ctx, w.space, c3po.AgentID("role/"+queue), guest, "", []c3po.MessageID{task})
		w.must(err)
	}
	asked := letter(guest, c3po.Human, fmt.Sprint("may I, day ", n))
	asked.Mailbox = true
	w.ack(c3po.Human, w.sendStep(asked).Message.ID)

	// A conversation that goes in circles is paused, and nobody resumes it.
	for i := range 3 {
		circle := letter("steady", "reader", fmt.Sprint("circle ", n, " ", i))
		circle.Thread = fmt.Sprint("circle-", n)
		if _, err := w.store.Send(w.ctx, w.space, circle); err != nil && i < 2 {
			w.Fatal(err)
		}
	}

	// One takes another name every day.
	if n == 0 {
		register(w.space, "nomad-0", "nomad")
	}
	nomad := c3po.AgentID(fmt.Sprintf("nomad-%d", n+1))
	w.send("steady", c3po.AgentID(fmt.Sprintf("nomad-%d", n)), fmt.Sprint("where to, day ", n))
	w.must(w.store.Rename(w.ctx, w.space, c3po.AgentID(fmt.Sprintf("nomad-%d", n)), nomad, "nomad"))
	register(w.space, nomad, "nomad")

	// A room of the day, one that stays, and everybody. The reader's sessions never
	// say how far they are.
	today := c3po.RoomName(fmt.Sprintf("room-%d", n))
	w.joinRoom(today, guest)
	if n == 0 {
		w.joinRoom("lobby", "steady", "reader")
	}
	w.say(guest, today, fmt.Sprint("hello, day ", n))
	for _, room := range []c3po.RoomName{"lobby", c3po.Everybody} {
		post := w.post(saying("steady", room, fmt.Sprint("news of day ", n, " in ", room)))
		w.must(w.store.WriteNotes(w.ctx, w.space, store.Notes{
			ServedPosts: []store.PostServedNote{{ID: post.Message.ID, Seq: post.Message.Seq, Agent: "reader", Reader: "reader of " + run, At: w.now()}},
		}))
	}

	// A space that is used for a day.
	other := c3po.Space(fmt.Sprintf("space-%d", n))
	register(other, "visitor", run)
	stored, err := w.store.Send(w.ctx, other, letter("visitor", "visitor", "note to self"))
	w.must(err)
	_, err = w.store.Ack(w.ctx, other, "visitor", "", []c3po.MessageID{stored.Message.ID})
	w.must(err)
}
