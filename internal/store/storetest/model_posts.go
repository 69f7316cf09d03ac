package storetest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// Post implements store.Store.
func (m *Model) Post(_ context.Context, name c3po.Space, step store.PostStep) (store.Posted, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	posted, err := m.space(name).post(step, m.now())
	return posted, store.NothingStored(step.Key, err)
}

func (sp *space) post(step store.PostStep, now time.Time) (store.Posted, error) {
	r := sp.theRoom(step.Room)
	cast := step.Room == c3po.Everybody
	if cast {
		r = sp.everybody()
	}
	key, first, err := sp.saidBefore(step, now)
	if err != nil {
		return store.Posted{}, err
	}
	if first != nil {
		return sp.postAgain(r, step, first, now), nil
	}
	if sp.superseded(step.From, step.Run) {
		return store.Posted{}, store.RefuseSuperseded(step.From)
	}
	if step.Barred != nil {
		return store.Posted{}, step.Barred
	}
	if sp.halted(step.From) {
		return store.Posted{}, store.RefuseHalted(sp.paused)
	}
	if r == nil {
		return store.Posted{}, store.RefuseNoRoom(step.Room)
	}
	if _, member := r.members[step.From]; !cast && !member && !step.Outside {
		return store.Posted{}, r.closedTo(step.Room)
	}
	sent, err := sp.rate(store.SendStep{Draft: step.Draft, RateLimit: step.RateLimit}, now)
	if err != nil {
		return store.Posted{}, err
	}

	var mailed []c3po.AgentID
	for _, id := range step.Mentions {
		mail := step.Mail(id)
		if _, member := r.members[id]; member && id != step.From && sp.agents[id] != nil && sp.agents[id].notifies(step.Room) != c3po.NotifyNone && sp.roomFor(mail, step.MailBytes(), true) == nil &&
			!sp.crowded(step.From, id, (len(mailed)+1)*step.MailBytes()) {
			mailed = append(mailed, id)
		}
	}
	paused := sp.ownPause(step.From)
	p := sp.say(r, step, mailed, now)
	sp.keys[key] = &keyRecord{fingerprint: step.Fingerprint(), id: p.Message.ID, at: now, bornAt: sp.books.Lived, seq: p.Message.Seq}
	if step.RateLimit > 0 {
		sp.sends[step.From] = append(sent, now)
	}
	for _, id := range mailed {
		msg := sp.acceptFor(id, step.Mail(id), step.MailBytes(), c3po.EventAccepted, "", step.Durability, now)
		msg.facts.Expires = sp.books.Lived + seconds(sp.limits.MessageLife)
	}
	posted := store.Posted{Post: p, Members: len(r.members), Now: now, SenderPaused: paused}
	if step.RateLimit > 0 {
		posted.Sent = len(sent) + 1
	}
	return posted, nil
}

// saidBefore is repeated for posts, which are never done with.
func (sp *space) saidBefore(step store.PostStep, now time.Time) (keyName, *keyRecord, error) {
	fingerprint := step.Fingerprint()
	key := keyName{step.From, "h:" + fingerprint}
	if step.Key != "" {
		key.name = "k:" + step.Key
	}
	for _, first := range sp.recalled(key) {
		switch {
		case step.Key != "" && first.fingerprint != fingerprint:
			return key, nil, store.RefuseKeyConflict(step.Key)
		case step.Key != "" || now.Sub(first.at) < sp.limits.RepeatWindow:
			return key, first, nil
		}
	}
	return key, nil, nil
}

func (sp *space) postAgain(r *room, step store.PostStep, first *keyRecord, now time.Time) store.Posted {
	out := store.Posted{Repeat: true, Now: now}
	if r != nil {
		out.Members = len(r.members)
		for _, p := range r.posts {
			if p.Message.ID == first.id {
				out.Post = p
				return out
			}
		}
	}
	from, _, _ := first.id.Split()
	out.Post.Message = c3po.Message{
		ID: first.id, FromAgent: from, ToAgent: step.Room.Address(), Room: step.Room, Timestamp: first.at, Seq: first.seq, BodyGone: true,
	}
	return out
}

// say adds to the log of a room and moves its speaker along, if that has read
// everything before.
func (sp *space) say(r *room, step store.PostStep, mailed []c3po.AgentID, now time.Time) store.Post {
	id := c3po.NewMessageID(step.From, step.Room.Address(), store.MessageHex(sp.books.Seq+1))
	shown := id
	if r.visibility == c3po.InviteOnly {
		shown = ""
	}
	sp.event(c3po.EventPosted, step.Room.Address(), shown, now)
	p := store.Post{
		Entry: store.Entry{
			State: c3po.StatePosted,
			Message: c3po.Message{
				ID: id, FromAgent: step.From, ToAgent: step.Room.Address(), Room: step.Room, Kind: step.Kind, Message: step.Text, Context: step.Context,
				Timestamp: now, Thread: string(step.Room.Address()), Priority: c3po.Normal, ContentType: step.ContentType,
				Metadata: slices.Clone(step.Metadata), Seq: sp.books.Seq,
			},
			Facts: store.Facts{Accepted: now, Durability: step.Durability, Bytes: step.Bytes()},
		},
		Mailed: mailed, Audience: step.Audience,
	}
	if step.Room == c3po.Everybody {
		p.Facts.Expires = sp.books.Lived + seconds(sp.limits.MessageLife)
	}
	before := r.last
	r.last = seat{sp.books.Seq, before.ordinal + 1}
	if len(r.members) == 0 && step.Room != c3po.Everybody {
		r.emptied = sp.books.Lived
	}
	r.add(p, sp.limits)
	if a := sp.agents[step.From]; a != nil {
		a.skips[skip{step.Room, r.last.ordinal}] = true
		if at, member := a.rooms[step.Room]; member && at.ordinal == before.ordinal {
			a.rooms[step.Room] = r.last
		} else if step.Room == c3po.Everybody && a.cast.ordinal == before.ordinal {
			a.cast = r.last
		}
	}
	for _, id := range mailed {
		sp.agents[id].skips[skip{step.Room, r.last.ordinal}] = true
	}
	return p
}

// add keeps the log to its limits, though one post pushes out only so many.
func (r *room) add(p store.Post, limits c3po.Limits) {
	size := p.Facts.Bytes
	for _, old := range r.posts {
		size += old.Facts.Bytes
	}
	drop := 0
	for drop < min(maxDropped, len(r.posts)) && (len(r.posts)-drop+1 > limits.RoomPosts || size > limits.RoomBytes) {
		size -= r.posts[drop].Facts.Bytes
		drop++
	}
	r.posts = append(slices.Clone(r.posts[drop:]), p)
}

// AckPosts implements store.Store.
func (m *Model) AckPosts(_ context.Context, name c3po.Space, owner c3po.AgentID, run string, ids []c3po.MessageID) ([]store.AckOutcome, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	if sp.superseded(owner, run) {
		return nil, store.RefuseSuperseded(owner)
	}
	outcomes := make([]store.AckOutcome, len(ids))
	for i, id := range ids {
		outcomes[i] = sp.ackPost(owner, id)
	}
	return outcomes, nil
}

func (sp *space) ackPost(owner c3po.AgentID, id c3po.MessageID) store.AckOutcome {
	where := id.Room()
	at, member := sp.cursors(owner)[where]
	r := sp.rooms[where]
	if !member || r == nil {
		return store.AckUnknown
	}
	i := slices.IndexFunc(r.posts, func(p store.Post) bool { return p.Message.ID == id })
	if i < 0 {
		return store.AckUnknown
	}
	seq := r.posts[i].Message.Seq
	if seq <= at.seq {
		return store.AckAlready
	}
	now := seat{seq, r.last.ordinal - len(r.posts) + 1 + i}
	if where == c3po.Everybody {
		sp.agents[owner].cast = now
	} else {
		sp.agents[owner].rooms[where] = now
	}
	for key, note := range sp.servedPosts {
		if key.agent == owner && key.room == where && note.Seq <= seq {
			delete(sp.servedPosts, key)
		}
	}
	return store.AckDone
}

// noteServedPost keeps how far a reader has come, of members only.
func (sp *space) noteServedPost(note store.PostServedNote) {
	where := note.ID.Room()
	a := sp.agents[note.Agent]
	if where != c3po.Everybody {
		if a == nil {
			return
		}
		if _, member := a.rooms[where]; !member {
			return
		}
	}
	key := servedPostKey{note.Agent, where, note.Reader}
	before, known := sp.servedPosts[key]
	if !known || note.Seq > before.Seq {
		sp.servedPosts[key] = note
	}
	if known {
		return
	}
	// Those that read last are kept.
	var readers []servedPostKey
	for other := range sp.servedPosts {
		if other.agent == note.Agent && other.room == where {
			readers = append(readers, other)
		}
	}
	slices.SortFunc(readers, func(x, y servedPostKey) int {
		return cmp.Or(cmp.Compare(sp.servedPosts[y].At.UnixMilli(), sp.servedPosts[x].At.UnixMilli()), cmp.Compare(x.reader, y.reader))
	})
	for _, reader := range readers[min(len(readers), store.MaxRoomReaders):] {
		delete(sp.servedPosts, reader)
	}
}

// RoomMail implements store.Store.
func (m *Model) RoomMail(_ context.Context, name c3po.Space, owner c3po.AgentID, q store.RoomQuery) (store.RoomMail, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	if sp.superseded(owner, q.Run) {
		return store.RoomMail{}, store.RefuseSuperseded(owner)
	}
	mail := store.RoomMail{Seq: sp.books.Seq, Now: m.now()}
	after := sp.place(q.After)
	var found []store.Post
	for where, at := range sp.cursors(owner) {
		r := sp.rooms[where]
		if r == nil {
			continue
		}
		served := sp.servedPosts[servedPostKey{owner, where, q.Reader}]
		from := max(at.seq, after)
		if q.SkipGiven && (!q.Positioned || served.Cursor <= after) {
			from = max(from, served.Seq)
		}
		unread := 0
		for i, p := range r.posts {
			if p.Message.Seq <= at.seq || sp.agents[owner].skips[skip{where, r.last.ordinal - len(r.posts) + 1 + i}] {
				continue
			}
			unread++
			if q.Hears.Hears(sp.agents[owner].notifies(where)) && p.Message.Seq > from && !slices.Contains(q.Given, p.Message.ID) && sp.isFor(p, owner) {
				p.GivenBefore = p.Message.Seq <= served.Seq
				found = append(found, p)
			}
		}
		if where != c3po.Everybody || unread > 0 {
			mail.Rooms = append(mail.Rooms, store.RoomUnread{Room: where, Unread: unread, Notify: sp.agents[owner].notifies(where)})
		}
	}
	slices.SortFunc(mail.Rooms, func(a, b store.RoomUnread) int {
		return cmp.Or(last(a.Room)-last(b.Room), strings.Compare(string(a.Room), string(b.Room)))
	})
	if q.Limit == 0 {
		return mail, nil
	}
	slices.SortFunc(found, func(a, b store.Post) int { return cmp.Compare(a.Message.Seq, b.Message.Seq) })
	size := 0
	for _, p := range found {
		if len(mail.Posts) == q.Limit || len(mail.Posts) > 0 && size+p.Facts.Bytes > q.Bytes {
			mail.Next = p.Message.Seq
			break
		}
		mail.Posts, size = append(mail.Posts, p), size+p.Facts.Bytes
	}
	return mail, nil
}

// last puts the broadcasts behind the rooms.
func last(name c3po.RoomName) int {
	if name == c3po.Everybody {
		return 1
	}
	return 0
}

// isFor says whether a broadcast is still there, and for this agent.
func (sp *space) isFor(p store.Post, id c3po.AgentID) bool {
	if p.Facts.Expires > 0 && sp.books.Lived >= p.Facts.Expires {
		return false
	}
	is := sp.agents[id].profile
	return p.Audience.Includes(is.Type, cmp.Or(is.Host, id.Host()), is.Capabilities)
}

// History implements store.Store.
func (m *Model) History(_ context.Context, name c3po.Space, where c3po.RoomName, before int64, limit, bytes int) ([]store.Post, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.space(name).rooms[where]
	if r == nil {
		return nil, false, nil
	}
	var found []store.Post
	size := 0
	for _, p := range slices.Backward(r.posts) {
		if before > 0 && p.Message.Seq >= before {
			continue
		}
		if len(found) == limit || len(found) > 0 && size+p.Facts.Bytes > bytes {
			slices.Reverse(found)
			return found, true, nil
		}
		found, size = append(found, p), size+p.Facts.Bytes
	}
	slices.Reverse(found)
	return found, false, nil
}

// OnePost implements store.Store.
func (m *Model) OnePost(_ context.Context, name c3po.Space, id c3po.MessageID) (*store.Post, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.space(name).rooms[id.Room()]; r != nil {
		for _, p := range r.posts {
			if p.Message.ID == id {
				return &p, nil
			}
		}
	}
	return nil, nil
}
