package storetest

import (
	"slices"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

func (d *comparison) roomName() c3po.RoomName {
	return draw(d, "room", []c3po.RoomName{"r1", "r1", "r2", "r3"})
}

func (d *comparison) visibility() c3po.Visibility {
	return draw(d, "visibility", []c3po.Visibility{c3po.Public, c3po.Public, c3po.InviteOnly})
}

func (d *comparison) join(a *comparedSpace) {
	in := store.JoinStep{Room: d.roomName(), Agent: draw(d, "agent", append(slices.Clone(a.agents), "nobody")), Visibility: d.visibility(),
		Notify: draw(d, "notify", []c3po.Notify{"", "", c3po.NotifyAll, c3po.NotifyMentions, c3po.NotifyNone})}
	in.Run = d.run(a, in.Agent)
	_, _ = both(d, "join", func(s store.Store) (store.Joined, error) { return s.Join(d.ctx, a.space, in) })
}

func (d *comparison) leave(a *comparedSpace) {
	where, id := d.roomName(), d.agent(a, "agent")
	run := d.run(a, id)
	_, _ = both(d, "leave", func(s store.Store) (store.LeaveOutcome, error) { return s.Leave(d.ctx, a.space, where, id, run) })
	d.compareKeys(a, "a leave")
}

func (d *comparison) endRoom(a *comparedSpace) {
	step := store.EndRoomStep{
		Room: d.roomName(), By: d.agent(a, "by"), Outside: d.oneIn(2, "outside"), Silent: draw(d, "silent", []time.Duration{0, 0, time.Hour}),
	}
	step.Run = d.run(a, step.By)
	_, _ = both(d, "end room", func(s store.Store) (store.EndRoomOutcome, error) { return s.EndRoom(d.ctx, a.space, step) })
	d.compareKeys(a, "the end of a room")
}

func (d *comparison) manageRoom(a *comparedSpace) {
	where, by, outside := d.roomName(), d.agent(a, "by"), d.oneIn(6, "outside")
	if d.oneIn(4, "end") {
		d.endRoom(a)
		return
	}
	run := d.run(a, by)
	if d.oneIn(3, "set") {
		v := d.visibility()
		d.done("set", func(s store.Store) error { return s.SetVisibility(d.ctx, a.space, where, by, run, outside, v) })
		return
	}
	guest := draw(d, "guest", append(slices.Clone(a.agents), "nobody"))
	_, _ = both(d, "invite", func(s store.Store) (store.Invitation, error) {
		return s.Invite(d.ctx, a.space, where, by, run, outside, guest)
	})
}

func (d *comparison) post(a *comparedSpace) {
	from, where, kind := d.agent(a, "from"), d.roomName(), c3po.KindPost
	in := store.PostStep{
		Draft: store.Draft{
			From: from, Priority: c3po.Normal, Text: draw(d, "text", []string{"x", "y", "z", strings.Repeat("w", 600)}),
			Context: draw(d, "context", []string{"", "c"}), Key: draw(d, "key", []string{"", "", "k1", "k6", "k7", "k8"}),
		},
		Run: d.run(a, from), Durability: c3po.OnDisk, RateLimit: draw(d, "rate limit", []int{0, 0, 3}), Outside: d.oneIn(8, "outside"),
	}
	if d.oneIn(4, "broadcast") {
		where, kind = c3po.Everybody, c3po.KindBroadcast
		in.Audience = draw(d, "audience", []c3po.Audience{{}, {Capability: "x"}, {Host: "h"}, {Type: "t"}})
	} else if d.oneIn(3, "mentions") {
		in.Mentions = []c3po.AgentID{d.agent(a, "mentioned")}
		if other := d.agent(a, "mentioned too"); other != in.Mentions[0] {
			in.Mentions = append(in.Mentions, other)
		}
	}
	in.Room, in.To, in.Kind = where, where.Address(), kind
	a.said = append(a.said, in)
	d.postStep(a, in)
}

func (d *comparison) postAgain(a *comparedSpace) {
	if len(a.said) > 0 {
		in := draw(d, "earlier post", latest(a.said))
		in.From, in.Run = d.sender(a, in.From, in.Run)
		d.postStep(a, in)
	}
}

func (d *comparison) postStep(a *comparedSpace, in store.PostStep) {
	posted, err := both(d, "post", func(s store.Store) (store.Posted, error) { return s.Post(d.ctx, a.space, in) }, listed())
	if err == nil && !slices.Contains(a.posts, posted.Post.Message.ID) {
		a.posts = append(a.posts, posted.Post.Message.ID)
	}
	for _, id := range posted.Post.Mailed {
		page, _ := d.model.Inbox(d.ctx, a.space, id, store.InboxQuery{Limit: 100, Bytes: 1 << 20})
		for _, e := range page.Entries {
			if !slices.Contains(a.mail, e.Message.ID) {
				a.mail = append(a.mail, e.Message.ID)
			}
		}
	}
}

// postID is a post, mostly a late one; now and then one that never was.
func (d *comparison) postID(a *comparedSpace) c3po.MessageID {
	if d.oneIn(4, "any post") && len(a.posts) > 0 {
		return draw(d, "post", a.posts)
	}
	return draw(d, "post", append(latest(a.posts), "a::#r1::00000000"))
}

func (d *comparison) ackPosts(a *comparedSpace) {
	owner, ids := d.agent(a, "owner"), []c3po.MessageID{d.postID(a), d.postID(a)}
	run := d.run(a, owner)
	_, _ = both(d, "ack posts", func(s store.Store) ([]store.AckOutcome, error) { return s.AckPosts(d.ctx, a.space, owner, run, ids) })
}

func (d *comparison) hear(a *comparedSpace) {
	id := d.postID(a)
	p, err := d.model.OnePost(d.ctx, a.space, id)
	if err != nil || p == nil {
		return
	}
	note := store.PostServedNote{
		ID: id, Seq: p.Message.Seq, Agent: d.agent(a, "agent"), Reader: d.reader(), Cursor: draw(d, "cursor", []int64{0, a.seq / 2, a.seq}), At: d.model.now(),
	}
	d.done("heard", func(s store.Store) error {
		return s.WriteNotes(d.ctx, a.space, store.Notes{ServedPosts: []store.PostServedNote{note}})
	})
}

func (d *comparison) roomMail(a *comparedSpace) {
	owner := d.agent(a, "owner")
	q := store.RoomQuery{
		Run: d.run(a, owner), Reader: d.reader(), After: draw(d, "after", []int64{0, 0, a.seq / 2}), Limit: draw(d, "limit", []int{0, 1, 3, 100}),
		Bytes: draw(d, "bytes", []int{300, 1 << 20}), SkipGiven: d.oneIn(2, "unheard"), Positioned: d.oneIn(2, "positioned"),
		Given: []c3po.MessageID{d.postID(a)}, Hears: draw(d, "hears", []c3po.Notify{"", "", c3po.NotifyAll, c3po.NotifyMentions}),
	}
	_, _ = both(d, "room mail", func(s store.Store) (store.RoomMail, error) { return s.RoomMail(d.ctx, a.space, owner, q) }, listed())
}

// lookAtRooms compares all that is kept of the rooms of a space.
func (d *comparison) lookAtRooms(a *comparedSpace) {
	type page struct {
		Posts []store.Post
		More  bool
	}
	type list struct {
		Names []c3po.RoomName
		After int64
	}
	names := []c3po.RoomName{"r1", "r2", "r3", "none", c3po.Everybody}
	viewer, limit := d.agent(a, "viewer"), draw(d, "limit", []int{1, 2, 100})
	_, _ = both(d, "rooms", func(s store.Store) ([]store.RoomRecord, error) { return s.Rooms(d.ctx, a.space, viewer, names) }, listed())
	_, _ = both(d, "room page", func(s store.Store) (list, error) {
		found, after, err := s.RoomPage(d.ctx, a.space, 0, limit)
		return list{found, after}, err
	}, listed())
	_, _ = both(d, "rooms of", func(s store.Store) ([]c3po.RoomName, error) { return s.RoomsOf(d.ctx, a.space, viewer) }, listed())
	for _, where := range names {
		_, _ = both(d, "members", func(s store.Store) ([]store.Member, error) { return s.RoomMembers(d.ctx, a.space, where, 0, limit) }, listed())
		before := draw(d, "before", []int64{0, a.seq / 2})
		_, _ = both(d, "history", func(s store.Store) (page, error) {
			posts, more, err := s.History(d.ctx, a.space, where, before, limit, 1<<20)
			return page{posts, more}, err
		}, listed())
	}
	id := d.postID(a)
	_, _ = both(d, "one post", func(s store.Store) (*store.Post, error) { return s.OnePost(d.ctx, a.space, id) }, listed())
}

// roomLimits are met by chance within a sequence.
func roomLimits(l c3po.Limits) c3po.Limits {
	l.Rooms, l.AgentRooms, l.RoomPosts, l.RoomBytes = 2, 2, 4, 1_500
	l.RepeatWindow, l.RoomLife = 30*time.Second, 6*time.Hour
	return l
}
