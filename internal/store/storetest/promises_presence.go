package storetest

import (
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

func (w *testStore) attach(id c3po.AgentID, node string) {
	w.Helper()
	w.must(w.store.Attach(w.ctx, w.space, id, node, c3po.SessionIdle))
	w.must(w.store.RenewLease(w.ctx, w.space, node))
}

func (w *testStore) notes(n store.Notes) {
	w.Helper()
	w.must(w.store.WriteNotes(w.ctx, w.space, n))
}

func (w *testStore) online(id c3po.AgentID) bool {
	w.Helper()
	r := w.record(id)
	if r.Attached && !r.Online {
		w.Fatalf("%s is attached but not online", id)
	}
	return r.Online
}

func presencePromises() []promise {
	return []promise{
		{"an agent without a connection is online for the window", nil, func(w *testStore) {
			w.enter(alice)
			w.advance(w.limits.OnlineWindow - time.Second)
			same(w, "within", w.online(alice), true)
			w.advance(time.Second)
			same(w, "after", w.online(alice), false)
		}},
		{"an attached agent is online as long as its node renews the lease", nil, func(w *testStore) {
			w.enter(alice)
			w.attach(alice, "n1")
			same(w, "attached", w.record(alice).Attached, true)
			for range 5 {
				w.advance(w.limits.NodeLease - time.Second)
				same(w, "online", w.online(alice), true)
				w.must(w.store.RenewLease(w.ctx, w.space, "n1"))
			}
		}},
		{"an agent that waits elsewhere by now is attached there alone", nil, func(w *testStore) {
			w.enter(alice)
			w.attach(alice, "n1")
			w.attach(alice, "n2")
			count := func() int {
				count, err := w.store.OnlineCount(w.ctx, w.space)
				w.must(err)
				return count
			}
			same(w, "online", count(), 1)
			w.must(w.store.Detach(w.ctx, w.space, alice, "n1", true, 0))
			same(w, "once the other has let go of it", []any{w.record(alice).Attached, count()}, []any{true, 1})
		}},
		{"an attached agent's session does what was last said of it, since it was first said", nil, func(w *testStore) {
			w.enter(alice)
			for _, state := range []c3po.SessionState{c3po.SessionIdle, c3po.SessionWorking, c3po.SessionDialog, c3po.SessionWorking} {
				w.must(w.store.Attach(w.ctx, w.space, alice, "n1", state))
				since := w.record(alice).StateAt
				w.advance(time.Second)
				w.must(w.store.Attach(w.ctx, w.space, alice, "n2", state))
				same(w, "state", w.record(alice).State, state)
				same(w, "since", w.record(alice).StateAt, since)
				w.advance(time.Second)
			}
			w.must(w.store.Attach(w.ctx, w.space, alice, "n1", ""))
			same(w, "the state after a word of a node that it has left", w.record(alice).State, c3po.SessionWorking)
			w.must(w.store.Attach(w.ctx, w.space, alice, "n2", ""))
			same(w, "the state when nothing waits any more", w.record(alice).State, "")
			w.must(w.store.Detach(w.ctx, w.space, alice, "n2", false, 0))
			same(w, "the state though it is not attached", w.record(alice).State, "")
		}},
		{"a session is idle since its turn ended, whatever can wake it", nil, func(w *testStore) {
			w.enter(alice)
			w.must(w.store.Attach(w.ctx, w.space, alice, "n1", c3po.SessionFailed))
			since := w.record(alice).StateAt
			for _, state := range []c3po.SessionState{c3po.SessionIdle, c3po.SessionUnarmed, c3po.SessionFailed} {
				w.advance(time.Second)
				w.must(w.store.Attach(w.ctx, w.space, alice, "n1", state))
				same(w, "state", w.record(alice).State, state)
				same(w, "since", w.record(alice).StateAt, since)
			}
			w.must(w.store.Attach(w.ctx, w.space, alice, "n1", c3po.SessionWorking))
			w.advance(time.Second)
			w.must(w.store.Attach(w.ctx, w.space, alice, "n1", c3po.SessionIdle))
			same(w, "idle after another turn", w.record(alice).StateAt.After(since), true)
		}},
		{"of a closed session its host is attached, which holds no name and is no sign of it", nil, func(w *testStore) {
			w.register(alice, "r1")
			w.refused(w.store.Attach(w.ctx, w.space, alice, "n1", c3po.SessionClosed), c3po.InvalidRequest)
			same(w, "attached while its session goes on", w.record(alice).Attached, false)
			_, err := w.store.Unregister(w.ctx, w.space, alice, "r1", "")
			w.must(err)
			seen := w.record(alice).Seen
			w.advance(time.Second)
			w.must(w.store.Attach(w.ctx, w.space, alice, "n1", c3po.SessionClosed))
			closed := w.record(alice)
			same(w, "attached", closed.Attached, true)
			count, err := w.store.OnlineCount(w.ctx, w.space)
			w.must(err)
			same(w, "online", count, 0)
			same(w, "state", closed.State, c3po.SessionClosed)
			same(w, "online", closed.Online, false)
			same(w, "seen", closed.Seen, seen)
			w.must(w.store.Attach(w.ctx, w.space, alice, "n1", ""))
			same(w, "online between two waits", w.record(alice).Online, false)
			w.must(w.store.Attach(w.ctx, w.space, alice, "n1", c3po.SessionClosed))
			same(w, "who opens it", w.register(alice, "r2").Record.ID, alice)
			same(w, "its host is attached to the opened one", w.record(alice).Attached, false)
			w.must(w.store.Attach(w.ctx, w.space, alice, "n2", c3po.SessionIdle))
			w.refused(w.store.Attach(w.ctx, w.space, alice, "n1", c3po.SessionClosed), c3po.InvalidRequest)
			same(w, "what its own session does", w.record(alice).State, c3po.SessionIdle)
			_, err = w.store.Unregister(w.ctx, w.space, alice, "r2", "")
			w.must(err)
			seen = w.record(alice).Seen
			w.must(w.store.Attach(w.ctx, w.space, alice, "n1", c3po.SessionClosed))
			w.advance(time.Second)
			w.must(w.store.Detach(w.ctx, w.space, alice, "n1", false, 0))
			same(w, "attached after its host has left", w.record(alice).Attached, false)
			same(w, "online after its host has left", w.record(alice).Online, false)
			same(w, "seen after its host has left", w.record(alice).Seen, seen)
			w.must(w.store.Attach(w.ctx, w.space, alice, "n1", c3po.SessionClosed))
			w.enter(alice)
			same(w, "its host is attached to who calls in its name", w.record(alice).Attached, false)
			same(w, "who calls in its name is online", w.record(alice).Online, true)
			w.advance(w.limits.OnlineWindow)
			w.must(w.store.Attach(w.ctx, w.space, alice, "n1", c3po.SessionClosed))
			same(w, "closed once nothing is heard any more", w.record(alice).State, c3po.SessionClosed)
		}},
		{"a session that closes has its host attached at once, and keeps it though its process is over", nil, func(w *testStore) {
			for name, ends := range map[string]func(){
				"a run": func() { _, err := w.store.Die(w.ctx, w.space, alice, "r1"); w.must(err) },
				"a declared process": func() {
					_, err := w.store.DieDeclared(w.ctx, w.space, alice, store.Declared{PID: 7, Seen: true})
					w.must(err)
				},
			} {
				_, err := w.store.Register(w.ctx, w.space, store.RegisterStep{Want: alice, Run: "r1", Explicit: true, Profile: store.Profile{PID: 7}})
				w.must(err)
				w.must(w.store.Attach(w.ctx, w.space, alice, "n2", c3po.SessionIdle))
				w.advance(time.Second)
				ended, err := w.store.Unregister(w.ctx, w.space, alice, "r1", "n1")
				w.must(err)
				same(w, "ended", ended, true)
				closed := w.record(alice)
				same(w, name+": attached", closed.Attached, true)
				same(w, name+": node", closed.Node, "n1")
				same(w, name+": state", closed.State, c3po.SessionClosed)
				same(w, name+": online", closed.Online, false)
				same(w, name+": left", closed.Left, true)
				ends()
				same(w, name+": attached once its process is over", w.record(alice).Attached, true)
				same(w, name+": died", w.record(alice).Died.IsZero(), false)
				w.must(w.store.Detach(w.ctx, w.space, alice, "n1", false, 0))
				same(w, name+": attached once its host is gone", w.record(alice).Attached, false)
			}
		}},
		{"an agent that calls after its session was closed is online by itself, and not by the host in its place", nil, func(w *testStore) {
			w.register(alice, "r1")
			w.unregister(alice, "r1")
			closed := func() {
				w.Helper()
				w.must(w.store.Attach(w.ctx, w.space, alice, "n1", c3po.SessionClosed))
				w.advance(store.NotesLate + time.Millisecond)
			}
			isBack := func(by string) {
				w.Helper()
				count, err := w.store.OnlineCount(w.ctx, w.space)
				w.must(err)
				same(w, "counted after "+by, count, 1)
				same(w, "online after "+by, w.record(alice).Online, true)
				same(w, "attached after "+by, w.record(alice).Attached, false)
				w.advance(w.limits.OnlineWindow)
				w.must(w.store.RenewLease(w.ctx, w.space, "n1"))
				same(w, "online once nothing is heard after "+by, w.record(alice).Online, false)
			}
			closed()
			w.notes(store.Notes{Seen: []c3po.AgentID{alice}})
			isBack("a note")
			closed()
			w.notes(store.Notes{Late: []store.LateNote{{Agent: alice, Ago: time.Millisecond}}})
			same(w, "online after a note of a call before it closed", w.record(alice).Online, false)
			same(w, "attached after that", w.record(alice).Attached, true)
			w.advance(time.Second)
			w.notes(store.Notes{Late: []store.LateNote{{Agent: alice, Ago: time.Millisecond}}})
			isBack("a note of an earlier call")
			closed()
			w.must(w.store.Attach(w.ctx, w.space, alice, "n1", ""))
			w.enter(alice)
			isBack("a call between two waits of its host")
		}},
		{"an agent whose node died is offline until it is seen again", nil, func(w *testStore) {
			w.enter(alice)
			w.attach(alice, "n1")
			w.advance(w.limits.NodeLease)
			same(w, "attached", w.record(alice).Attached, false)
			same(w, "online", w.online(alice), false)
			w.notes(store.Notes{Seen: []c3po.AgentID{alice}})
			same(w, "seen again", w.online(alice), true)
			same(w, "attached", w.record(alice).Attached, false)
		}},
		{"a run whose node died is taken over", nil, func(w *testStore) {
			w.register(alice, "r1")
			w.attach(alice, "n1")
			w.advance(w.limits.NodeLease)
			same(w, "id", w.register(alice, "r2").Record.ID, alice)
			w.must(w.store.RenewLease(w.ctx, w.space, "n1"))
			same(w, "the new run is attached", w.record(alice).Attached, false)
		}},
		{"a run with a live connection is not taken over, however long ago it spoke", nil, func(w *testStore) {
			w.register(alice, "r1")
			w.attach(alice, "n1")
			w.advance(time.Hour)
			w.must(w.store.RenewLease(w.ctx, w.space, "n1"))
			same(w, "id", w.register(alice, "r2").Record.ID, alice.Numbered(2))
		}},
		{"who detaches is seen then and online for the window", nil, func(w *testStore) {
			w.enter(alice)
			w.attach(alice, "n1")
			w.advance(time.Second)
			w.must(w.store.Detach(w.ctx, w.space, alice, "n1", false, 0))
			same(w, "attached", w.record(alice).Attached, false)
			same(w, "seen", w.record(alice).Seen, w.now())
			w.advance(w.limits.OnlineWindow - time.Second)
			same(w, "online", w.online(alice), true)
			w.attach(alice, "n1")
			w.advance(10 * time.Second)
			w.must(w.store.Detach(w.ctx, w.space, alice, "n1", false, 4*time.Second))
			same(w, "seen when it left", w.record(alice).Seen, w.now().Add(-4*time.Second))
			w.advance(w.limits.OnlineWindow - 4*time.Second)
			same(w, "online after the window", w.online(alice), false)
			w.attach(alice, "n1")
			w.must(w.store.Detach(w.ctx, w.space, alice, "n1", false, 4*time.Second))
			same(w, "seen is not moved back", w.record(alice).Seen, w.now())
		}},
		{"who hung up is offline until it is seen again, and its id is free", nil, func(w *testStore) {
			w.register(alice, "r1")
			w.attach(alice, "n1")
			w.must(w.store.Detach(w.ctx, w.space, alice, "n2", true, 0))
			same(w, "online after another node lost it", w.online(alice), true)
			w.must(w.store.Detach(w.ctx, w.space, alice, "n1", true, 0))
			same(w, "online", w.online(alice), false)
			w.advance(store.NotesLate + time.Millisecond)
			w.notes(store.Notes{Seen: []c3po.AgentID{alice}})
			same(w, "online when it was seen", w.online(alice), true)
			w.attach(alice, "n1")
			w.must(w.store.Detach(w.ctx, w.space, alice, "n1", true, 0))
			same(w, "id of the next run", w.register(alice, "r2").Record.ID, alice)
			same(w, "online then", w.online(alice), true)
		}},
		{"detaching from another node changes nothing", nil, func(w *testStore) {
			w.enter(alice)
			w.attach(alice, "n1")
			seen := w.now()
			w.advance(time.Second)
			w.must(w.store.Detach(w.ctx, w.space, alice, "n2", false, 0))
			same(w, "attached", w.record(alice).Attached, true)
			same(w, "seen", w.record(alice).Seen, seen)
		}},
		{"an agent belongs to the node that attached it last", nil, func(w *testStore) {
			w.enter(alice)
			w.attach(alice, "n1")
			w.attach(alice, "n2")
			w.must(w.store.Detach(w.ctx, w.space, alice, "n1", false, 0))
			same(w, "attached", w.record(alice).Attached, true)
			w.must(w.store.EndLease(w.ctx, w.space, "n1"))
			same(w, "attached", w.record(alice).Attached, true)
		}},
		{"ending a lease detaches everything the node held, for good", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			w.attach(alice, "n1")
			w.attach(bob, "n1")
			w.attach(carol, "n2")
			w.must(w.store.EndLease(w.ctx, w.space, "n1"))
			w.must(w.store.RenewLease(w.ctx, w.space, "n1"))
			same(w, "alice", w.record(alice).Attached, false)
			same(w, "bob", w.record(bob).Attached, false)
			same(w, "carol", w.record(carol).Attached, true)
			seen := w.record(carol).Seen
			w.advance(-time.Hour)
			w.must(w.store.EndLease(w.ctx, w.space, "n2"))
			same(w, "carol was seen, whatever the clock says by now", w.record(carol).Seen, seen)
		}},
		{"attaching brings back who unregistered", nil, func(w *testStore) {
			w.enter(alice)
			w.attach(alice, "n1")
			w.unregister(alice, "")
			same(w, "attached", w.record(alice).Attached, false)
			w.attach(alice, "n1")
			same(w, "online", w.online(alice), true)
		}},
		{"a note that an agent was seen keeps it online", nil, func(w *testStore) {
			w.enter(alice)
			w.advance(w.limits.OnlineWindow - time.Second)
			w.notes(store.Notes{Seen: []c3po.AgentID{alice, "nobody"}})
			w.advance(time.Second)
			same(w, "online", w.online(alice), true)
			w.advance(w.limits.OnlineWindow)
			same(w, "online", w.online(alice), false)
		}},
		{"an agent is online for three of the intervals it declared, and counted so", nil, func(w *testStore) {
			for id, beat := range map[c3po.AgentID]int{alice: 5, bob: 300} {
				step := store.RegisterStep{Want: id, Run: "run " + string(id), Explicit: true, Profile: store.Profile{Heartbeat: beat}}
				_, err := w.store.Register(w.ctx, w.space, step)
				w.must(err)
			}
			count := func() int {
				w.Helper()
				n, err := w.store.OnlineCount(w.ctx, w.space)
				w.must(err)
				return n
			}
			w.advance(14 * time.Second)
			same(w, "both", count(), 2)
			w.notes(store.Notes{Seen: []c3po.AgentID{alice}})
			w.advance(14 * time.Second)
			same(w, "after a note", count(), 2)
			w.advance(time.Second)
			same(w, "after three intervals", w.online(alice), false)
			same(w, "counted", count(), 1)
			w.attach(alice, "n1")
			w.must(w.store.Detach(w.ctx, w.space, alice, "n1", false, 0))
			w.advance(15 * time.Second)
			same(w, "after a wait", count(), 1)
			w.advance(14 * time.Minute)
			same(w, "five minutes, declared", w.online(bob), true)
			w.advance(time.Minute)
			same(w, "three times", w.online(bob), false)
			same(w, "counted", count(), 0)
		}},
		{"a note of an earlier call says when that was, and moves nothing back", nil, func(w *testStore) {
			w.enter(alice)
			began := w.record(alice).Seen
			w.advance(80 * time.Second)
			w.notes(store.Notes{Late: []store.LateNote{{Agent: alice, Ago: 50 * time.Second}, {Agent: "nobody", Ago: time.Second}}})
			same(w, "seen", w.record(alice).Seen.Sub(began), 30*time.Second)
			w.notes(store.Notes{Late: []store.LateNote{{Agent: alice, Ago: 60 * time.Second}}})
			same(w, "seen", w.record(alice).Seen.Sub(began), 30*time.Second)
			w.advance(39 * time.Second)
			same(w, "online", w.online(alice), true)
			w.advance(time.Second)
			same(w, "online", w.online(alice), false)
		}},
		{"a late note does not bring back who unregistered", nil, func(w *testStore) {
			w.enter(alice)
			w.unregister(alice, "")
			w.advance(store.NotesLate)
			w.notes(store.Notes{Seen: []c3po.AgentID{alice}})
			same(w, "online", w.online(alice), false)
		}},
		{"a note from after it unregistered brings an agent back", nil, func(w *testStore) {
			w.enter(alice)
			w.unregister(alice, "")
			w.advance(store.NotesLate + time.Millisecond)
			w.notes(store.Notes{Seen: []c3po.AgentID{alice}})
			same(w, "online", w.online(alice), true)
			same(w, "it can unregister again", w.unregister(alice, ""), true)
		}},
		{"a note makes no agent of a stranger", nil, func(w *testStore) {
			w.enter(alice)
			w.notes(store.Notes{Seen: []c3po.AgentID{carol}, Notified: []store.NotifiedNote{{Agent: carol, Reader: "s1", Seq: 1, At: w.now()}}})
			records, err := w.store.Agents(w.ctx, w.space, []c3po.AgentID{carol})
			w.must(err)
			same(w, "records", recordIDs(records), nil)
			_, err = w.store.Send(w.ctx, w.space, letter(alice, carol, "hello?"))
			w.refused(err, c3po.AgentNotFound)
		}},
		{"the online are counted as they are", nil, func(w *testStore) {
			w.enter(alice)
			w.attach(alice, "n1")
			w.enter("dead-node")
			w.attach("dead-node", "n2")
			w.enter("gone")
			w.advance(w.limits.NodeLease)
			w.must(w.store.RenewLease(w.ctx, w.space, "n1"))
			w.enter(bob)
			w.unregister("gone", "")
			count, err := w.store.OnlineCount(w.ctx, w.space)
			w.must(err)
			same(w, "alice by lease and bob", count, 2)
			w.goOffline()
			count, err = w.store.OnlineCount(w.ctx, w.space)
			w.must(err)
			same(w, "nobody", count, 0)
		}},
	}
}
