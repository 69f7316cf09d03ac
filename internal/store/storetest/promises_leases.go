package storetest

import (
	"fmt"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// inTree are files of one repository on its branch main.
func inTree(tree string, paths ...string) c3po.LeaseFiles {
	return c3po.LeaseFiles{Repository: "r", Branch: "main", Tree: tree, Paths: paths}
}

func (w *testStore) lease(agent c3po.AgentID, run string, files c3po.LeaseFiles) c3po.LeaseTaken {
	w.Helper()
	taken, err := w.store.Lease(w.ctx, w.space, store.LeaseStep{Agent: agent, Run: run, Files: files})
	w.must(err)
	return taken
}

// takes takes what must be free, and gives the first number.
func (w *testStore) takes(agent c3po.AgentID, files c3po.LeaseFiles) int64 {
	w.Helper()
	taken := w.lease(agent, "", files)
	if taken.Held != nil || len(taken.Numbers) != len(files.Paths) {
		w.Fatalf("%s takes %v: %+v", agent, files.Paths, taken)
	}
	return taken.Numbers[0]
}

// isKeptFrom says whose lease keeps an agent from these files.
func (w *testStore) isKeptFrom(agent c3po.AgentID, files c3po.LeaseFiles) c3po.AgentID {
	w.Helper()
	if held := w.lease(agent, "", files).Held; held != nil {
		return held.Holder
	}
	return ""
}

func (w *testStore) leases() []c3po.Lease {
	w.Helper()
	leases, err := w.store.Leases(w.ctx, w.space)
	w.must(err)
	return leases
}

func leasePromises() []promise {
	return []promise{
		{"a file is leased to one agent, and the next hears who it is, since when and for what", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.must(w.store.SetStatus(w.ctx, w.space, alice, "", c3po.Busy, "the parser"))
			number, since := w.takes(alice, inTree("t1", "a.go")), w.now()
			w.advance(time.Minute)
			want := c3po.Lease{Number: number, Repository: "r", Branch: "main", Path: "a.go", Holder: alice, Since: since, Edited: since, Task: "the parser"}
			w.unchanged(func() {
				same(w, "refused", w.lease(bob, "", inTree("t1", "a.go")), c3po.LeaseTaken{Held: &want})
				same(w, "all or nothing", w.lease(bob, "", inTree("t1", "b.go", "a.go")), c3po.LeaseTaken{Held: &want})
			})
			want.Tree = "t1"
			same(w, "listed", w.leases(), []c3po.Lease{want})
			if next := w.takes(bob, inTree("t1", "b.go")); next <= number {
				w.Fatalf("lease %d was given after %d", next, number)
			}
		}},
		{"who edits a file again keeps its lease and its number", nil, func(w *testStore) {
			w.enter(alice)
			number, since := w.takes(alice, inTree("t1", "a.go")), w.now()
			w.advance(time.Minute)
			same(w, "number", w.takes(alice, inTree("t1", "a.go")), number)
			lease := w.leases()[0]
			same(w, "since", lease.Since, since)
			same(w, "edited", lease.Edited, since.Add(time.Minute))
		}},
		{"leases conflict in one working tree and on one branch, and nowhere else", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.takes(alice, inTree("t1", "a.go"))
			on := func(repository, branch, tree string) c3po.LeaseFiles {
				return c3po.LeaseFiles{Repository: repository, Branch: branch, Tree: tree, Paths: []string{"a.go"}}
			}
			for _, c := range []struct {
				files c3po.LeaseFiles
				by    c3po.AgentID
			}{
				{on("r", "main", "t2"), alice}, {on("r", "side", "t1"), alice}, {on("r", "", "t1"), alice},
				{on("r", "side", "t2"), ""}, {on("r", "", "t3"), ""}, {on("other", "main", "t1"), ""},
			} {
				same(w, fmt.Sprint(c.files), w.isKeptFrom(bob, c.files), c.by)
			}
			same(w, "bob's branch", w.isKeptFrom(alice, on("r", "side", "t9")), bob)
		}},
		{"a lease goes along when another branch is checked out, and the branch before is free", nil, func(w *testStore) {
			w.enter(alice, bob)
			on := func(branch, tree string) c3po.LeaseFiles {
				return c3po.LeaseFiles{Repository: "r", Branch: branch, Tree: tree, Paths: []string{"a.go"}}
			}
			number := w.takes(alice, on("main", "t1"))
			same(w, "during a rebase", w.takes(alice, on("", "t1")), number)
			same(w, "main, during a rebase", w.isKeptFrom(bob, on("main", "t2")), alice)
			if next := w.takes(alice, on("side", "t1")); next <= number {
				w.Fatalf("lease %d was given after %d", next, number)
			}
			same(w, "side", w.isKeptFrom(bob, on("side", "t2")), alice)
			same(w, "the working tree", w.isKeptFrom(bob, on("main", "t1")), alice)
			same(w, "main", w.isKeptFrom(bob, on("main", "t2")), "")
			// Of a session in two clones the other's branch stays.
			w.takes(alice, on("next", "t3"))
			w.takes(alice, on("next", "t4"))
			w.takes(alice, on("later", "t3"))
			same(w, "the other clone's", w.isKeptFrom(bob, on("next", "t5")), alice)
			// What was taken on a branch is released on any.
			_, err := w.store.Release(w.ctx, w.space, store.ReleaseStep{Agent: alice, Files: on("", "t1")})
			w.must(err)
			same(w, "side, released", w.isKeptFrom(bob, on("side", "t2")), "")
		}},
		{"a released lease is free at once, and remembered for a day", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.takes(alice, inTree("t1", "a.go", "b.go"))
			for _, want := range []int{1, 0} {
				n, err := w.store.Release(w.ctx, w.space, store.ReleaseStep{Agent: alice, Files: inTree("t1", "a.go")})
				w.must(err)
				same(w, "released", n, want)
			}
			n, err := w.store.Release(w.ctx, w.space, store.ReleaseStep{Agent: bob, Files: inTree("t1", "b.go")})
			w.must(err)
			same(w, "another's", n, 0)
			same(w, "b.go", w.isKeptFrom(bob, inTree("t1", "b.go")), alice)
			same(w, "a.go", w.isKeptFrom(bob, inTree("t2", "a.go")), "")
			_, err = w.store.Release(w.ctx, w.space, store.ReleaseStep{Agent: alice, Files: inTree("t1", "b.go")})
			w.must(err)
			for _, left := range []int{3, 0} {
				w.sweeps(store.LeaseMemory / 2)
				same(w, "remembered", len(w.leases()), left)
			}
		}},
		{"the end of a session frees its leases at once, and the next session of the name does not have them", nil, func(w *testStore) {
			w.enter(bob)
			ends := map[string]func(run string){
				"unregistered": func(run string) { _, err := w.store.Unregister(w.ctx, w.space, alice, run, ""); w.must(err) },
				"died":         func(run string) { _, err := w.store.Die(w.ctx, w.space, alice, run); w.must(err) },
				"superseded": func(string) {
					w.advance(time.Hour) // the run before is not online
					_, err := w.store.Register(w.ctx, w.space, store.RegisterStep{Want: alice, Run: "next", Session: "n"})
					w.must(err)
				},
			}
			for how, end := range ends {
				run := "run " + how
				w.advance(time.Hour)
				_, err := w.store.Register(w.ctx, w.space, store.RegisterStep{Want: alice, Run: run, Session: "s", Explicit: true})
				w.must(err)
				files := inTree("t1", how)
				w.lease(alice, run, files)
				same(w, how+" not yet", w.isKeptFrom(bob, files), alice)
				end(run)
				_, err = w.store.Lease(w.ctx, w.space, store.LeaseStep{Agent: alice, Run: run, Files: files})
				if err == nil {
					w.Fatalf("%s: an ended session takes a lease", how)
				}
				same(w, how, w.isKeptFrom(bob, files), "")
			}
		}},
		{"a holder that shows no work loses its leases to who asks, and keeps those nobody asked for", nil, func(w *testStore) {
			w.enter(alice, bob)
			number := w.takes(alice, inTree("t1", "a.go", "b.go"))
			w.advance(w.limits.LeaseIdle - time.Second)
			w.lease(alice, "", inTree("t1")) // it works on something else
			w.advance(w.limits.LeaseIdle - time.Second)
			same(w, "in time", w.isKeptFrom(bob, inTree("t1", "b.go")), alice)
			w.advance(time.Second)
			same(w, "too late", w.isKeptFrom(bob, inTree("t1", "b.go")), "")
			same(w, "a.go", w.takes(alice, inTree("t1", "a.go")), number)
			same(w, "b.go", w.isKeptFrom(alice, inTree("t1", "b.go")), bob)
		}},
		{"leases that are handed over move to the next agent with higher numbers, and the first is kept from them", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			number := w.takes(alice, inTree("t1", "a.go", "b.go"))
			hands := func(from, to c3po.AgentID, leases []c3po.Lease) int {
				n, err := w.store.HandLeases(w.ctx, w.space, store.HandStep{Agent: from, To: to, Leases: leases})
				w.must(err)
				return n
			}
			only := w.leases()[1:]
			same(w, "path", only[0].Path, "a.go")
			same(w, "another's", hands(carol, bob, only), 0)
			same(w, "handed", hands(alice, bob, only), 1)
			same(w, "twice", hands(alice, bob, only), 0)
			same(w, "the first", w.isKeptFrom(alice, inTree("t1", "a.go")), bob)
			same(w, "a third", w.isKeptFrom(carol, inTree("t3", "a.go")), bob)
			same(w, "what was not handed over", w.isKeptFrom(carol, inTree("t3", "b.go")), alice)
			if next := w.takes(bob, inTree("t2", "a.go")); next <= number {
				w.Fatalf("lease %d was given after %d", next, number)
			}
			// Without a branch the working tree goes.
			detached := c3po.LeaseFiles{Repository: "r", Tree: "t1", Paths: []string{"c.go"}}
			w.takes(alice, detached)
			same(w, "without a branch", hands(alice, bob, w.leases()[:1]), 1)
			same(w, "without a branch, the first", w.isKeptFrom(alice, detached), bob)
			// Who does not edit it keeps nobody from it for long, though it works.
			w.advance(w.limits.LeaseIdle - time.Second)
			w.lease(bob, "", inTree("t2", "a.go"))
			same(w, "in time", w.isKeptFrom(carol, detached), bob)
			w.advance(time.Second)
			same(w, "too late", w.isKeptFrom(carol, detached), "")
			same(w, "what it edits", w.isKeptFrom(carol, inTree("t3", "a.go")), bob)
			// To nobody's session they are free.
			_, err := w.store.Unregister(w.ctx, w.space, alice, "", "")
			w.must(err)
			same(w, "to one that has left", hands(bob, alice, w.leases()), 1)
			same(w, "free", w.isKeptFrom(carol, inTree("t3", "a.go")), "")
		}},
		{"a holder that is offline for long loses all its leases, and not before", nil, func(w *testStore) {
			w.enter(alice, bob)
			lapses := func(agent c3po.AgentID) bool {
				lapsed, err := w.store.LapseLeases(w.ctx, w.space, agent)
				w.must(err)
				return lapsed
			}
			w.takes(alice, inTree("t1", "a.go"))
			w.attach(alice, "node")
			w.advance(w.limits.LeaseOffline - time.Second)
			w.must(w.store.RenewLease(w.ctx, w.space, "node"))
			w.advance(2 * time.Second)
			same(w, "it holds a connection", lapses(alice), false)
			w.must(w.store.EndLease(w.ctx, w.space, "node"))
			w.advance(w.limits.LeaseOffline - time.Second)
			same(w, "not long enough", lapses(alice), false)
			w.advance(time.Second)
			same(w, "long enough", lapses(alice), true)
			same(w, "once", lapses(alice), false)
			same(w, "one that holds nothing", lapses(bob), false)
			same(w, "one that is not there", lapses("nobody"), false)
			same(w, "a.go", w.isKeptFrom(bob, inTree("t1", "a.go")), "")
		}},
		{"a lease that a person breaks is free, and its holder's others are not", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.takes(alice, inTree("t1", "a.go", "b.go"))
			lease := w.leases()[1]
			same(w, "path", lease.Path, "a.go")
			for _, want := range []bool{true, false} {
				broken, err := w.store.BreakLease(w.ctx, w.space, lease)
				w.must(err)
				same(w, "broken", broken, want)
			}
			same(w, "a.go", w.isKeptFrom(bob, inTree("t2", "a.go")), "")
			same(w, "b.go", w.isKeptFrom(bob, inTree("t2", "b.go")), alice)
		}},
		{"a renamed agent keeps its leases", nil, func(w *testStore) {
			w.enter(alice, bob)
			number := w.takes(alice, inTree("t1", "a.go"))
			w.must(w.store.Rename(w.ctx, w.space, alice, carol, ""))
			same(w, "holder", w.isKeptFrom(bob, inTree("t1", "a.go")), carol)
			same(w, "number", w.takes(carol, inTree("t1", "a.go")), number)
		}},
		{"one session holds so many leases and no more", nil, func(w *testStore) {
			w.enter(alice)
			var paths []string
			for i := range c3po.MaxAgentLeases {
				paths = append(paths, fmt.Sprint("f", i))
			}
			w.takes(alice, inTree("t1", paths...))
			w.takes(alice, inTree("t1", paths[0]))
			_, err := w.store.Lease(w.ctx, w.space, store.LeaseStep{Agent: alice, Files: inTree("t1", "one more")})
			w.refused(err, c3po.StoreFull)
			_, err = w.store.Release(w.ctx, w.space, store.ReleaseStep{Agent: alice, Files: inTree("t1", paths[0])})
			w.must(err)
			w.takes(alice, inTree("t1", "one more"))
		}},
		{"a lease in one space is nothing in another", nil, func(w *testStore) {
			w.enter(alice)
			w.takes(alice, inTree("t1", "a.go"))
			leases, err := w.store.Leases(w.ctx, w.other)
			w.must(err)
			same(w, "another space", len(leases), 0)
		}},
	}
}
