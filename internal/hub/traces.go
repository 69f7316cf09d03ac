package hub

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// GetThread reads a conversation back. To a caller with no part in it, the thread does
// not exist.
func (a *Actor) GetThread(ctx context.Context, in c3po.ThreadInput) (c3po.MessageList, error) {
	if err := a.enterForThread(ctx); err != nil {
		return c3po.MessageList{}, err
	}
	if err := checkGiven("thread", in.Thread); err != nil {
		return c3po.MessageList{}, err
	}
	if err := checkLabels(label{"thread", in.Thread, maxThreadBytes}); err != nil {
		return c3po.MessageList{}, err
	}
	if name, isRoom := strings.CutPrefix(in.Thread, "#"); isRoom {
		return c3po.MessageList{}, refuse("'%s' is a room, not a thread", in.Thread).Suggest("Read it with room_history(room=\"%s\").", name)
	}
	limit, err := a.hub.pageLimit(in.Limit)
	if err != nil {
		return c3po.MessageList{}, err
	}
	after, err := parseCursor(threadCursor, in.Cursor)
	if err != nil {
		return c3po.MessageList{}, err
	}
	thread, err := a.threadOf(ctx, in.Thread)
	if err != nil {
		return c3po.MessageList{}, err
	}
	entries, err := a.ownPart(ctx, thread, after, limit+1)
	if err != nil {
		return c3po.MessageList{}, err
	}
	if len(entries) == 0 && after == 0 {
		return c3po.MessageList{}, c3po.Errorf(c3po.InvalidRequest, "there is no thread '%s' you have a part in", in.Thread).
			Suggest("Copy the thread from one of your messages.")
	}
	page := a.threadPage(entries, limit)
	a.inbox.shows(page.Messages...)
	return page, nil
}

// enterForThread lets callers that may read everything read without being an agent.
func (me *identity) enterForThread(ctx context.Context) error {
	if me.caller.SeesAll() {
		return me.enterIfNamed(ctx)
	}
	return me.enter(ctx)
}

// threadOf understands the id of a message as the thread it is in. A thread is
// named after its first message, so an unknown id may still be a thread's.
func (s spaceHub) threadOf(ctx context.Context, name string) (string, error) {
	id, err := c3po.ParseMessageID(name)
	if err != nil {
		return name, nil
	}
	entry, err := s.hub.store.Message(ctx, s.space, id)
	if err != nil || entry == nil {
		return name, err
	}
	return entry.Message.Thread, nil
}

// ownPart reads what the caller may read of a thread: what it has a part in, and
// everything if it may read everything. Anybody can name a thread in a
// message, so that alone gives no right to read what others said in it.
func (me *identity) ownPart(ctx context.Context, thread string, after int64, most int) ([]store.Entry, error) {
	if me.caller.SeesAll() {
		return me.hub.store.Thread(ctx, me.space, thread, after, most)
	}
	mine, err := me.names(ctx)
	if err != nil {
		return nil, err
	}
	own := []store.Entry{}
	for {
		entries, err := me.hub.store.Thread(ctx, me.space, thread, after, me.hub.limits.PageItems)
		if err != nil || len(entries) == 0 {
			return own, err
		}
		for _, entry := range entries {
			if me.mayRead(mine, entry.Message) {
				own = append(own, entry)
			}
			if len(own) == most {
				return own, nil
			}
			after = entry.Message.Seq
		}
	}
}

// threadPage cuts a page by count and by size.
func (me *identity) threadPage(entries []store.Entry, limit int) c3po.MessageList {
	list := c3po.MessageList{Messages: []c3po.Message{}}
	bytes := 0
	for _, entry := range entries {
		if len(list.Messages) == limit || len(list.Messages) > 0 && bytes >= me.hub.limits.PageBytes {
			list.Next = formatCursor(threadCursor, list.Messages[len(list.Messages)-1].Seq)
			break
		}
		m := entry.Message
		if me.caller.SeesAll() {
			m = disclosed(entry)
		}
		m.BodyGone = entry.BodyGone || entry.Corrupt
		bytes += entry.Facts.Bytes
		list.Messages = append(list.Messages, m)
	}
	list.Count = len(list.Messages)
	return list
}

// Trace shows the life of a message, without its body.
func (a *Actor) Trace(ctx context.Context, in c3po.MessageInput) (c3po.Trace, error) {
	if err := checkID(in.MessageID); err != nil {
		return c3po.Trace{}, err
	}
	entry, err := a.rooms.entry(ctx, in.MessageID)
	if err != nil {
		return c3po.Trace{}, err
	}
	if entry == nil {
		return c3po.Trace{}, store.RefuseNoMessage(in.MessageID)
	}
	trace := life(*entry)
	if in.MessageID.Room() == "" {
		place, err := placing{a.spaceHub, map[c3po.MessageID]*store.Entry{}}.of(ctx, *entry)
		if err != nil {
			return c3po.Trace{}, err
		}
		trace.TraceID = place.Trace.String()
	}
	if err := a.proofs(ctx, trace.Answered); err != nil {
		return c3po.Trace{}, err
	}
	if in.MessageID.Room() == "" {
		if trace.ChainCost, err = a.hub.store.ChainCost(ctx, a.space, chainOf(*entry)); err != nil {
			return c3po.Trace{}, err
		}
	}
	if (entry.State == c3po.StatePending || entry.State == c3po.StatePosted) && entry.Facts.Expires > 0 {
		counters, err := a.hub.store.Counters(ctx, a.space)
		if err != nil {
			return c3po.Trace{}, err
		}
		trace.Expires = expiry(entry.Facts.Expires - counters.Lived)
	}
	if to := entry.Message.ToAgent; entry.State == c3po.StatePending && to != c3po.Human && to.Queue() == "" {
		records, err := a.hub.store.Agents(ctx, a.space, []c3po.AgentID{to})
		if err != nil {
			return c3po.Trace{}, err
		}
		if len(records) > 0 {
			record := records[0]
			trace.Reachability, trace.StateSince = reachOfMail(record, entry.Message), stateSince(record)
		}
	}
	return trace, nil
}

// proofs says which answers a person confirmed with a passkey, and what they decided.
func (s spaceHub) proofs(ctx context.Context, answers []c3po.Answered) error {
	for i, answer := range answers {
		if from, _, _ := answer.ID.Split(); from != c3po.Human {
			continue
		}
		entry, err := s.hub.store.Message(ctx, s.space, answer.ID)
		if err != nil {
			return err
		}
		if entry != nil {
			answers[i].Proof, answers[i].Unproved = entry.Message.Proof, entry.Withheld != ""
			if verdict, ok := entry.Message.Verdict(); ok {
				answers[i].Verdict = verdict.Decision()
			}
		}
	}
	return nil
}

// message finds mail, or a post in a room the caller may read.
func (v roomView) entry(ctx context.Context, id c3po.MessageID) (*store.Entry, error) {
	name := id.Room()
	if name == "" {
		return v.hub.store.Message(ctx, v.space, id)
	}
	if name != c3po.Everybody {
		if err := v.enterIfNamed(ctx); err != nil {
			return nil, err
		}
		record, err := v.find(ctx, name)
		if err != nil || !v.reads(record) {
			return nil, err
		}
	}
	post, err := v.hub.store.OnePost(ctx, v.space, id)
	if err != nil || post == nil {
		return nil, err
	}
	return &post.Entry, nil
}

// life puts the facts into the form they are shown in.
func life(e store.Entry) c3po.Trace {
	m := e.Message
	trace := c3po.Trace{
		ID: m.ID, Seq: m.Seq, Kind: m.Kind, Thread: m.Thread, Priority: m.Priority, ExpectsReply: m.ExpectsReply,
		MessageID: m.MessageID, Follows: e.Facts.Chain, Bytes: e.Facts.Bytes, BodyGone: e.BodyGone, State: e.State, Reason: e.Reason,
		Accepted:   c3po.Fact{At: e.Facts.Accepted, Durability: e.Facts.Durability},
		Notified:   []c3po.Fact{},
		Served:     []c3po.Fact{},
		Answered:   append([]c3po.Answered{}, e.Facts.Answers...),
		Deliveries: deliveries(e),
		Proof:      m.Proof,
		Unproved:   e.Withheld != "",
		GoesBackTo: m.GoesBackTo,
	}
	for _, note := range e.Facts.Notified {
		if note.Route == startRoute {
			if !e.Facts.Ended.IsZero() && note.At.After(e.Facts.Ended) {
				continue // for later mail, and with other words than a start for this one
			}
			trace.Started = append(trace.Started, c3po.Fact{At: note.At, Session: note.Reader})
			continue
		}
		trace.Notified = append(trace.Notified, c3po.Fact{At: note.At, Session: note.Reader, Route: note.Route})
	}
	for _, fact := range e.Facts.Served {
		trace.Served = append(trace.Served, c3po.Fact{At: fact.First, Session: fact.Reader, Route: fact.Route, Times: fact.Times})
	}
	trace.Claimed, trace.Cost = e.Facts.Claim, costOf(e.Facts.Used)
	if r := e.Facts.Received; r != nil {
		trace.Received = &c3po.Fact{At: r.First, Session: r.Reader, Route: r.Route}
	}
	if !e.Facts.Stalled.IsZero() && len(e.Facts.Answers) == 0 {
		trace.Stalled = &c3po.Fact{At: e.Facts.Stalled}
	}
	if !e.Facts.Silent.IsZero() {
		trace.Silent = &c3po.Fact{At: e.Facts.Silent}
	}
	if !e.Facts.Ended.IsZero() {
		trace.Ended = &c3po.Fact{At: e.Facts.Ended}
	}
	return trace
}

// expiry says how much lived time is left, in the two largest units.
func expiry(seconds int64) string {
	left := time.Duration(max(seconds, 0)) * time.Second
	days, hours, minutes := left/(24*time.Hour), left%(24*time.Hour)/time.Hour, left%time.Hour/time.Minute
	switch {
	case left == 0:
		return "with the reaper's next look"
	case days > 0:
		return fmt.Sprintf("in %d d %d h", days, hours)
	case hours > 0:
		return fmt.Sprintf("in %d h %d min", hours, minutes)
	case minutes > 0:
		return fmt.Sprintf("in %d min", minutes)
	default:
		return "in less than a minute"
	}
}
