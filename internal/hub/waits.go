package hub

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/node"
	"github.com/c3po-dev/c3po/internal/store"
)

// subscribeTimeout is how long a wait lets the subscription come first. If it
// takes longer the wait looks at once and is signalled when it stands.
const subscribeTimeout = 2 * time.Second

// An ending is how a wait came to its end.
type ending int

const (
	found ending = iota
	timedOut
	drained
)

// A quest is what a wait is for.
type quest interface {
	// look says whether it was found.
	look(context.Context, *node.Waiter) (bool, error)
	// again is how long until the next look if nothing is heard; 0 for never.
	again() time.Duration
}

// looking is a quest that only what is heard can bring further.
type looking func(context.Context) (bool, error)

func (l looking) look(ctx context.Context, _ *node.Waiter) (bool, error) { return l(ctx) }
func (looking) again() time.Duration                                     { return 0 }

// await looks, and looks again whenever something happened to the agent, until the quest
// finds what it is for or the time is over. If the agent is renamed it goes on under the
// new name. A wait consumes nothing, so one that is cut off loses nothing.
func (box *inbox) await(ctx context.Context, timeout time.Duration, queues []c3po.AgentID, q quest) (end ending, err error) {
	if box.hub.isDraining() {
		return drained, nil
	}
	v, err := box.keepVigil(timeout, queues)
	if err != nil {
		return 0, err
	}
	defer func() { v.end(ctx, end == found) }()
	if end, err := v.subscribe(ctx); end == drained || err != nil {
		return end, err
	}
	for {
		ok, err := q.look(ctx, v.waiter)
		moved := false
		if err == nil && !ok || errors.Is(err, c3po.Superseded) {
			moved, err = box.goOn(ctx, err)
		}
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case err != nil:
			return 0, err
		case ok:
			return found, nil
		case moved:
			v.rename()
			continue // what came under the new name was not heard
		case v.late:
			return timedOut, nil
		}
		if box.rooms != nil && v.waiter.Listen(box.rooms) {
			continue // what was said there in the meantime was missed
		}
		if v.leave == nil {
			v.leave = box.hub.presence.Attach(ctx, box.space, box.id, box.place, node.Wait{State: box.state, PID: box.process()})
		}
		v.waiter.PassOn()
		v.pause = q.again()
		if end, err := v.sleep(ctx); end == drained || err != nil {
			return end, err
		}
	}
}

// livesByConnection says that the caller is gone when its wait is cut off. It holds for
// callers that name their run, as c3po's session processes do: they wait all the time.
// Others interrupt a wait to do something else; their calls show that they live.
func (me *identity) livesByConnection() bool {
	return me.caller.Run != me.caller.Session && !me.hub.isDraining()
}

// process is the one of this host that the caller is, or that its run is; 0 if that
// is not known.
func (me *identity) process() int {
	if me.caller.PID > 0 {
		return me.caller.PID
	}
	if run, ok := c3po.ParseProcessRun(me.caller.Run); ok && me.hub.host != "" && run.Host == me.hub.host {
		return run.PID
	}
	return 0
}

// WaitForMessage waits for the next mail this session was not yet given, or
// with MessageID for the answer to that message.
func (a *Actor) WaitForMessage(ctx context.Context, in c3po.WaitInput) (c3po.WaitResult, error) {
	if err := a.enter(ctx); err != nil {
		return c3po.WaitResult{}, err
	}
	timeout, err := a.hub.checkWait("timeout", in.Timeout)
	if err != nil {
		return c3po.WaitResult{}, err
	}
	if timeout == 0 {
		timeout = a.hub.limits.WaitDefault
	}
	if in.Kind != "" && in.Kind != c3po.KindIncoming {
		return c3po.WaitResult{}, refuse("kind is %q; it must be incoming or left out", in.Kind)
	}
	after, err := checkAfter(in.After)
	if err != nil {
		return c3po.WaitResult{}, err
	}
	if in.MessageID != "" {
		return a.inbox.waitForAnswer(ctx, in, timeout, after)
	}
	return a.inbox.waitForNext(ctx, in.Kind == c3po.KindIncoming, timeout, in.After)
}

func checkAfter(after *int64) (int64, error) {
	if after == nil {
		return 0, nil
	}
	if *after < 0 {
		return 0, refuse("after cannot be negative")
	}
	return *after, nil
}

func (box *inbox) waitForNext(ctx context.Context, incoming bool, timeout time.Duration, after *int64) (c3po.WaitResult, error) {
	last, looks, claimed := store.NextMessage{}, 0, store.Claimed{}
	box.rooms = []c3po.AgentID{}
	if after != nil {
		last.Seq = *after
	}
	var halted bool
	box.state = c3po.SessionWaiting
	end, err := box.await(ctx, timeout, box.queues(), minding{func(ctx context.Context) (bool, error) {
		looks++
		next, err := box.nextMessage(ctx, incoming, after)
		last, box.place = next, next.Node
		if err != nil || next.Entry != nil {
			return next.Entry != nil, err
		}
		if halted = box.isNewlyPaused(next.Paused); next.Paused != "" {
			return halted, nil
		}
		claimed, err = box.claimNext(ctx, after)
		if claimed.Entry != nil {
			box.took = claimed.Entry.Message.ToAgent
		}
		return claimed.Entry != nil, err
	}, box.identity})
	if err != nil {
		return c3po.WaitResult{}, err
	}
	result := c3po.WaitResult{Unacked: last.Count, Cursor: last.Seq}
	if claimed.Entry != nil {
		return box.handOver(ctx, claimed, last, incoming, after)
	}
	switch {
	case end == timedOut && last.Paused != "", end == found && last.Entry == nil && halted:
		result.Outcome = whilePaused(last.Paused, timeout, end == timedOut)
	case end == found:
		if err := box.withHandover(ctx, last.Entry); err != nil {
			return c3po.WaitResult{}, err
		}
		if looks > 1 {
			box.hub.meter.Woken(last.Now.Sub(last.Entry.Facts.Accepted))
		}
		result.Message = box.serveAt(*last.Entry, last.Now, last.Seq)
	case end == timedOut:
		result.Outcome = nothingCame(timeout, last.Count)
	case end == drained:
		result.Outcome = callAgain("")
	}
	return result, nil
}

// handOver answers a wait with queue mail. The claim is itself an event, so the reader's
// position is read again: a reader that later gives an earlier position did not get this
// answer. Mail of its own that arrived in the meantime stays ahead of it.
func (box *inbox) handOver(ctx context.Context, claimed store.Claimed, last store.NextMessage, incoming bool, after *int64) (c3po.WaitResult, error) {
	if next, err := box.nextMessage(ctx, incoming, after); err == nil {
		last = next
		if next.Entry != nil {
			last.Seq = min(next.Seq, next.Entry.Message.Seq-1)
		}
	}
	return c3po.WaitResult{
		Message: box.serveAt(*claimed.Entry, claimed.Now, last.Seq), Unacked: last.Count + 1, Cursor: last.Seq,
	}, nil
}

// nextMessage asks the store for what this reader was not given. What is damaged is
// buried, and skipped even if that fails: other mail must not wait behind it.
func (box *inbox) nextMessage(ctx context.Context, incoming bool, after *int64) (store.NextMessage, error) {
	query := store.NextQuery{Run: box.caller.Run, Reader: box.caller.Reader(), Incoming: incoming}
	if after != nil {
		query.MinSeq, query.Positioned = *after, true
	}
	query.Given = box.hub.notes.GivenTo(box.space, box.id, query.Reader, after)
	for {
		next, err := box.hub.store.Next(ctx, box.space, box.id, query)
		if err != nil {
			return store.NextMessage{}, box.dropIfSuperseded(err)
		}
		if next.Entry == nil || !next.Entry.Corrupt {
			if after == nil {
				box.hub.notes.AddLook(box.space, box.id, query.Reader, next)
			}
			if next.Rooms && next.Paused == "" {
				return box.nextPost(ctx, next, query)
			}
			return next, nil
		}
		box.bury(ctx, *next.Entry)
		query.Given = append(query.Given, next.Entry.Message.ID)
	}
}

// Pending shows unacked mail without recording that it was seen, and with a
// timeout waits until there is some.
func (a *Actor) Pending(ctx context.Context, in c3po.PendingInput) (c3po.PendingResult, error) {
	enter := a.enter
	if in.State == c3po.SessionClosed {
		enter = a.enterForClosed
	}
	if err := enter(ctx); err != nil {
		return c3po.PendingResult{}, err
	}
	timeout, err := a.hub.checkWait("timeout", in.Timeout)
	if err != nil {
		return c3po.PendingResult{}, err
	}
	after, err := checkAfter(in.After)
	if err != nil {
		return c3po.PendingResult{}, err
	}
	switch {
	case in.State != "" && !in.State.Known():
		return c3po.PendingResult{}, refuse("state is %q; it must be idle, working, failed, dialog, unarmed, off, unattended, unknown or closed", in.State)
	case in.State != "":
		a.inbox.state = in.State
	case in.Asleep:
		a.inbox.state = c3po.SessionUnarmed
	default:
		a.inbox.state = c3po.SessionWaiting
	}
	if timeout > 0 {
		a.inbox.rooms = []c3po.AgentID{}
	}
	var page store.InboxPage
	var said store.RoomMail
	var quota *untilQuota
	look := func(ctx context.Context) (bool, error) {
		page, err = a.inbox.pageFor(ctx, in, after)
		said = store.RoomMail{}
		if err == nil && page.Paused != "" && in.Paused == nil {
			return len(page.Entries) > 0 || a.isNewlyPaused(page.Paused), nil
		}
		if err == nil && in.Paused == nil {
			a.isNewlyPaused("")
		}
		if err == nil && page.Rooms {
			said, err = a.inbox.unread(ctx, after)
		}
		if err == nil && said.Loud() > 0 {
			page, err = a.inbox.withPosts(ctx, page, c3po.GetMessagesInput{Cursor: in.Cursor, Limit: in.Limit}, after, c3po.NotifyAll)
		}
		changed := in.Paused != nil && *in.Paused != page.Paused
		return changed || len(page.Entries) > 0, err
	}
	end := found
	switch {
	case timeout == 0:
		moved := false
		if _, err = look(ctx); err == nil {
			moved, err = a.goOnIfEmpty(ctx, page)
		}
		if moved {
			_, err = look(ctx)
		}
	default:
		var q quest = minding{look, &a.identity}
		if in.State == c3po.SessionClosed || a.caller.Role == c3po.RoleRunner {
			quota = &untilQuota{quest: q, box: &a.inbox}
			q = quota
		}
		end, err = a.inbox.await(ctx, timeout, a.queues(), q)
		if end == timedOut && quota != nil && quota.left > 0 {
			page, said = store.InboxPage{Seq: after, Paused: page.Paused}, store.RoomMail{} // it stays new
		}
	}
	if err != nil {
		return c3po.PendingResult{}, err
	}
	if end == drained {
		return c3po.PendingResult{Outcome: callAgain("")}, nil
	}
	list := messageList(page, a.inbox.show)
	if a.caller.Role == c3po.RoleRunner {
		blank(list.Messages, func(c3po.Message) bool { return true })
	} else if page.Paused != "" && timeout > 0 {
		blank(list.Messages, func(m c3po.Message) bool { return m.FromAgent != c3po.Human })
	}
	result := c3po.PendingResult{Pending: c3po.Pending{Count: list.Count, Messages: list.Messages, Seq: page.Seq, Next: list.Next, RoomUnread: said.Unread() - said.Loud()}}
	if in.Paused != nil || page.Paused != "" {
		result.Paused = &page.Paused
	}
	if end == timedOut {
		result.Outcome = nothingCame(timeout, page.Count)
	}
	return result, nil
}

// pageFor reads a page of pending mail. While the caller is paused only a person's words are on
// it, each once, and its position stays before what is kept back. A caller that gave what it
// knows of its pause keeps silent by itself, and is shown all.
func (box *inbox) pageFor(ctx context.Context, in c3po.PendingInput, after int64) (store.InboxPage, error) {
	page, err := box.pageOf(ctx, box.id, box.caller.Run, in.Cursor, in.Limit, after, in.Paused == nil)
	if err != nil || in.Paused != nil {
		return page, err
	}
	if in.After != nil {
		if ahead := box.hub.bindings.ahead(box.key(), after); len(ahead) > 0 {
			page.Entries = slices.DeleteFunc(page.Entries, func(e store.Entry) bool { return ahead[e.Message.ID] != 0 })
		}
	}
	if page.Paused == "" {
		return page, nil
	}
	page.Seq, page.Count = after, len(page.Entries)
	box.ahead = map[c3po.MessageID]int64{}
	for _, e := range page.Entries {
		box.ahead[e.Message.ID] = e.Message.Seq
	}
	return page, nil
}

// blank keeps what no writer wrote: that there is mail and from whom, not what it says.
func blank(messages []c3po.Message, whose func(c3po.Message) bool) {
	for i, m := range messages {
		if !whose(m) {
			continue
		}
		messages[i] = c3po.Message{
			ID: m.ID, MessageID: m.MessageID, FromAgent: m.FromAgent, ToAgent: m.ToAgent, Room: m.Room, Kind: m.Kind,
			Timestamp: m.Timestamp, Priority: m.Priority, ExpectsReply: m.ExpectsReply, Seq: m.Seq,
		}
	}
}
