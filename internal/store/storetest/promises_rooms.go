package storetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

const lobby c3po.RoomName = "lobby"

func (w *testStore) joinRoom(name c3po.RoomName, ids ...c3po.AgentID) store.Joined {
	w.Helper()
	var joined store.Joined
	for _, id := range ids {
		var err error
		joined, err = w.store.Join(w.ctx, w.space, store.JoinStep{Room: name, Agent: id, Visibility: c3po.Public})
		w.must(err)
	}
	return joined
}

// saying is an ordinary post.
func saying(from c3po.AgentID, name c3po.RoomName, text string) store.PostStep {
	step := store.PostStep{
		Draft: store.Draft{
			From: from, To: name.Address(), Room: name, Kind: c3po.KindPost, Priority: c3po.Normal, Text: text, Key: text,
		},
		Durability: c3po.OnDisk,
	}
	if name == c3po.Everybody {
		step.Kind = c3po.KindBroadcast
	}
	return step
}

func (w *testStore) post(step store.PostStep) store.Post {
	w.Helper()
	posted, err := w.store.Post(w.ctx, w.space, step)
	w.must(err)
	return posted.Post
}

func (w *testStore) say(from c3po.AgentID, name c3po.RoomName, text string) c3po.MessageID {
	w.Helper()
	return w.post(saying(from, name, text)).Message.ID
}

func (w *testStore) roomMail(owner c3po.AgentID, q store.RoomQuery) store.RoomMail {
	w.Helper()
	if q.Bytes == 0 {
		q.Limit, q.Bytes = max(q.Limit, 1), 1<<20
	}
	mail, err := w.store.RoomMail(w.ctx, w.space, owner, q)
	w.must(err)
	return mail
}

// hears is all an agent would read in its rooms, and how much that is said to be.
func (w *testStore) hears(owner c3po.AgentID) ([]string, int) {
	w.Helper()
	mail := w.roomMail(owner, store.RoomQuery{Limit: 1000})
	return postTexts(mail.Posts), mail.Unread()
}

func postTexts(posts []store.Post) []string {
	var out []string
	for _, p := range posts {
		out = append(out, p.Message.Text())
	}
	return out
}

func (w *testStore) ackPosts(owner c3po.AgentID, ids ...c3po.MessageID) []store.AckOutcome {
	w.Helper()
	outcomes, err := w.store.AckPosts(w.ctx, w.space, owner, "", ids)
	w.must(err)
	return outcomes
}

func (w *testStore) expectHears(owner c3po.AgentID, want ...string) {
	w.Helper()
	got, unread := w.hears(owner)
	same(w, fmt.Sprintf("what %s hears", owner), got, want)
	same(w, fmt.Sprintf("the count of %s", owner), unread, len(want))
}

// secretRoom makes a room for invited agents.
func (w *testStore) secretRoom(maker c3po.AgentID) error {
	w.Helper()
	_, err := w.store.Join(w.ctx, w.space, store.JoinStep{Room: lobby, Agent: maker, Visibility: c3po.InviteOnly})
	return err
}

func (w *testStore) invite(by, guest c3po.AgentID) {
	w.Helper()
	invitation, err := w.store.Invite(w.ctx, w.space, lobby, by, "", false, guest)
	w.must(err)
	same(w, "invited", invitation.Outcome, store.InviteDone)
}

func roomPromises() []promise {
	return []promise{
		{"a post is read once by each member, in one order, and not by who said it", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			w.joinRoom(lobby, alice, bob, carol)
			w.say(alice, lobby, "one")
			w.say(bob, lobby, "two")
			w.say(alice, lobby, "three")
			w.expectHears(carol, "one", "two", "three")
			w.expectHears(alice, "two")
			w.expectHears(bob, "one", "three")
			same(w, "the books", w.books().Sent, int64(0))
		}},
		{"an ack moves the cursor of one member, over all before it, and never back", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			w.joinRoom(lobby, alice, bob, carol)
			one, two, three := w.say(alice, lobby, "one"), w.say(bob, lobby, "two"), w.say(alice, lobby, "three")
			same(w, "outcomes", w.ackPosts(carol, two, one, "alice::#lobby::00000000"), []store.AckOutcome{store.AckDone, store.AckAlready, store.AckUnknown})
			w.expectHears(carol, "three")
			w.expectHears(alice, "two")
			same(w, "own posts in between", w.ackPosts(alice, three), []store.AckOutcome{store.AckDone})
			w.expectHears(alice)
			same(w, "a stranger", w.ackPosts(c3po.AgentID("dave"), one), []store.AckOutcome{store.AckUnknown})
		}},
		{"who joins late starts at the end, and finds the rest in the history", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.joinRoom(lobby, alice)
			for i := range 5 {
				w.say(alice, lobby, fmt.Sprint(i))
			}
			w.joinRoom(lobby, bob)
			w.expectHears(bob)
			posts, more, err := w.store.History(w.ctx, w.space, lobby, 0, 2, 1<<20)
			w.must(err)
			same(w, "last page", postTexts(posts), []string{"3", "4"})
			same(w, "more", more, true)
			posts, more, err = w.store.History(w.ctx, w.space, lobby, posts[0].Message.Seq, 10, 1<<20)
			w.must(err)
			same(w, "page before", postTexts(posts), []string{"0", "1", "2"})
			same(w, "more", more, false)
		}},
		{"joining again changes nothing: the cursor stays", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.joinRoom(lobby, alice, bob)
			w.say(alice, lobby, "hi")
			w.unchanged(func() { same(w, "already", w.joinRoom(lobby, bob).Already, true) })
			w.register(bob, "another run")
			same(w, "already", w.joinRoom(lobby, bob).Already, true)
			w.expectHears(bob, "hi")
			same(w, "rooms of the record", w.record(bob).Rooms, []c3po.RoomName{lobby})
		}},
		{"who has left a room has no place in it", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.joinRoom(lobby, alice, bob)
			w.say(alice, lobby, "before")
			_, err := w.store.Leave(w.ctx, w.space, lobby, bob, "")
			w.must(err)
			w.say(alice, lobby, "after")
			mail, err := w.store.RoomMail(w.ctx, w.space, bob, store.RoomQuery{Reader: "s1", Limit: 10, Bytes: 1 << 20})
			w.must(err)
			same(w, "rooms", mail.Rooms, nil)
			same(w, "posts", len(mail.Posts), 0)
			w.joinRoom(lobby, bob)
			w.expectHears(bob)
		}},
		{"what the maker of a room may do, and an invitation, end with a retirement", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			w.must(w.secretRoom(alice))
			w.invite(alice, bob)
			w.joinRoom(lobby, bob)
			w.invite(bob, carol)
			_, err := w.store.Leave(w.ctx, w.space, lobby, alice, "")
			w.must(err)
			w.live(time.Hour)
			for _, id := range []c3po.AgentID{alice, carol} {
				same(w, "retired", w.retire(id, time.Minute, false), store.RetireDone)
				w.enter(id) // somebody else, as far as anybody knows
				_, err = w.store.Join(w.ctx, w.space, store.JoinStep{Room: lobby, Agent: id, Visibility: c3po.Public})
				w.refused(err, c3po.InvalidRequest)
			}
			w.invite(bob, carol)
			w.joinRoom(lobby, carol)
		}},
		{"a room for invited agents does not exist for others", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			_, err := w.store.Join(w.ctx, w.space, store.JoinStep{Room: lobby, Agent: alice, Visibility: c3po.InviteOnly})
			w.must(err)
			_, err = w.store.Join(w.ctx, w.space, store.JoinStep{Room: lobby, Agent: bob, Visibility: c3po.Public})
			w.refused(err, c3po.InvalidRequest)
			_, err = w.store.Post(w.ctx, w.space, saying(bob, lobby, "x"))
			w.refused(err, c3po.InvalidRequest)
			_, err = w.store.Invite(w.ctx, w.space, lobby, bob, "", false, carol)
			w.refused(err, c3po.InvalidRequest)
			w.refused(w.store.SetVisibility(w.ctx, w.space, lobby, bob, "", false, c3po.Public), c3po.InvalidRequest)
			invite := func() store.Invitation {
				made, err := w.store.Invite(w.ctx, w.space, lobby, alice, "", false, bob)
				w.must(err)
				return made
			}
			first := invite()
			same(w, "invited", first.Outcome, store.InviteDone)
			same(w, "invited before", invite(), store.Invitation{Outcome: store.InviteAlready, At: first.At})
			w.joinRoom(lobby, bob)
			same(w, "a member", invite(), store.Invitation{Outcome: store.InviteMember})
			_, err = w.store.Leave(w.ctx, w.space, lobby, bob, "")
			w.must(err)
			second := invite()
			same(w, "invited anew", second.Outcome, store.InviteDone)
			same(w, "and not as before", second.At > first.At, true)
			w.joinRoom(lobby, bob)
			w.refused(w.store.SetVisibility(w.ctx, w.space, lobby, bob, "", false, c3po.Public), c3po.Forbidden)
			w.must(w.store.SetVisibility(w.ctx, w.space, lobby, alice, "", false, c3po.Public))
			w.joinRoom(lobby, carol)
			// The log of events names no room that is not public.
			w.must(w.store.SetVisibility(w.ctx, w.space, lobby, alice, "", false, c3po.InviteOnly))
			w.say(alice, lobby, "secret")
			events := w.events(0)
			same(w, "id in the event", events[len(events)-1].ID, c3po.MessageID(""))
		}},
		{"of mentioned members those have the post as mail for whom the space has room", func(l *c3po.Limits) {
			step := saying(alice, lobby, "@bob @carol look")
			step.Mentions = []c3po.AgentID{bob, carol}
			l.SpaceBytes = 2*step.MailBytes() - 1
		}, func(w *testStore) {
			w.enter(alice, bob, carol)
			w.joinRoom(lobby, alice, bob, carol)
			step := saying(alice, lobby, "@bob @carol look")
			step.Mentions = []c3po.AgentID{bob, carol}
			same(w, "mailed", w.post(step).Mailed, []c3po.AgentID{bob})
			w.expectHears(carol, "@bob @carol look")
			same(w, "inboxes", [][]string{w.inbox(bob), w.inbox(carol)}, [][]string{{"@bob @carol look"}, nil})
		}},
		{"a member that is mentioned has the post as mail, and not twice", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			w.joinRoom(lobby, alice, bob)
			step := saying(alice, lobby, "@bob @carol look")
			step.Mentions = []c3po.AgentID{bob, carol, alice}
			same(w, "mailed", w.post(step).Mailed, []c3po.AgentID{bob})
			w.expectHears(bob)
			same(w, "inbox", w.inbox(bob), []string{"@bob @carol look"})
			entry := w.page(bob, store.InboxQuery{}).Entries[0]
			same(w, "room", entry.Message.Room, lobby)
			same(w, "expects a reply", entry.Message.ExpectsReply, true)
			same(w, "of a stranger", w.inbox(carol), nil)
			same(w, "pending", w.books().Pending, int64(1))
			again, err := w.store.Post(w.ctx, w.space, step)
			w.must(err)
			same(w, "repeat", again.Repeat, true)
			same(w, "inbox after a repeat", w.inbox(bob), []string{"@bob @carol look"})
		}},
		{"a post with the same key is the same post, and counts as one send", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.joinRoom(lobby, alice, bob)
			step := saying(alice, lobby, "hi")
			step.RateLimit = 2
			first := w.post(step)
			again, err := w.store.Post(w.ctx, w.space, step)
			w.must(err)
			same(w, "repeat", again.Repeat, true)
			same(w, "id", again.Post.Message.ID, first.Message.ID)
			other := step
			other.Text = "other"
			_, err = w.store.Post(w.ctx, w.space, other)
			w.refused(err, c3po.KeyConflict)
			cast := saying(alice, c3po.Everybody, "all")
			cast.RateLimit = 2
			w.post(cast)
			letter := letter(alice, bob, "mail")
			letter.RateLimit = 2
			_, err = w.store.Send(w.ctx, w.space, letter)
			w.refused(err, c3po.RateLimited)
			w.expectHears(bob, "hi", "all")
		}},
		{"a room keeps so many posts, and the count never says more", func(l *c3po.Limits) { l.RoomPosts = 3 }, func(w *testStore) {
			w.enter(alice, bob)
			w.joinRoom(lobby, alice, bob)
			w.say(bob, lobby, "mine")
			for i := range 5 {
				w.say(alice, lobby, fmt.Sprint(i))
			}
			w.expectHears(bob, "2", "3", "4")
		}},
		{"a room keeps so many bytes", func(l *c3po.Limits) { l.RoomBytes = 3500 }, func(w *testStore) {
			w.enter(alice, bob)
			w.joinRoom(lobby, alice, bob)
			for i := range 5 {
				w.say(alice, lobby, fmt.Sprint(i)+strings.Repeat("x", 799))
			}
			_, unread := w.hears(bob)
			same(w, "kept", unread, 3)
		}},
		{"a broadcast is for those it is for, who were registered, while it lives", nil, func(w *testStore) {
			w.enter(alice, bob)
			_, err := w.store.Register(w.ctx, w.space, store.RegisterStep{Want: carol, Explicit: true, Profile: store.Profile{Capabilities: []string{"go"}}})
			w.must(err)
			w.say(alice, c3po.Everybody, "hello")
			step := saying(alice, c3po.Everybody, "gophers")
			step.Audience = c3po.Audience{Capability: "go"}
			w.post(step)
			w.enter("dave")
			got, _ := w.hears(bob)
			same(w, "without the capability", got, []string{"hello"})
			got, _ = w.hears(carol)
			same(w, "with it", got, []string{"hello", "gophers"})
			w.expectHears("dave")
			w.expectHears(alice)
			same(w, "there is something", w.page(bob, store.InboxQuery{}).Rooms, true)
			same(w, "there is nothing", w.page("dave", store.InboxQuery{}).Rooms, false)
			for range 13 {
				w.live(time.Hour) // each is two ticks
			}
			w.live(12 * time.Hour)
			got, _ = w.hears(carol)
			same(w, "after its life", got, nil)
		}},
		{"a reader is not given again what it was given, unless that never came", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.joinRoom(lobby, alice, bob)
			one, two := w.post(saying(alice, lobby, "one")), w.post(saying(alice, lobby, "two"))
			first := store.RoomQuery{Reader: "s1", Limit: 1, SkipGiven: true}
			same(w, "first", postTexts(w.roomMail(bob, first).Posts), []string{"one"})
			same(w, "left out", w.roomMail(bob, first).Next, two.Message.Seq)
			w.must(w.store.WriteNotes(w.ctx, w.space, store.Notes{ServedPosts: []store.PostServedNote{
				{ID: one.Message.ID, Seq: one.Message.Seq, Agent: bob, Reader: "s1", Cursor: one.Message.Seq, At: w.now()},
			}}))
			same(w, "then", postTexts(w.roomMail(bob, first).Posts), []string{"two"})
			same(w, "another reader", postTexts(w.roomMail(bob, store.RoomQuery{Reader: "s2", Limit: 1, SkipGiven: true}).Posts), []string{"one"})
			behind := first
			behind.Positioned, behind.After = true, one.Message.Seq-1
			same(w, "who did not get it", postTexts(w.roomMail(bob, behind).Posts), []string{"one"})
			behind.After = one.Message.Seq
			same(w, "who did", postTexts(w.roomMail(bob, behind).Posts), []string{"two"})
			given := first
			given.Given = []c3po.MessageID{two.Message.ID}
			same(w, "this node gave it", len(w.roomMail(bob, given).Posts), 0)
			same(w, "all of it is still there", postTexts(w.roomMail(bob, store.RoomQuery{Reader: "s1", Limit: 9}).Posts), []string{"one", "two"})
			same(w, "marked", w.roomMail(bob, store.RoomQuery{Reader: "s1", Limit: 9}).Posts[0].GivenBefore, true)
		}},
		{"posts of several rooms come in the order they were said", nil, func(w *testStore) {
			w.enter(alice, bob)
			var want []string
			for i := range 30 {
				name := c3po.RoomName(fmt.Sprintf("room-%d", i%3))
				w.joinRoom(name, alice, bob)
				want = append(want, fmt.Sprint(i))
				w.say(alice, name, want[i])
			}
			w.expectHears(bob, want...)
			mail := w.roomMail(bob, store.RoomQuery{Limit: 10})
			same(w, "a page", postTexts(mail.Posts), want[:10])
			rest := w.roomMail(bob, store.RoomQuery{Limit: 100, After: mail.Next - 1})
			same(w, "the rest", postTexts(rest.Posts), want[10:])
			same(w, "by name", slices.IsSortedFunc(mail.Rooms, func(a, b store.RoomUnread) int { return strings.Compare(string(a.Room), string(b.Room)) }), true)
		}},
		{"an agent that is in rooms is not retired before it has left them", nil, func(w *testStore) {
			w.enter(alice, bob)
			w.joinRoom(lobby, alice, bob)
			_, err := w.store.Unregister(w.ctx, w.space, bob, "", "")
			w.must(err)
			outcome, err := w.store.Retire(w.ctx, w.space, bob, 0, false)
			w.must(err)
			same(w, "in a room", outcome, store.RetireRooms)
			_, err = w.store.Leave(w.ctx, w.space, lobby, bob, "")
			w.must(err)
			outcome, err = w.store.Retire(w.ctx, w.space, bob, 0, false)
			w.must(err)
			same(w, "in none", outcome, store.RetireDone)
		}},
		{"rooms are bounded, for a space and for an agent", func(l *c3po.Limits) { l.Rooms, l.AgentRooms = 3, 2 }, func(w *testStore) {
			w.enter(alice, bob)
			w.joinRoom("r1", alice)
			w.joinRoom("r2", alice)
			_, err := w.store.Join(w.ctx, w.space, store.JoinStep{Room: "r3", Agent: alice})
			w.refused(err, c3po.InvalidRequest)
			w.joinRoom("r3", bob)
			_, err = w.store.Join(w.ctx, w.space, store.JoinStep{Room: "r4", Agent: bob})
			w.refused(err, c3po.InvalidRequest)
			w.joinRoom("r1", bob)
		}},
	}
}
