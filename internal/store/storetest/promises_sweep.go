package storetest

import (
	"fmt"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// sweeps lets lived time pass and sweeps up after it.
func (w *testStore) sweeps(d time.Duration) {
	w.Helper()
	w.live(d)
	w.idle()
}

func sweepPromises() []promise {
	return []promise{
		{"a former name is forgotten when no mail can have it in its id", nil, func(w *testStore) {
			w.register(alice, "run")
			w.must(w.store.Rename(w.ctx, w.space, alice, "anna", "run"))
			known := func() c3po.AgentID {
				to, _, err := w.store.Renamed(w.ctx, w.space, alice)
				w.must(err)
				return to
			}
			l := w.limits
			w.sweeps(l.NameLife + 2*(l.MessageLife+l.DeadLife) - time.Minute)
			same(w, "while it is of use", known(), "anna")
			w.sweeps(time.Minute)
			same(w, "later", known(), "")
		}},
		{"a role is forgotten with its last member and its last mail", nil, func(w *testStore) {
			queues := func() []c3po.AgentID {
				queues, err := w.store.Queues(w.ctx, w.space)
				w.must(err)
				return queues
			}
			_, err := w.store.Register(w.ctx, w.space, store.RegisterStep{Want: bob, Explicit: true, Profile: store.Profile{Capabilities: []string{"go", "lua"}}})
			w.must(err)
			w.enter(alice)
			step := letter(alice, "role/go", "review this")
			step.Queue = true
			task := w.sendStep(step).Message.ID
			_, err = w.store.Register(w.ctx, w.space, store.RegisterStep{Want: bob, Explicit: true, Profile: store.Profile{Capabilities: []string{}}})
			w.must(err)
			w.sweeps(time.Minute)
			same(w, "with mail", queues(), []c3po.AgentID{"role/go"})
			w.bury(task)
			w.sweeps(time.Minute)
			same(w, "with a dead letter", queues(), []c3po.AgentID{"role/go"})
			w.sweeps(w.limits.DeadLife)
			w.sweeps(time.Minute)
			same(w, "with nothing", queues(), nil)
		}},
		{"a paused chain is forgotten long after, with the last of its messages", budgets(func(l *c3po.Limits) { l.ChainMessages = 1 }), func(w *testStore) {
			w.enter(alice, bob)
			first := inThread(alice, bob, "circle", "first")
			first.Mailbox = true // it does not expire
			id := w.sendStep(first).Message.ID
			same(w, "paused", w.spentBy(inThread(alice, bob, "circle", "second")).Whose, store.SpentChain)
			w.sweeps(w.limits.DeadLife)
			same(w, "while its message is there", w.spentBy(inThread(alice, bob, "circle", "third")).Whose, store.SpentChain)
			w.ack(bob, id)
			w.sweeps(w.limits.EndedLife)
			w.sweeps(time.Minute)
			same(w, "afterwards", w.spentBy(inThread(alice, bob, "circle", "fourth")), nil)
		}},
		{"of an agent's readers in a room those that read last are kept", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.joinRoom(lobby, alice, bob)
			post := w.post(saying(alice, lobby, "hello"))
			for i := range store.MaxRoomReaders + 1 {
				w.advance(time.Second)
				w.must(w.store.WriteNotes(w.ctx, w.space, store.Notes{ServedPosts: []store.PostServedNote{
					{ID: post.Message.ID, Seq: post.Message.Seq, Agent: bob, Reader: fmt.Sprint("session ", i), At: w.now()},
				}}))
			}
			unread := func(reader string) int {
				return len(w.roomMail(bob, store.RoomQuery{Reader: reader, SkipGiven: true}).Posts)
			}
			same(w, "the first", unread("session 0"), 1)
			for i := range store.MaxRoomReaders {
				same(w, "a later one", unread(fmt.Sprint("session ", i+1)), 0)
			}
		}},
	}
}
