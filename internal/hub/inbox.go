package hub

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// An inbox is what the caller reads and waits for in one request.
type inbox struct {
	*identity
	cause *cause    // what the answer gives the caller to react to
	given *given    // the mail that the answer gives it
	work  *followed // the last of it that the caller works on
	shown *given    // what it lets the caller read besides
	// handed is what the answer carries; it is served once the answer is written.
	handed      []store.ServedNote
	handedPosts []store.PostServedNote
	rooms       []c3po.AgentID           // addresses a wait of the caller listens to
	state       c3po.SessionState        // of the session that a wait of the caller is for
	took        c3po.AgentID             // the queue whose mail the wait ends with
	ahead       map[c3po.MessageID]int64 // what the answer shows beyond the caller's position
}

// GetMessages reads the caller's unacked mail and takes nothing away from it.
func (a *Actor) GetMessages(ctx context.Context, in c3po.GetMessagesInput) (c3po.MessageList, error) {
	return a.inbox.read(ctx, in, a.inbox.serve)
}

// Peek is GetMessages without its counting as served.
func (a *Actor) Peek(ctx context.Context, in c3po.GetMessagesInput) (c3po.MessageList, error) {
	return a.inbox.read(ctx, in, a.inbox.peek)
}

func (box *inbox) read(ctx context.Context, in c3po.GetMessagesInput, row func(store.Entry, time.Time) c3po.Message) (c3po.MessageList, error) {
	if err := box.enter(ctx); err != nil {
		return c3po.MessageList{}, err
	}
	if in.LeftBy != "" {
		page, err := box.readLeft(ctx, in)
		if err != nil {
			return c3po.MessageList{}, err
		}
		return messageList(page, row), nil
	}
	page, err := box.page(ctx, box.id, box.caller.Run, in.Cursor, in.Limit, 0)
	moved := false
	if err == nil {
		moved, err = box.goOnIfEmpty(ctx, page)
	}
	if moved {
		page, err = box.page(ctx, box.id, box.caller.Run, in.Cursor, in.Limit, 0)
	}
	if err == nil && page.Rooms {
		page, err = box.withPosts(ctx, page, in, 0, "")
	}
	if err != nil {
		return c3po.MessageList{}, err
	}
	list := messageList(page, row)
	if box.id != c3po.Human {
		list.Paused = page.Paused
	}
	return list, nil
}

// messageList turns a page into what a caller sees.
func messageList(page store.InboxPage, row func(store.Entry, time.Time) c3po.Message) c3po.MessageList {
	list := c3po.MessageList{Messages: []c3po.Message{}, Count: page.Count}
	if page.Next != 0 {
		list.Next = formatCursor(inboxCursor, page.Next)
	}
	for _, entry := range page.Entries {
		list.Messages = append(list.Messages, row(entry, page.Now))
	}
	return list
}

// page reads one page of an inbox. What is damaged is buried and left out.
func (box *inbox) page(ctx context.Context, owner c3po.AgentID, run, cursor string, limit int, minSeq int64) (store.InboxPage, error) {
	return box.pageOf(ctx, owner, run, cursor, limit, minSeq, false)
}

// pageOf is page, which with quiet leaves out what a pause of the owner keeps back.
func (box *inbox) pageOf(ctx context.Context, owner c3po.AgentID, run, cursor string, limit int, minSeq int64, quiet bool) (store.InboxPage, error) {
	after, err := parseCursor(inboxCursor, cursor)
	if err != nil {
		return store.InboxPage{}, err
	}
	if limit, err = box.hub.pageLimit(limit); err != nil {
		return store.InboxPage{}, err
	}
	page, err := box.hub.store.Inbox(ctx, box.space, owner, store.InboxQuery{
		Run: run, After: after, Limit: limit, Bytes: box.hub.limits.PageBytes, MinSeq: minSeq, Quiet: quiet,
	})
	if err != nil {
		return store.InboxPage{}, box.dropIfSuperseded(err)
	}
	if owner == box.id && len(box.queues()) > 0 && (!quiet || page.Paused == "") {
		if page, err = box.readQueues(ctx, page, store.InboxQuery{
			Run: run, After: after, Limit: limit, Bytes: box.hub.limits.PageBytes, MinSeq: minSeq, Member: box.id,
		}); err != nil {
			return store.InboxPage{}, box.dropIfSuperseded(err)
		}
	}
	sound := page.Entries[:0]
	for _, entry := range page.Entries {
		if !entry.Corrupt {
			if err := box.withHandover(ctx, &entry); err != nil {
				return store.InboxPage{}, err
			}
			sound = append(sound, entry)
			continue
		}
		if box.bury(ctx, entry) {
			page.Count--
		}
	}
	page.Entries = sound
	return page, nil
}

// bury makes a message that fails its checksum a dead letter, so that it
// is never shown and never lost without a word. It reports whether it did.
func (s spaceHub) bury(ctx context.Context, entry store.Entry) bool {
	id := entry.Message.ID
	s.hub.log.ErrorContext(ctx, "message is damaged", "space", s.space, "message_id", id)
	s.hub.meter.Damaged()
	buried, err := s.hub.store.Bury(ctx, s.space, id, c3po.ReasonCorrupt, fmt.Sprintf(
		"Your message %s to '%s' was damaged in the store and could not be delivered. Send it again with send_message.", id, entry.Message.ToAgent))
	if err != nil {
		s.hub.log.ErrorContext(ctx, "cannot bury a damaged message", "space", s.space, "message_id", id, "err", err)
	}
	if buried {
		s.hub.meter.Buried(c3po.ReasonCorrupt)
		s.tell(ctx, c3po.EventDead, "", id)
	}
	return buried
}

// show is a message as the rows of an inbox carry it: whose inbox it is in goes
// without saying, and only replies have a status.
func show(entry store.Entry, _ time.Time) c3po.Message {
	m := entry.Message
	if m.ToAgent.Queue() == "" {
		m.ToAgent = ""
	}
	m.Claim = entry.Facts.Claim
	m.BodyGone = entry.BodyGone
	if m.Kind != c3po.KindReply {
		m.Status = ""
	}
	return m
}

// show is show, or showPost, as the entry is.
func (box *inbox) show(entry store.Entry, now time.Time) c3po.Message {
	if entry.Message.ID.Room() != "" {
		return box.showPost(entry, now)
	}
	return show(entry, now)
}

// peek is show with how often the reader was served before, which this does not add to.
func (box *inbox) peek(entry store.Entry, now time.Time) c3po.Message {
	m := box.show(entry, now)
	box.shows(m)
	if m.ID.Room() == "" {
		times, given := box.hub.notes.TimesServed(box.space, store.ServedNote{ID: m.ID, Reader: box.readerOf(m.ToAgent)})
		m.Deliveries = deliveries(entry) + times
		m.Redelivered = given || m.Deliveries > 0
	}
	return m
}

// serve is show for an answer that hands the body over.
func (box *inbox) serve(entry store.Entry, now time.Time) c3po.Message {
	return box.serveAt(entry, now, 0)
}

// serveAt is serve for an answer that also tells the reader its position.
func (box *inbox) serveAt(entry store.Entry, now time.Time, cursor int64) c3po.Message {
	if entry.Message.ID.Room() != "" {
		return box.servePost(entry, now, cursor)
	}
	m := show(entry, now)
	m.EarlierRun = m.Kind == c3po.KindReply && box.caller.Run != "" && entry.Facts.AskedBy != "" && entry.Facts.AskedBy != box.caller.Run
	note := store.ServedNote{ID: m.ID, Reader: box.readerOf(m.ToAgent), Route: box.caller.Route, Cursor: cursor, At: now}
	box.handed = append(box.handed, note)
	box.reactsTo(entry)
	box.gives(entry.Message)
	box.follows(entry)
	times, given := box.hub.notes.TimesServed(box.space, note)
	m.Deliveries = deliveries(entry) + times + 1
	m.Redelivered = given || m.Deliveries > 1
	box.hub.meter.Served(box.caller.Route, m.Redelivered, now.Sub(entry.Facts.Accepted))
	return m
}

// Delivered says that the answer of the call was written to the caller. Only
// then is the mail in it served: a caller that had gone must be given it again.
func (a *Actor) Delivered() {
	for _, note := range a.inbox.handed {
		a.hub.notes.AddServed(a.space, note)
	}
	for _, note := range a.inbox.handedPosts {
		a.hub.notes.AddServedPost(a.space, note)
	}
	a.inbox.handed, a.inbox.handedPosts = nil, nil
	if len(a.inbox.ahead) > 0 {
		a.hub.bindings.addAhead(a.key(), a.inbox.ahead)
		a.inbox.ahead = nil
	}
	if a.inbox.cause != nil {
		a.hub.bindings.setCause(a.key(), *a.inbox.cause)
		a.inbox.cause = nil
	}
	if a.inbox.given != nil {
		a.hub.bindings.setGiven(a.key(), *a.inbox.given)
		a.inbox.given = nil
	}
	if a.inbox.work != nil {
		a.hub.bindings.setWork(a.key(), *a.inbox.work)
		a.inbox.work = nil
	}
	if a.inbox.shown != nil {
		a.hub.bindings.endWord(a.key(), a.inbox.shown.word)
		a.inbox.shown = nil
	}
}

func deliveries(entry store.Entry) int {
	times := 0
	for _, fact := range entry.Facts.Served {
		times += fact.Times
	}
	return times
}

// AckMessages ends messages the caller has dealt with.
func (a *Actor) AckMessages(ctx context.Context, in c3po.AckInput) (c3po.AckResult, error) {
	if err := a.enter(ctx); err != nil {
		return c3po.AckResult{}, err
	}
	if len(in.MessageIDs) == 0 {
		return c3po.AckResult{}, refuse("message_ids is empty")
	}
	if err := a.hub.checkIDs(in.MessageIDs); err != nil {
		return c3po.AckResult{}, err
	}
	if err := a.inbox.keepQuestions(ctx, in.MessageIDs); err != nil {
		return c3po.AckResult{}, err
	}
	outcomes, err := a.inbox.ackAll(ctx, in.MessageIDs)
	return a.inbox.recordAcked(ctx, in.MessageIDs, outcomes, err)
}

// keepQuestions refuses to end a question to the person without the answer that needs their
// passkey: with a token alone it would be gone before they saw it.
func (box *inbox) keepQuestions(ctx context.Context, ids []c3po.MessageID) error {
	if box.id != c3po.Human || box.hub.notary == nil {
		return nil
	}
	demanded, err := box.hub.notary.Demands(ctx, "human_answer")
	if err != nil || !demanded {
		return err
	}
	entries, err := box.hub.store.Messages(ctx, box.space, ids)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Message.AsksPerson() && entry.State == c3po.StatePending {
			return c3po.Errorf(c3po.Forbidden, "%s is a question, and ends with an answer that needs your passkey", entry.Message.ID).
				Suggest("Answer it with human_answer.")
		}
	}
	return nil
}

// Received records what the caller's client has provably taken, and up to where
// its session was told that there is mail.
func (a *Actor) Received(ctx context.Context, in c3po.ReceivedInput) (c3po.AckResult, error) {
	if in.Started != "" {
		return ackResult(nil, nil), a.inbox.recordStart(ctx, in)
	}
	if err := a.enter(ctx); err != nil {
		return c3po.AckResult{}, err
	}
	if err := a.hub.checkIDs(in.MessageIDs); err != nil {
		return c3po.AckResult{}, err
	}
	if err := a.hub.checkIDs(in.Silent); err != nil {
		return c3po.AckResult{}, err
	}
	if err := a.hub.checkUsed(in.Used); err != nil {
		return c3po.AckResult{}, err
	}
	for _, ids := range [][]c3po.MessageID{in.Stalled, in.Moves} {
		if err := a.hub.checkIDs(ids); err != nil {
			return c3po.AckResult{}, err
		}
	}
	if err := checkQuota(in.Quota); err != nil {
		return c3po.AckResult{}, err
	}
	if in.Notified < 0 {
		return c3po.AckResult{}, refuse("notified cannot be negative")
	}
	if in.Notified > 0 {
		at, err := a.hub.store.Sequence(ctx, a.space)
		if err != nil {
			return c3po.AckResult{}, err
		}
		a.hub.notes.AddNotified(a.space, store.NotifiedNote{
			Agent: a.id, Reader: a.caller.Reader(), Route: a.caller.Route,
			// Nobody can have been told of mail that does not exist yet.
			Seq: min(in.Notified, at.Last), At: time.Now().UTC(),
		})
	}
	// Of a post the cursor says how far the agent is; nothing else is kept of it.
	mail := slices.DeleteFunc(slices.Clone(in.MessageIDs), func(id c3po.MessageID) bool { return id.Room() != "" })
	result, stored := ackResult(nil, nil), len(mail) > 0
	if stored {
		ids, err := a.ownAll(ctx, mail)
		if err != nil {
			return c3po.AckResult{}, err
		}
		a.inbox.takes(ctx, ids)
		outcomes, err := a.inbox.takeAll(ctx, ids)
		if result, err = a.inbox.recordAcked(ctx, mail, outcomes, err); err != nil {
			return c3po.AckResult{}, err
		}
	}
	reports := []struct {
		given bool
		store func() error
	}{
		{len(in.Used) > 0, func() error { return a.inbox.reportUsed(ctx, in.Used) }},
		{in.Quota != nil, func() error { return a.inbox.reportQuota(ctx, in.Quota) }},
		{len(in.Moves) > 0, func() error { return a.inbox.reportStall(ctx, in.Moves, store.GoesOn) }},
		{len(in.Stalled) > 0, func() error { return a.inbox.reportStall(ctx, in.Stalled, store.Stalled) }},
		{len(in.Silent) > 0, func() error { return a.inbox.reportSilence(ctx, in.Silent) }},
	}
	for _, report := range reports {
		if !report.given {
			continue
		}
		err := report.store()
		if err != nil && !stored {
			return c3po.AckResult{}, err
		}
		if err != nil {
			result.Notice = sentences(result.Notice, a.stoppedAt(ctx, err))
			break
		}
		stored = true
	}
	return result, nil
}

func ackResult(ids []c3po.MessageID, outcomes []store.AckOutcome) c3po.AckResult {
	result := c3po.AckResult{
		Acked: []c3po.MessageID{}, Already: []c3po.MessageID{}, Unknown: []c3po.MessageID{}, NotYours: []c3po.MessageID{},
	}
	for i, outcome := range outcomes {
		switch outcome {
		case store.AckDone:
			result.Acked = append(result.Acked, ids[i])
		case store.AckAlready:
			result.Already = append(result.Already, ids[i])
		case store.AckUnknown:
			result.Unknown = append(result.Unknown, ids[i])
		case store.AckNotYours:
			result.NotYours = append(result.NotYours, ids[i])
		case store.AckStale:
			result.Stale = append(result.Stale, ids[i])
		case undecided:
			result.Undecided = append(result.Undecided, ids[i])
		}
	}
	return result
}
