package hub

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// withPosts puts what the caller has not acked in its rooms, or in those that wake it
// so, among a page of its mail, in the order it all came; urgent mail stays in front.
// The page begins where in says, and has nothing up to minSeq.
func (box *inbox) withPosts(ctx context.Context, page store.InboxPage, in c3po.GetMessagesInput, minSeq int64, hears c3po.Notify) (store.InboxPage, error) {
	after, err := parseCursor(inboxCursor, in.Cursor)
	if err != nil {
		return store.InboxPage{}, err
	}
	limit, err := box.hub.pageLimit(in.Limit)
	if err != nil {
		return store.InboxPage{}, err
	}
	mail, err := box.hub.store.RoomMail(ctx, box.space, box.id, store.RoomQuery{
		Run: box.caller.Run, Reader: box.caller.Reader(), After: max(minSeq, after-store.NormalBand), Limit: limit, Bytes: box.hub.limits.PageBytes,
		Hears: hears,
	})
	if err != nil {
		return store.InboxPage{}, box.dropIfSuperseded(err)
	}
	// What one list has left out comes before what the other has further on.
	frontier := int64(math.MaxInt64)
	if page.Next > 0 {
		frontier = page.Next
	}
	if mail.Next > 0 {
		frontier = min(frontier, store.ReadingPosition(c3po.Normal, mail.Next)-1)
	}
	all := page.Entries
	for _, p := range mail.Posts {
		if p.Corrupt {
			box.noteDamaged(ctx, p)
			p.BodyGone = true
		}
		all = append(all, p.Entry)
	}
	slices.SortStableFunc(all, func(x, y store.Entry) int { return int(readingPosition(x) - readingPosition(y)) })
	if hears == c3po.NotifyAll {
		page.Count += mail.Loud()
	} else {
		page.Count += mail.Unread()
	}
	page.Entries, page.Next = nil, 0
	bytes := 0
	for i, e := range all {
		if readingPosition(e) > frontier {
			break
		}
		if i == limit || i > 0 && bytes+e.Facts.Bytes > box.hub.limits.PageBytes {
			page.Next = readingPosition(all[i-1])
			return page, nil
		}
		page.Entries, bytes = append(page.Entries, e), bytes+e.Facts.Bytes
	}
	switch {
	case frontier < math.MaxInt64:
		page.Next = frontier
	case after == 0 && minSeq == 0:
		page.Count = len(page.Entries) // all there is, whatever the bound was
	}
	return page, nil
}

// nextPost gives the older of the next mail and the next post. It also notes
// which rooms can bring one, for a wait to listen to.
func (box *inbox) nextPost(ctx context.Context, next store.NextMessage, query store.NextQuery) (store.NextMessage, error) {
	mail, err := box.hub.store.RoomMail(ctx, box.space, box.id, store.RoomQuery{
		Run: query.Run, Reader: query.Reader, After: query.MinSeq, Limit: 1, Bytes: box.hub.limits.PageBytes,
		SkipGiven: true, Positioned: query.Positioned, Given: query.Given, Hears: c3po.NotifyMentions,
	})
	if err != nil {
		return store.NextMessage{}, box.dropIfSuperseded(err)
	}
	box.listenTo(mail, c3po.NotifyMentions)
	next.Count += mail.Unread()
	if len(mail.Posts) == 0 {
		return next, nil
	}
	post := mail.Posts[0]
	if next.Entry != nil && readingPosition(*next.Entry) < readingPosition(post.Entry) {
		next.Seq = min(next.Seq, post.Message.Seq-1)
		return next, nil
	}
	if next.Entry != nil {
		next.Seq = min(next.Seq, next.Entry.Message.Seq-1)
	}
	if mail.Next > 0 {
		next.Seq = min(next.Seq, mail.Next-1)
	}
	if post.Corrupt {
		box.noteDamaged(ctx, post)
		post.BodyGone = true
	}
	next.Entry, next.Now = &post.Entry, mail.Now
	return next, nil
}

// unread counts what the caller has not acked in its rooms, and gives the first
// post after a number, if there is one.
func (box *inbox) unread(ctx context.Context, after int64) (store.RoomMail, error) {
	mail, err := box.hub.store.RoomMail(ctx, box.space, box.id, store.RoomQuery{Run: box.caller.Run, After: after, Limit: 1, Bytes: 1})
	box.listenTo(mail, c3po.NotifyAll)
	if after == 0 && len(mail.Posts) == 0 {
		// Only broadcasts were counted, and they are for other agents.
		for i := range mail.Rooms {
			mail.Rooms[i].Unread = 0
		}
	}
	return mail, box.dropIfSuperseded(err)
}

// listenTo makes a wait for posts, if this is one, listen to rooms that wake the
// caller so.
func (box *inbox) listenTo(mail store.RoomMail, hears c3po.Notify) {
	if box.rooms == nil {
		return
	}
	box.rooms = box.rooms[:0]
	for _, r := range mail.Rooms {
		if r.Room != c3po.Everybody && hears.Hears(r.Notify) {
			box.rooms = append(box.rooms, r.Room.Address())
		}
	}
}

// servePost is serveAt for a post: how far its reader has come is all that is
// noted of it.
func (box *inbox) servePost(entry store.Entry, now time.Time, cursor int64) c3po.Message {
	m := box.showPost(entry, now)
	note := store.PostServedNote{ID: m.ID, Seq: m.Seq, Agent: box.id, Reader: box.caller.Reader(), Cursor: cursor, At: now}
	box.handedPosts = append(box.handedPosts, note)
	box.gives(m)
	m.Redelivered = entry.GivenBefore || box.hub.notes.HasServedPost(box.space, note)
	box.hub.meter.Served(box.caller.Route, m.Redelivered, now.Sub(entry.Facts.Accepted))
	return m
}

// showPost is a post as its member reads it.
func (box *inbox) showPost(entry store.Entry, _ time.Time) c3po.Message {
	m := entry.Message
	m.ToAgent = m.Room.Reader(box.id)
	m.BodyGone = entry.BodyGone
	return m
}
