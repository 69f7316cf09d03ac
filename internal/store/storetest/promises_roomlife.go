package storetest

import (
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

func (w *testStore) leave(name c3po.RoomName, id c3po.AgentID) store.LeaveOutcome {
	w.Helper()
	outcome, err := w.store.Leave(w.ctx, w.space, name, id, "")
	w.must(err)
	return outcome
}

func (w *testStore) endRoom(step store.EndRoomStep) store.EndRoomOutcome {
	w.Helper()
	outcome, err := w.store.EndRoom(w.ctx, w.space, step)
	w.must(err)
	return outcome
}

func (w *testStore) roomNames() []c3po.RoomName {
	w.Helper()
	names, _, err := w.store.RoomPage(w.ctx, w.space, 0, 100)
	w.must(err)
	return names
}

// roomLifePromises say how long a room lasts, and whom it wakes.
func roomLifePromises() []promise {
	return []promise{
		{"a room and its history outlast its last member", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.joinRoom(lobby, alice, bob)
			said := w.post(saying(alice, lobby, "hi")).Message
			w.notes(store.Notes{ServedPosts: []store.PostServedNote{{ID: said.ID, Seq: said.Seq, Agent: alice, Reader: "s1", At: w.now()}}})
			same(w, "first", w.leave(lobby, alice), store.LeaveDone)
			same(w, "again", w.leave(lobby, alice), store.LeaveNone)
			same(w, "last", w.leave(lobby, bob), store.LeaveEmpty)
			same(w, "rooms", w.roomNames(), []c3po.RoomName{lobby})
			posts, _, err := w.store.History(w.ctx, w.space, lobby, 0, 10, 1<<20)
			w.must(err)
			same(w, "its history", postTexts(posts), []string{"hi"})
			same(w, "made anew", w.joinRoom(lobby, bob).Made, false)
			w.expectHears(bob)
		}},
		{"a room ends when its maker or a person says so, once nobody is in it", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.joinRoom(lobby, alice, bob)
			w.say(alice, lobby, "hi")
			step := store.EndRoomStep{Room: lobby, By: bob}
			_, err := w.store.EndRoom(w.ctx, w.space, step)
			w.refused(err, c3po.Forbidden)
			step.By = alice
			same(w, "with members", w.endRoom(step), store.EndMembers)
			w.leave(lobby, bob)
			w.leave(lobby, alice)
			same(w, "rooms", w.roomNames(), []c3po.RoomName{lobby})
			same(w, "without", w.endRoom(step), store.EndDone)
			same(w, "rooms", len(w.roomNames()), 0)
			_, err = w.store.EndRoom(w.ctx, w.space, step)
			w.refused(err, c3po.InvalidRequest)
			same(w, "made anew", w.joinRoom(lobby, bob).Made, true)
			w.expectHears(bob)
			w.leave(lobby, bob)
			same(w, "by a person", w.endRoom(store.EndRoomStep{Room: lobby, By: c3po.Human, Outside: true}), store.EndDone)
		}},
		{"a room made again hides nothing from those who were in the one before", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			w.joinRoom(lobby, alice, bob, carol)
			w.say(bob, lobby, "1") // unread, so alice's next post is noted as her own
			w.say(alice, lobby, "2")
			mentioned := saying(bob, lobby, "@carol 3")
			mentioned.Mentions = []c3po.AgentID{carol}
			same(w, "mailed", w.post(mentioned).Mailed, []c3po.AgentID{carol})
			for _, id := range []c3po.AgentID{alice, bob, carol} {
				w.leave(lobby, id)
			}
			same(w, "ended", w.endRoom(store.EndRoomStep{Room: lobby, By: alice}), store.EndDone)
			w.joinRoom(lobby, alice, bob, carol)
			for _, text := range []string{"one", "two", "three"} {
				w.say(bob, lobby, text)
			}
			w.expectHears(alice, "one", "two", "three")
			w.expectHears(carol, "one", "two", "three")
		}},
		{"an invitation ends with its room", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			w.must(w.secretRoom(alice))
			w.invite(alice, carol)
			w.leave(lobby, alice)
			same(w, "ended", w.endRoom(store.EndRoomStep{Room: lobby, By: alice}), store.EndDone)
			w.must(w.secretRoom(bob))
			w.refused(w.secretRoom(carol), c3po.InvalidRequest)
			w.refused(w.secretRoom(alice), c3po.InvalidRequest)
		}},
		{"a room that is empty and silent for long ends by itself, and no other", func(l *c3po.Limits) { l.RoomLife = 3 * time.Hour }, func(w *testStore) {
			w.enter(alice, bob)
			w.joinRoom(lobby, alice)
			w.joinRoom("hall", bob)
			w.joinRoom("attic", bob)
			w.leave(lobby, alice)
			w.leave("attic", bob)
			w.live(2 * time.Hour)
			step := store.EndRoomStep{Room: "attic", Outside: true, Silent: 3 * time.Hour}
			same(w, "too early", w.endRoom(step), store.EndKept)
			said := saying(c3po.Human, "attic", "is anybody here?")
			said.Outside = true
			w.post(said)
			w.live(2 * time.Hour)
			w.trim(100)
			same(w, "rooms", w.roomNames(), []c3po.RoomName{"hall", "attic"})
			w.live(2 * time.Hour)
			w.trim(100)
			same(w, "rooms", w.roomNames(), []c3po.RoomName{"hall"})
		}},
		{"a member chooses what of a room is mail for it, and nobody else does", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			w.joinRoom(lobby, alice, bob, carol)
			choose := func(id c3po.AgentID, n c3po.Notify) store.Joined {
				w.Helper()
				joined, err := w.store.Join(w.ctx, w.space, store.JoinStep{Room: lobby, Agent: id, Notify: n})
				w.must(err)
				return joined
			}
			same(w, "at first", choose(bob, "").Notify, c3po.NotifyMentions)
			same(w, "chosen", choose(bob, c3po.NotifyAll).Notify, c3po.NotifyAll)
			choose(carol, c3po.NotifyNone)
			same(w, "kept", choose(bob, "").Notify, c3po.NotifyAll)
			step := saying(alice, lobby, "@bob @carol hi")
			step.Mentions = []c3po.AgentID{carol}
			same(w, "mail of who wants none", len(w.post(step).Mailed), 0)
			hears := func(id c3po.AgentID, n c3po.Notify) []string {
				w.Helper()
				return postTexts(w.roomMail(id, store.RoomQuery{Limit: 10, Bytes: 1 << 20, Hears: n}).Posts)
			}
			same(w, "who wants all", hears(bob, c3po.NotifyAll), []string{"@bob @carol hi"})
			same(w, "who wants none", hears(carol, c3po.NotifyMentions), nil)
			same(w, "but reads it", hears(carol, ""), []string{"@bob @carol hi"})
			same(w, "with its rooms", w.roomMail(carol, store.RoomQuery{Hears: c3po.NotifyMentions}).Rooms,
				[]store.RoomUnread{{Room: lobby, Unread: 1, Notify: c3po.NotifyNone}})
			w.leave(lobby, bob)
			same(w, "anew", choose(bob, "").Notify, c3po.NotifyMentions)
		}},
	}
}
