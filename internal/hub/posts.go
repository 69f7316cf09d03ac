package hub

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// mention is an @id that is not in the middle of a word, as in a mail address.
var mention = regexp.MustCompile(`(?:^|[^A-Za-z0-9_.@/-])@([A-Za-z0-9][A-Za-z0-9_.-]*(?:/[A-Za-z0-9][A-Za-z0-9_.-]*)?)`)

// RoomPost says something in a room. It is stored once; members read it when they look,
// and it wakes only those that asked for every post.
func (a *Actor) RoomPost(ctx context.Context, in c3po.RoomPostInput) (c3po.PostReceipt, error) {
	receipt, err := a.outbox.roomPost(ctx, in)
	if err != nil {
		a.outbox.countRejected(err)
	}
	return receipt, err
}

func (o outbox) roomPost(ctx context.Context, in c3po.RoomPostInput) (c3po.PostReceipt, error) {
	if err := o.enter(ctx); err != nil {
		return c3po.PostReceipt{}, err
	}
	if in.Room == c3po.Everybody {
		return c3po.PostReceipt{}, refuse("the room 'all' takes broadcasts only").Suggest("Use broadcast to say it to everybody.")
	}
	if err := checkRoom(in.Room); err != nil {
		return c3po.PostReceipt{}, err
	}
	draft, err := o.checkPost(in.Room, c3po.KindPost, in.Message, in.Context, in.ClientKey, in.ContentType)
	if err != nil {
		return c3po.PostReceipt{}, err
	}
	mentioned, strangers, err := o.findMentions(ctx, in.Message)
	if err != nil {
		return c3po.PostReceipt{}, err
	}
	posted, err := o.post(ctx, store.PostStep{Draft: draft, Mentions: mentioned})
	if err != nil {
		return c3po.PostReceipt{}, err
	}
	m := posted.Post.Message
	receipt := c3po.PostReceipt{
		ID: m.ID, Room: in.Room, Seq: m.Seq, Timestamp: m.Timestamp, Durability: posted.Post.Facts.Durability, Members: posted.Members,
		Mailed: append([]c3po.AgentID{}, posted.Post.Mailed...), Notice: o.notice, Warning: o.spending(store.Spending{Sent: posted.Sent}, ""),
	}
	receipt.Notice = sentences(receipt.Notice, whenPaused(posted.SenderPaused))
	if len(strangers) > 0 && !posted.Repeat {
		receipt.Notice = sentences(receipt.Notice, fmt.Sprintf("%s: no agent is called so, or several are, so nobody got it as mail by that name", strings.Join(strangers, ", ")))
	}
	for _, id := range mentioned {
		if id != o.id && !slices.Contains(receipt.Mailed, id) && !posted.Repeat {
			receipt.Notice = sentences(receipt.Notice, fmt.Sprintf("'%s' did not get it as mail: it is not in the room or wants no mail from it, or its inbox is full", id))
		}
	}
	return receipt, nil
}

// checkPost checks everything about a post that needs no store.
func (o outbox) checkPost(room c3po.RoomName, kind c3po.Kind, text, background, key, contentType string) (store.Draft, error) {
	draft, err := o.draft(c3po.SendInput{Target: string(c3po.Human), Message: text, Context: background, ClientKey: key, ContentType: contentType})
	if err != nil {
		return store.Draft{}, err
	}
	draft.To, draft.Room, draft.Kind, draft.ExpectsReply = room.Address(), room, kind, false
	return draft, nil
}

// post stores a room's post or a broadcast.
func (o outbox) post(ctx context.Context, step store.PostStep) (store.Posted, error) {
	durability, err := o.hub.store.Durability(ctx)
	if err != nil {
		return store.Posted{}, err
	}
	step.Run, step.Durability, step.Outside, step.RateLimit = o.caller.Run, durability, o.caller.Person(), o.hub.limits.SendsPerMinute
	posted, err := paying(o.identity, spend{messages: 1 + len(step.Mentions), bytes: step.Bytes()},
		func(refusal error) (store.Posted, error) {
			step.Barred = refusal
			return o.hub.store.Post(ctx, o.space, step)
		}, func(p store.Posted) bool { return p.Repeat })
	if err != nil {
		return store.Posted{}, o.dropIfSuperseded(err)
	}
	if posted.Post.Facts.Durability == "" {
		posted.Post.Facts.Durability = durability
	}
	o.complete(ctx, func() {
		o.recordAccepted(ctx, c3po.EventPosted, store.Stored{Message: posted.Post.Message, Repeat: posted.Repeat, Now: posted.Now}, durability)
	})
	return posted, nil
}

// findMentions gives the first few agents that a text names with an @, and the names that
// fit no agent.
func (o outbox) findMentions(ctx context.Context, text string) (ids []c3po.AgentID, strangers []string, err error) {
	stranger := func(id c3po.AgentID) {
		if name := "@" + string(id); !slices.Contains(strangers, name) && len(strangers) < store.MaxMentions {
			strangers = append(strangers, name)
		}
	}
	for _, found := range mention.FindAllStringSubmatch(text, 4*store.MaxMentions) {
		// What ends a sentence is part of no name.
		id, err := c3po.ParseAgentID(strings.TrimRight(found[1], "._-"))
		if err != nil || id.Reserved() {
			continue
		}
		meant, err := o.people.find(ctx, id)
		if errors.Is(err, c3po.InvalidRequest) {
			stranger(id) // several agents have that name
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if meant == "" {
			stranger(id)
		}
		if meant != "" && !slices.Contains(ids, meant) && len(ids) < store.MaxMentions {
			ids = append(ids, meant)
		}
	}
	return ids, strangers, nil
}

// RoomHistory pages back through what was said in a room.
func (a *Actor) RoomHistory(ctx context.Context, in c3po.RoomHistoryInput) (c3po.MessageList, error) {
	if err := a.enterIfNamed(ctx); err != nil {
		return c3po.MessageList{}, err
	}
	limit := joinShows
	if in.Limit != 0 {
		var err error
		if limit, err = a.hub.pageLimit(in.Limit); err != nil {
			return c3po.MessageList{}, err
		}
	}
	before, err := parseCursor(historyCursor, in.Cursor)
	if err != nil {
		return c3po.MessageList{}, err
	}
	if in.Room != c3po.Everybody {
		record, err := a.rooms.find(ctx, in.Room)
		if err != nil {
			return c3po.MessageList{}, err
		}
		if !a.rooms.reads(record) {
			return c3po.MessageList{}, store.RefuseNotInRoom(in.Room)
		}
	}
	page, err := a.history(ctx, in.Room, before, limit)
	a.inbox.shows(page.Messages...)
	return page, err
}

func (s spaceHub) history(ctx context.Context, room c3po.RoomName, before int64, limit int) (c3po.MessageList, error) {
	posts, more, err := s.hub.store.History(ctx, s.space, room, before, limit, s.hub.limits.PageBytes)
	if err != nil {
		return c3po.MessageList{}, err
	}
	list := c3po.MessageList{Messages: []c3po.Message{}}
	for _, p := range posts {
		if p.Corrupt {
			s.noteDamaged(ctx, p)
		}
		m := p.Message
		m.ToAgent, m.BodyGone = "", p.Corrupt
		list.Messages = append(list.Messages, m)
	}
	if more && len(posts) > 0 {
		list.Next = formatCursor(historyCursor, posts[0].Message.Seq)
	}
	list.Count = len(list.Messages)
	return list, nil
}

// noteDamaged notes a post whose body fails its checksum. It stays in the room, because
// it is not one agent's mail, and is shown without its text.
func (s spaceHub) noteDamaged(ctx context.Context, p store.Post) {
	s.hub.log.ErrorContext(ctx, "post is damaged", "space", s.space, "message_id", p.Message.ID)
	s.hub.meter.Damaged()
}

// Broadcast says something to everybody it is for, who read it when they look.
func (a *Actor) Broadcast(ctx context.Context, in c3po.BroadcastInput) (c3po.BroadcastReceipt, error) {
	receipt, err := a.outbox.broadcast(ctx, in)
	if err != nil {
		a.outbox.countRejected(err)
	}
	return receipt, err
}

func (o outbox) broadcast(ctx context.Context, in c3po.BroadcastInput) (c3po.BroadcastReceipt, error) {
	if err := o.enter(ctx); err != nil {
		return c3po.BroadcastReceipt{}, err
	}
	if in.Cursor != "" {
		return o.moreLive(ctx, in)
	}
	draft, err := o.checkPost(c3po.Everybody, c3po.KindBroadcast, in.Message, in.Context, in.ClientKey, in.ContentType)
	if err != nil {
		return c3po.BroadcastReceipt{}, err
	}
	if err := checkLabels(label{"type", in.Type, 100}, label{"capability", in.Capability, 100}, label{"host", in.Host, 255}); err != nil {
		return c3po.BroadcastReceipt{}, err
	}
	audience := c3po.Audience{Type: in.Type, Capability: in.Capability, Host: in.Host}
	posted, err := o.post(ctx, store.PostStep{Draft: draft, Audience: audience})
	if err != nil {
		return c3po.BroadcastReceipt{}, err
	}
	receipt, err := o.castReceipt(ctx, posted.Post, audience, 0)
	receipt.Warning = o.spending(store.Spending{Sent: posted.Sent}, "")
	receipt.Notice = sentences(receipt.Notice, whenPaused(posted.SenderPaused))
	if err != nil {
		receipt.Notice = sentences(receipt.Notice, o.doneBut(ctx, "it was sent, but who is live cannot be read now", err))
	}
	return receipt, nil
}

// moreLive is the next page of a receipt. Its cursor says of which broadcast.
func (o outbox) moreLive(ctx context.Context, in c3po.BroadcastInput) (c3po.BroadcastReceipt, error) {
	if in.Message != "" {
		return c3po.BroadcastReceipt{}, refuse("cursor shows more of an earlier receipt; it does not go with a message")
	}
	plain, err := base64.RawURLEncoding.DecodeString(in.Cursor)
	if err != nil {
		return c3po.BroadcastReceipt{}, badCursor()
	}
	after, text, _ := strings.Cut(string(plain), " ")
	place, err := strconv.ParseInt(after, 10, 64)
	id, err2 := c3po.ParseMessageID(text)
	if err != nil || err2 != nil || place < 0 || id.Room() != c3po.Everybody {
		return c3po.BroadcastReceipt{}, badCursor()
	}
	post, err := o.hub.store.OnePost(ctx, o.space, id)
	if err != nil {
		return c3po.BroadcastReceipt{}, err
	}
	if post == nil || post.Message.FromAgent != o.id {
		return c3po.BroadcastReceipt{}, store.RefuseNoMessage(id)
	}
	return o.castReceipt(ctx, *post, post.Audience, place)
}

// castReceipt lists who is live, a page of agents at a time.
func (o outbox) castReceipt(ctx context.Context, post store.Post, audience c3po.Audience, after int64) (c3po.BroadcastReceipt, error) {
	m := post.Message
	receipt := c3po.BroadcastReceipt{
		ID: m.ID, Seq: m.Seq, Timestamp: m.Timestamp, Durability: post.Facts.Durability, Live: []c3po.AgentID{}, Notice: o.notice,
	}
	next := func() string { return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %s", after, m.ID)) }
	limit := o.hub.limits.PageItems
	for scanned := 0; scanned < maxScanned; {
		records, err := o.hub.store.AgentPage(ctx, o.space, after, limit+1)
		if err != nil {
			receipt.Next = next()
			return receipt, err
		}
		for _, r := range records {
			if len(receipt.Live) == limit {
				receipt.Next = next()
				return receipt, nil
			}
			after = r.RegSeq
			shown := view(r)
			switch {
			case r.ID == o.id || !audience.Includes(shown.Type, shown.Host, shown.Capabilities):
			case shown.Status == c3po.Online:
				receipt.Live = append(receipt.Live, r.ID)
			}
		}
		if len(records) <= limit {
			return receipt, nil
		}
		scanned += len(records)
	}
	receipt.Next = next()
	return receipt, nil
}
