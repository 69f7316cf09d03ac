package storetest

import (
	"fmt"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// try asks for an id and may be refused.
func (w *testStore) try(step store.RegisterStep) (c3po.AgentID, error) {
	reg, err := w.store.Register(w.ctx, w.space, step)
	return reg.Record.ID, err
}

// given is the id that is given.
func (w *testStore) given(step store.RegisterStep) c3po.AgentID {
	w.Helper()
	id, err := w.try(step)
	w.must(err)
	return id
}

func (w *testStore) goOffline() { w.advance(w.limits.OnlineWindow + time.Second) }

func registerPromises() []promise {
	return []promise{
		{"a run whose process has ended is offline at once, and its id free", nil, func(w *testStore) {
			w.register(alice, "r1")
			w.attach(alice, "n1")
			w.advance(time.Second)
			before := w.books().Seq
			died, err := w.store.Die(w.ctx, w.space, alice, "r1")
			w.must(err)
			same(w, "died", died, true)
			same(w, "online", w.record(alice).Online, false)
			same(w, "when", w.record(alice).Died, w.now())
			same(w, "events", w.events(before), []c3po.Event{{Seq: before + 1, Kind: c3po.EventDied, Agent: alice, At: w.now()}})
			w.unchanged(func() {
				again, err := w.store.Die(w.ctx, w.space, alice, "r1")
				w.must(err)
				same(w, "again", again, false)
			})
			same(w, "next run", w.register(alice, "r2").Record.ID, alice)
			same(w, "died", w.record(alice).Died, time.Time{})
		}},
		{"a declared process that is not there takes its agent offline, unless it never was and the agent is connected", nil, func(w *testStore) {
			for _, is := range []struct{ seen, connected bool }{{true, true}, {false, true}, {true, false}, {false, false}} {
				seen := is.seen
				step := store.RegisterStep{Want: alice, Explicit: true, Profile: store.Profile{PID: 7, PIDStart: 70}}
				_, err := w.store.Register(w.ctx, w.space, step)
				w.must(err)
				same(w, "declared anew", w.record(alice).Died, time.Time{})
				w.advance(time.Second)
				if is.connected {
					w.must(w.store.Attach(w.ctx, w.space, alice, "node", c3po.SessionWaiting))
				}
				die := func(pid int, start int64) bool {
					w.Helper()
					died, err := w.store.DieDeclared(w.ctx, w.space, alice, store.Declared{PID: pid, Start: start, Seen: seen})
					w.must(err)
					return died
				}
				w.unchanged(func() {
					same(w, "another process", die(8, 70), false)
					same(w, "another start", die(7, 71), false)
					same(w, "none", die(0, 0), false)
				})
				same(w, "died", die(7, 70), true)
				same(w, "when", w.record(alice).Died, w.now())
				same(w, "online", w.record(alice).Online, is.connected && !seen)
				w.unchanged(func() { same(w, "again", die(7, 70), false) })
				w.must(w.store.Detach(w.ctx, w.space, alice, "node", false, 0))
			}
		}},
		{"only the run that holds an id can die as it", nil, func(w *testStore) {
			w.register(alice, "r1")
			w.enter(bob)
			w.unchanged(func() {
				for _, run := range []string{"r2", ""} {
					for _, id := range []c3po.AgentID{alice, bob, "nobody"} {
						died, err := w.store.Die(w.ctx, w.space, id, run)
						w.must(err)
						same(w, "died", died, false)
					}
				}
			})
			same(w, "online", w.record(alice).Online, true)
		}},
		{"a new agent is given the id it asks for", nil, func(w *testStore) {
			profile := store.Profile{
				Name: "Bob", Capabilities: []string{"mqtt", "review"}, Type: "codex", Cwd: "/src", Host: "box", PID: 7, PIDStart: 99,
				Metadata: []byte(`{"a": [1]}`), Heartbeat: 30, Client: "c3po/1.0 codex",
			}
			reg, err := w.store.Register(w.ctx, w.space, store.RegisterStep{Want: bob, Run: "r1", Session: "s1", Profile: profile})
			w.must(err)
			want := store.Record{
				ID: bob, RegisteredAt: w.now(), RegSeq: reg.Record.RegSeq, Run: "r1", Session: "s1", Epoch: 1,
				Seen: w.now(), Online: true, Profile: profile,
			}
			same(w, "registration", reg, store.Registration{Record: want, Now: w.now()})
			same(w, "record", w.record(bob), want)
			same(w, "agents counted", w.books().Agents, int64(1))
		}},
		{"the same run keeps its id", nil, func(w *testStore) {
			w.register(alice, "r1")
			w.goOffline()
			reg := w.register(alice, "r1")
			same(w, "id", reg.Record.ID, alice)
			same(w, "epoch", reg.Record.Epoch, int64(1))
			same(w, "agents counted", w.books().Agents, int64(1))
		}},
		{"another live run is given the next number", nil, func(w *testStore) {
			w.register(bob, "r1")
			same(w, "second", w.register(bob, "r2").Record.ID, bob.Numbered(2))
			same(w, "third", w.register(bob, "r3").Record.ID, bob.Numbered(3))
		}},
		{"a run finds its numbered id again, even when the plain one is free", nil, func(w *testStore) {
			w.register(alice, "r1")
			w.register(alice, "r2")
			w.goOffline()
			same(w, "id", w.register(alice, "r2").Record.ID, alice.Numbered(2))
		}},
		{"when every number is taken by a live run registration is refused", nil, func(w *testStore) {
			for n := range store.MaxNumbered {
				w.register(alice, fmt.Sprint("r", n))
			}
			w.unchanged(func() {
				_, err := w.try(store.RegisterStep{Want: alice, Run: "one too many"})
				w.refused(err, c3po.InvalidRequest)
			})
		}},
		{"an id that the caller's token does not cover is not given", nil, func(w *testStore) {
			w.register(alice, "r1")
			w.register(alice, "r2")
			exact := c3po.Pattern(alice)
			w.unchanged(func() {
				_, err := w.try(store.RegisterStep{Want: alice, Run: "r3", Agents: exact})
				w.refused(err, c3po.Forbidden)
				_, err = w.try(store.RegisterStep{Want: alice, Run: "r2", Agents: exact})
				w.refused(err, c3po.Forbidden)
			})
			third, err := w.try(store.RegisterStep{Want: alice, Run: "r3", Agents: exact + "-3*"})
			w.must(err)
			same(w, "covered", third, alice.Numbered(3))
			w.goOffline()
			first, err := w.try(store.RegisterStep{Want: alice, Run: "r4", Agents: exact})
			w.must(err)
			same(w, "when it is free", first, alice)
		}},
		{"a run that is offline is taken over and the epoch rises", nil, func(w *testStore) {
			w.register(alice, "r1")
			w.goOffline()
			taken := w.register(alice, "r2").Record
			same(w, "id", taken.ID, alice)
			same(w, "run", taken.Run, "r2")
			same(w, "epoch", taken.Epoch, int64(2))
			same(w, "agents counted", w.books().Agents, int64(1))
		}},
		{"the inbox goes with the id", nil, func(w *testStore) {
			w.register(alice, "r1")
			w.send(alice, alice, "note")
			w.goOffline()
			same(w, "unread", w.register(alice, "r2").Unread, 1)
		}},
		{"a run that was taken over is told SUPERSEDED", nil, func(w *testStore) {
			w.register(alice, "r1")
			w.goOffline()
			w.register(alice, "r2")
			w.unchanged(func() {
				_, err := w.try(store.RegisterStep{Want: alice, Run: "r1"})
				w.refused(err, c3po.Superseded)
			})
			w.goOffline()
			_, err := w.try(store.RegisterStep{Want: alice, Run: "r1"})
			w.refused(err, c3po.Superseded)
		}},
		{"every run that was taken over is told SUPERSEDED, not only the last", nil, func(w *testStore) {
			for _, run := range []string{"r1", "r2", "r3"} {
				w.register(alice, run)
				w.goOffline()
			}
			for _, run := range []string{"r1", "r2"} {
				_, err := w.try(store.RegisterStep{Want: alice, Run: run})
				w.refused(err, c3po.Superseded)
			}
		}},
		{"an explicit registration starts over after SUPERSEDED", nil, func(w *testStore) {
			w.register(alice, "r1")
			w.goOffline()
			w.register(alice, "r2")
			same(w, "id", w.given(store.RegisterStep{Want: alice, Run: "r1", Explicit: true}), alice.Numbered(2))
			same(w, "id without saying so", w.given(store.RegisterStep{Want: alice, Run: "r1"}), alice.Numbered(2))
		}},
		{"a lower epoch is told SUPERSEDED while another run holds the id", nil, func(w *testStore) {
			w.register(alice, "r1")
			w.goOffline()
			w.register(alice, "r2")
			_, err := w.try(store.RegisterStep{Want: alice, Run: "r9", Epoch: 1})
			w.refused(err, c3po.Superseded)
			same(w, "the same epoch", w.given(store.RegisterStep{Want: alice, Run: "r9", Epoch: 2}), alice.Numbered(2))
			same(w, "no epoch", w.given(store.RegisterStep{Want: alice, Run: "r10"}), alice.Numbered(3))
			same(w, "its own run", w.given(store.RegisterStep{Want: alice, Run: "r2", Epoch: 1}), alice)
		}},
		{"a resumed session is given its former id back", nil, func(w *testStore) {
			w.given(store.RegisterStep{Want: alice, Run: "r1", Session: "s1"})
			w.given(store.RegisterStep{Want: alice, Run: "r2", Session: "s2"})
			w.goOffline()
			same(w, "id", w.given(store.RegisterStep{Want: alice, Run: "r3", Session: "s2"}), alice.Numbered(2))
		}},
		{"a resumed session does not take an id from a live run", nil, func(w *testStore) {
			w.given(store.RegisterStep{Want: alice, Run: "r1", Session: "s1"})
			w.given(store.RegisterStep{Want: alice, Run: "r2", Session: "s2"})
			same(w, "id", w.given(store.RegisterStep{Want: alice, Run: "r3", Session: "s2"}), alice.Numbered(3))
		}},
		{"a session is not followed to another name", nil, func(w *testStore) {
			w.given(store.RegisterStep{Want: alice, Run: "r1", Session: "s1"})
			w.goOffline()
			same(w, "id", w.given(store.RegisterStep{Want: carol, Run: "r2", Session: "s1"}), carol)
		}},
		{"an agent's new session forgets the one before", nil, func(w *testStore) {
			w.given(store.RegisterStep{Want: alice, Run: "r1", Session: "s1"})
			w.given(store.RegisterStep{Want: alice, Run: "r2", Session: "s2"})
			w.given(store.RegisterStep{Want: alice, Run: "r2", Session: "s3"})
			same(w, "session", w.record(alice.Numbered(2)).Session, "s3")
			w.goOffline()
			same(w, "id", w.given(store.RegisterStep{Want: alice, Run: "r4", Session: "s2"}), alice)
		}},
		{"an anonymous caller never collides and leaves the run alone", nil, func(w *testStore) {
			w.given(store.RegisterStep{Want: alice, Run: "r1", Session: "s1"})
			reg := w.register(alice, "")
			same(w, "id", reg.Record.ID, alice)
			same(w, "run", reg.Record.Run, "r1")
			same(w, "session", reg.Record.Session, "s1")
			same(w, "epoch", reg.Record.Epoch, int64(1))
			same(w, "the run's own id", w.register(alice, "r1").Record.ID, alice)
		}},
		{"a run takes an anonymous id over at once", nil, func(w *testStore) {
			w.register(alice, "")
			taken := w.register(alice, "r1").Record
			same(w, "id", taken.ID, alice)
			same(w, "run", taken.Run, "r1")
			same(w, "epoch", taken.Epoch, int64(2))
		}},
		{"a call that is not explicit leaves the profile alone but for the client", nil, func(w *testStore) {
			w.given(store.RegisterStep{Want: alice, Run: "r1", Profile: store.Profile{Name: "Alice", PID: 1, Client: "old"}})
			w.given(store.RegisterStep{Want: alice, Run: "r1", Profile: store.Profile{Name: "Eve", PID: 2, Client: "new"}})
			same(w, "profile", w.record(alice).Profile, store.Profile{Name: "Alice", PID: 1, Client: "new"})
		}},
		{"an explicit registration changes what it says and leaves the rest", nil, func(w *testStore) {
			all := store.Profile{
				Name: "Alice", Capabilities: []string{"x"}, Type: "codex", Cwd: "/src", Host: "box", PID: 1, PIDStart: 2,
				Metadata: []byte(`{}`), Heartbeat: 3, Client: "c",
			}
			w.given(store.RegisterStep{Want: alice, Run: "r1", Profile: all})
			w.given(store.RegisterStep{Want: alice, Run: "r1", Explicit: true, Profile: store.Profile{Client: "c"}})
			same(w, "profile when nothing is said", w.record(alice).Profile, all)
			w.given(store.RegisterStep{Want: alice, Run: "r1", Explicit: true, Profile: store.Profile{Capabilities: []string{"y", "z"}, Client: "c"}})
			all.Capabilities = []string{"y", "z"}
			same(w, "profile after new capabilities", w.record(alice).Profile, all)
			w.given(store.RegisterStep{Want: alice, Run: "r1", Explicit: true, Profile: store.Profile{Capabilities: []string{}, Name: "Al", Client: "c"}})
			all.Capabilities, all.Name = nil, "Al"
			same(w, "profile after no capabilities", w.record(alice).Profile, all)
		}},
		{"the next session keeps what the agent can do, and not the process of the last", nil, func(w *testStore) {
			w.given(store.RegisterStep{Want: alice, Run: "r1", Explicit: true, Profile: store.Profile{Capabilities: []string{"x"}, Cwd: "/src", PID: 1, PIDStart: 2, Heartbeat: 3}})
			w.goOffline()
			w.given(store.RegisterStep{Want: alice, Run: "r2", Explicit: true, Profile: store.Profile{Type: "codex"}})
			same(w, "profile", w.record(alice).Profile, store.Profile{Capabilities: []string{"x"}, Type: "codex", Cwd: "/src"})
		}},
		{"what a session says of its work ends with it", nil, func(w *testStore) {
			busy := func(run string) {
				w.register(alice, run)
				w.must(w.store.SetStatus(w.ctx, w.space, alice, run, c3po.Busy, "tests"))
				same(w, "task of "+run, w.record(alice).CurrentTask, "tests")
			}
			idle := func(what string) {
				w.Helper()
				same(w, "availability "+what, w.record(alice).Availability, c3po.Availability(""))
				same(w, "task "+what, w.record(alice).CurrentTask, "")
			}
			busy("r1")
			w.goOffline()
			w.register(alice, "r1")
			same(w, "task of a run that is back", w.record(alice).CurrentTask, "tests")
			w.goOffline()
			w.register(alice, "r2")
			idle("of the next run")
			busy("r2")
			_, err := w.store.Unregister(w.ctx, w.space, alice, "r2", "")
			w.must(err)
			idle("after it unregistered")
			busy("r2")
			_, err = w.store.Die(w.ctx, w.space, alice, "r2")
			w.must(err)
			idle("after its process ended")
		}},
		{"live runs that come at the same time are given different ids", nil, func(w *testStore) {
			const runs = 8
			ids := make(chan c3po.AgentID, runs)
			for n := range runs {
				go func() {
					id, err := w.try(store.RegisterStep{Want: alice, Run: fmt.Sprint("r", n)})
					if err != nil {
						id = c3po.AgentID(err.Error())
					}
					ids <- id
				}()
			}
			given := map[c3po.AgentID]bool{}
			for range runs {
				given[<-ids] = true
			}
			for n := range runs {
				if !given[alice.Numbered(n+1)] {
					w.Errorf("%s was given to nobody: %v", alice.Numbered(n+1), given)
				}
			}
		}},
	}
}
