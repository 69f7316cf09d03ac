package storetest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// entry is a message as it is told: a copy that no caller can change it by.
func (sp *space) entry(msg *message) store.Entry {
	e := store.Entry{Message: msg.view, State: msg.state, Reason: msg.reason, Facts: msg.facts, Corrupt: msg.spoilt}
	e.Message.Metadata = slices.Clone(msg.view.Metadata)
	e.Message.Attachments = slices.Clone(msg.view.Attachments)
	if msg.spoilt {
		e.Message.Message, e.Message.Response, e.Message.Context, e.Message.Metadata = "", "", "", nil
		e.Message.Choices, e.Message.Proof, e.Message.Attachments = nil, nil, nil
	}
	e.Facts.Served = slices.Clone(msg.facts.Served)
	e.Facts.Answers = slices.Clone(msg.facts.Answers)
	e.Facts.Notices = slices.Clone(msg.facts.Notices)
	if msg.facts.Claim != nil {
		claim := *msg.facts.Claim
		e.Facts.Claim = &claim
	}
	if msg.facts.Received != nil {
		received := *msg.facts.Received
		e.Facts.Received = &received
	}
	marks := sp.marks[msg.view.ToAgent]
	for _, reader := range slices.Sorted(maps.Keys(marks)) {
		notes := marks[reader].notes
		i := slices.IndexFunc(notes, func(n store.NotifiedNote) bool { return n.Seq >= msg.view.Seq })
		if i < 0 || i < len(notes)-store.MaxToldNotices {
			continue
		}
		told := notes[i]
		told.Agent = msg.view.ToAgent
		e.Facts.Notified = append(e.Facts.Notified, told)
	}
	return e
}

// find gives the messages that match, ordered by a number of theirs.
func (sp *space) find(match func(*message) bool, order func(*message) int64) []*message {
	var found []*message
	for _, msg := range sp.messages {
		if match(msg) {
			found = append(found, msg)
		}
	}
	slices.SortFunc(found, func(a, b *message) int {
		return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a.view.Seq, b.view.Seq))
	})
	return found
}

func bySeq(msg *message) int64 { return msg.view.Seq }

func position(msg *message) int64 { return store.ReadingPosition(msg.view.Priority, msg.view.Seq) }

// pending is the inbox of one agent in reading order.
func (sp *space) pending(owner c3po.AgentID) []*message {
	return sp.find(func(msg *message) bool {
		return msg.view.ToAgent == owner && msg.state == c3po.StatePending
	}, position)
}

// Inbox implements store.Store.
func (m *Model) Inbox(_ context.Context, name c3po.Space, owner c3po.AgentID, q store.InboxQuery) (store.InboxPage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	reader := cmp.Or(q.Member, owner)
	if sp.superseded(reader, q.Run) {
		return store.InboxPage{}, store.RefuseSuperseded(reader)
	}
	mail := sp.pending(owner)
	page := store.InboxPage{Count: len(mail), Rooms: sp.talk(owner), Paused: sp.pausedWhy(owner), Seq: sp.books.Seq, Now: m.now()}
	if q.Member != "" {
		page.Paused = "" // the page of its own inbox says it
		mail = slices.DeleteFunc(mail, func(msg *message) bool { return !sp.forMember(msg, q.Member, page.Now) })
	}
	if q.Quiet && page.Paused != "" && sp.agents[owner] != nil {
		mail = slices.DeleteFunc(mail, func(msg *message) bool { return msg.view.FromAgent != c3po.Human })
	}
	size, last, from := 0, int64(0), sp.place(q.MinSeq)
	if q.Member != "" && sp.released > from {
		from = 0 // what was released is older
	}
	for _, msg := range mail {
		if position(msg) <= q.After || msg.view.Seq <= from {
			continue
		}
		if len(page.Entries) == q.Limit || len(page.Entries) > 0 && size+msg.facts.Bytes > q.Bytes {
			page.Next = last
			break
		}
		page.Entries = append(page.Entries, sp.entry(msg))
		size, last = size+msg.facts.Bytes, position(msg)
	}
	return page, nil
}

// Next implements store.Store.
func (m *Model) Next(_ context.Context, name c3po.Space, owner c3po.AgentID, q store.NextQuery) (store.NextMessage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	if sp.superseded(owner, q.Run) {
		return store.NextMessage{}, store.RefuseSuperseded(owner)
	}
	mail := sp.pending(owner)
	next := store.NextMessage{Count: len(mail), Rooms: sp.talk(owner), Seq: sp.books.Seq, Now: m.now()}
	if a := sp.agents[owner]; a != nil {
		next.Node, next.Paused = a.node, sp.pausedWhy(owner)
	}
	from := sp.place(q.MinSeq)
	if is := sp.marks[owner][q.Reader]; is != nil && !q.Positioned {
		from = max(from, sp.place(is.given))
	}
	for _, msg := range mail {
		if msg.view.Seq > from {
			next.Looked++
		}
		given := msg.view.Seq <= from || msg.isAmong(q.Given) ||
			slices.ContainsFunc(msg.facts.Served, func(f store.ServedFact) bool {
				return f.Reader == q.Reader && !f.Before && !(q.Positioned && f.Cursor > from)
			})
		switch {
		case given:
		case next.Entry == nil && !(q.Incoming && msg.view.Kind == c3po.KindReply) && (next.Paused == "" || msg.view.FromAgent == c3po.Human):
			entry := sp.entry(msg)
			next.Entry = &entry
		default:
			next.Seq = min(next.Seq, msg.view.Seq-1)
		}
	}
	return next, nil
}

// isAmong says whether a message is one of these. It may be called by an id from
// before its recipient was renamed, which leaves its number.
func (msg *message) isAmong(ids []c3po.MessageID) bool {
	_, _, hex := msg.view.ID.Split()
	return slices.ContainsFunc(ids, func(id c3po.MessageID) bool {
		_, _, other := id.Split()
		return other == hex
	})
}

// Message implements store.Store.
func (m *Model) Message(_ context.Context, name c3po.Space, id c3po.MessageID) (*store.Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	msg := sp.lookup(id)
	if msg == nil {
		return nil, nil
	}
	entry := sp.entry(msg)
	return &entry, nil
}

// Answers implements store.Store.
func (m *Model) Answers(_ context.Context, name c3po.Space, id c3po.MessageID) ([]store.Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	question := sp.lookup(id)
	if question == nil {
		return nil, store.RefuseNoMessage(id)
	}
	var answers []store.Entry
	for _, answered := range question.facts.Answers {
		if answer := sp.lookup(answered.ID); answer != nil {
			answers = append(answers, sp.entry(answer))
		}
	}
	return answers, nil
}

// Thread implements store.Store.
func (m *Model) Thread(_ context.Context, name c3po.Space, thread string, after int64, limit int) ([]store.Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	found := sp.find(func(msg *message) bool { return msg.view.Thread == thread && msg.view.Seq > after }, bySeq)
	return sp.entries(found, limit), nil
}

// Kept implements store.Store.
func (m *Model) Kept(_ context.Context, name c3po.Space, after string, below int64, limit int) ([]store.KeptEntry, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	place := func(msg *message) string {
		return fmt.Sprintf("%d:%s\x00%016d\x01", len(msg.view.Thread), msg.view.Thread, msg.view.Seq)
	}
	found := sp.find(func(msg *message) bool { return place(msg) > after }, bySeq)
	slices.SortFunc(found, func(a, b *message) int { return cmp.Compare(place(a), place(b)) })
	end := ""
	if len(found) >= limit {
		found = found[:limit]
		end = place(found[limit-1])
	}
	var kept []store.KeptEntry
	for _, msg := range found {
		if msg.view.Seq < below {
			kept = append(kept, store.KeptEntry{Entry: sp.entry(msg), Place: place(msg)})
		}
	}
	return kept, end, nil
}

// ThreadSpans implements store.Store.
func (m *Model) ThreadSpans(_ context.Context, name c3po.Space, threads []string) ([]store.ThreadSpan, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	spans := make([]store.ThreadSpan, len(threads))
	for i, thread := range threads {
		found := sp.find(func(msg *message) bool { return msg.view.Thread == thread }, bySeq)
		spans[i].Count = len(found)
		for _, msg := range found {
			spans[i].Add(sp.entry(msg))
		}
	}
	return spans, nil
}

func (sp *space) entries(found []*message, limit int) []store.Entry {
	var entries []store.Entry
	for _, msg := range found[:min(len(found), limit)] {
		entries = append(entries, sp.entry(msg))
	}
	return entries
}
