package hub

import (
	"context"
	"fmt"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/node"
	"github.com/c3po-dev/c3po/internal/store"
)

// recheckSlack lets the store's clock pass the end of a lease.
const recheckSlack = 500 * time.Millisecond

// claimLook is how often a wait for a queue's answer checks which agent has the message:
// a claim wakes no waiter.
const claimLook = 5 * time.Second

// noticePage is how much mail is searched for a notice that a wait has told.
const noticePage = 100

// An answerWait waits for the answer to one ticket. It ends early when no answer can be
// expected: the ticket was cancelled or expired, or something happened to the agent that
// has it during the wait. What was already so before the wait does not end it, because
// the receipt said it.
type answerWait struct {
	inbox   *inbox
	ticket  c3po.MessageID // as its asker knows it
	at      c3po.MessageID // the message it is by now
	answer  *store.Entry
	outcome *c3po.WaitOutcome
	asked   *store.Record // as it was at the first look
	since   *c3po.Asked   // as it was for the wait before; nil if there was none
	looked  bool          // at the ticket before, so a claim seen now happened during the wait
	silent  *bool         // whether a turn had ended without an answer; nil before the first look
	recheck time.Duration
	paused  string // why the answer is kept from the caller; empty if it is not
}

// waitForAnswer leaves the caller's place in its inbox where it was: the answer
// may be newer than mail it was not given yet.
func (box *inbox) waitForAnswer(ctx context.Context, in c3po.WaitInput, timeout time.Duration, after int64) (c3po.WaitResult, error) {
	id := in.MessageID
	entry, err := box.hub.store.Message(ctx, box.space, id)
	switch {
	case err != nil:
		return c3po.WaitResult{}, err
	case entry == nil:
		return c3po.WaitResult{}, store.RefuseNoMessage(id)
	}
	if mine, err := box.isMe(ctx, entry.Message.FromAgent); err != nil || !mine {
		if err != nil {
			return c3po.WaitResult{}, err
		}
		return c3po.WaitResult{}, c3po.Errorf(c3po.Forbidden, "message '%s' was not sent by you", id).
			Suggest("Only its sender can wait for the answer to a message; use the id of your own receipt.")
	}
	state := c3po.SessionWorking // other mail does not end this wait
	if entry.Message.Kind == c3po.KindApproval {
		state = c3po.SessionDialog
	}
	reply, outcome, err := box.awaitAnswer(ctx, id, timeout, in.Asked, state)
	if err != nil {
		return c3po.WaitResult{}, err
	}
	result := c3po.WaitResult{Outcome: outcome, Cursor: after}
	if reply != nil {
		result.Message = *reply
		result.Unacked, err = box.hub.store.InboxSize(ctx, box.space, box.id)
	}
	return result, err
}

// awaitAnswer waits for the first answer to a message of the caller's. Since is where the
// previous wait ended, if this one continues it.
func (box *inbox) awaitAnswer(ctx context.Context, id c3po.MessageID, timeout time.Duration, since *c3po.Asked, state c3po.SessionState) (*c3po.Message, *c3po.WaitOutcome, error) {
	wait := &answerWait{inbox: box, ticket: id, at: id, since: since}
	box.state = state
	end, err := box.await(ctx, timeout, nil, wait)
	switch {
	case err != nil:
		return nil, nil, err
	case end == drained:
		return nil, wait.withResumePoint(callAgain(id)), nil
	case end == timedOut && wait.paused != "":
		outcome := whilePaused(wait.paused, timeout, true)
		outcome.MessageID = id
		return nil, wait.withResumePoint(outcome), nil
	case end == timedOut:
		return nil, wait.withResumePoint(notAnswered(timeout, id)), nil
	case wait.outcome != nil:
		if wait.outcome.Status == c3po.WaitUnanswered {
			box.dropNotices(ctx, id)
		}
		return nil, wait.outcome, nil
	}
	// The store does not say when it read this. Our clock may be behind its own,
	// but nothing is served before it was accepted.
	now := time.Now().UTC()
	if now.Before(wait.answer.Facts.Accepted) {
		now = wait.answer.Facts.Accepted
	}
	reply := box.serve(*wait.answer, now)
	return &reply, nil, nil
}

// dropNotices acks the system's notices about a ticket: the end of a wait has just said the same.
func (box *inbox) dropNotices(ctx context.Context, ticket c3po.MessageID) {
	page, err := box.hub.store.Inbox(ctx, box.space, box.id, store.InboxQuery{Run: box.caller.Run, Limit: noticePage, Bytes: box.hub.limits.PageBytes})
	var notices []c3po.MessageID
	for _, entry := range page.Entries {
		if m := entry.Message; m.Kind == c3po.KindNotice && m.MessageID == ticket {
			notices = append(notices, m.ID)
		}
	}
	if err == nil && len(notices) > 0 {
		_, err = box.ackAll(ctx, notices)
	}
	if err != nil {
		box.hub.log.InfoContext(ctx, "cannot ack a notice that a wait has told", "message_id", ticket, "err", err)
	}
}

// again is how long until a look is due although nothing was heard.
func (w *answerWait) again() time.Duration { return w.recheck }

// look follows the ticket to where it is, and sees whether the wait is over.
func (w *answerWait) look(ctx context.Context, waiter *node.Waiter) (bool, error) {
	for range ticketMoves {
		entry, err := w.inbox.hub.store.Message(ctx, w.inbox.space, w.at)
		if err != nil {
			return false, err
		}
		if entry == nil {
			return false, store.RefuseNoMessage(w.ticket)
		}
		next, err := w.readAnswers(ctx, *entry)
		switch {
		case err != nil:
			return false, err
		case w.answer != nil:
			return w.mayHandOver(ctx, waiter)
		case next != "":
			w.at, w.asked, w.silent = next, nil, nil
			continue
		}
		if w.outcome = ticketEnded(w.ticket, *entry); w.outcome != nil {
			return true, nil
		}
		if w.outcome = w.leftUnanswered(*entry); w.outcome != nil {
			return true, nil
		}
		return w.lookAtAsked(ctx, *entry, waiter)
	}
	return false, nil
}

// mayHandOver reports whether the wait ends with the answer that was found. While the caller
// is paused only a person's is handed over.
func (w *answerWait) mayHandOver(ctx context.Context, waiter *node.Waiter) (bool, error) {
	if w.answer.Message.FromAgent == c3po.Human {
		return true, nil
	}
	waiter.Follow(w.inbox.id)
	why, err := w.inbox.pausedWhy(ctx)
	if err != nil {
		return false, err
	}
	halted := w.inbox.isNewlyPaused(why)
	if w.paused = why; why == "" {
		return true, nil
	}
	w.answer = nil
	if halted {
		w.outcome = whilePaused(why, 0, false)
		w.outcome.MessageID = w.ticket
	}
	return halted, nil
}

// readAnswers finds the first answer, or where the ticket was handed to.
func (w *answerWait) readAnswers(ctx context.Context, entry store.Entry) (next c3po.MessageID, err error) {
	for _, answered := range entry.Facts.Answers {
		if answered.MovedTo != "" {
			next = answered.MovedTo
			continue
		}
		answer, err := w.inbox.hub.store.Message(ctx, w.inbox.space, answered.ID)
		switch {
		case err != nil:
			return "", err
		case answer == nil:
		case answer.Corrupt:
			w.inbox.bury(ctx, *answer)
		case answer.Message.Kind != c3po.KindReply: // which only who writes to Redis can bring about
		default:
			w.answer = answer
			return "", nil
		}
	}
	return next, nil
}

// leftUnanswered ends the wait if the agent has ended its turn without an answer since the
// wait began.
func (w *answerWait) leftUnanswered(entry store.Entry) *c3po.WaitOutcome {
	silent := !entry.Facts.Silent.IsZero()
	if w.silent == nil {
		known := silent
		if w.since != nil && w.since.ID != "" {
			known = w.since.Silent
		}
		w.silent = &known
	}
	if !silent || *w.silent {
		return nil
	}
	*w.silent = true
	return &c3po.WaitOutcome{
		Status: c3po.WaitUnanswered, Code: c3po.Timeout, MessageID: w.ticket, Message: silenceWords(entry),
		Suggestion: "An answer may still come, as mail. Go on without it, ask another agent, or withdraw the question with cancel.",
	}
}

// silenceWords say how an agent has left a question.
func silenceWords(entry store.Entry) string {
	if isRead(entry) {
		return fmt.Sprintf("'%s' has read it and ended its turn without an answer", entry.Message.ToAgent)
	}
	return fmt.Sprintf("'%s' was told of it several times and has not read it", entry.Message.ToAgent)
}

// lookAtAsked ends the wait if something has happened to the agent since the
// wait began.
func (w *answerWait) lookAtAsked(ctx context.Context, entry store.Entry, waiter *node.Waiter) (bool, error) {
	id, hub := entry.Message.ToAgent, w.inbox.hub
	if id == c3po.Human {
		return false, nil
	}
	queue, claim := id.Queue(), entry.Facts.Claim
	news := w.looked
	w.looked = true
	if queue != "" {
		w.recheck = claimLook
		if claim == nil {
			return false, nil
		}
		id = claim.By
	}
	// Follow it before looking at it, so that what happens in between is not missed.
	waiter.Follow(id)
	records, err := hub.store.Agents(ctx, w.inbox.space, []c3po.AgentID{id})
	if err != nil || len(records) == 0 {
		return false, err
	}
	now := records[0]
	if queue == "" {
		w.recheck = 0
	}
	if now.Attached && queue == "" {
		// Its coordinator may die without a word; then its lease runs out.
		w.recheck = hub.limits.NodeLease + recheckSlack
	}
	if w.asked == nil && queue == "" {
		w.asked = earlierRecord(w.since, now)
	}
	if w.asked == nil || w.asked.ID != now.ID {
		w.asked = &now
		if queue == "" || !news || now.Died.Before(claim.At) {
			return false, nil
		}
		// It claimed the message and died between two looks.
		w.asked = &store.Record{ID: now.ID, Run: now.Run}
	}
	w.outcome = askedChanged(w.ticket, *w.asked, now, isRead(entry))
	if w.outcome != nil && queue != "" {
		w.outcome.Message = fmt.Sprintf("%s, and it had claimed the message for the role '%s'", w.outcome.Message, queue)
		w.outcome.Suggestion = "Another agent with the role takes the message when the claim has lapsed: wait again with wait_for_message and this message_id, or withdraw it with cancel."
	}
	if w.outcome == nil {
		// What got better may get worse again.
		w.asked = &now
	}
	return w.outcome != nil, nil
}

// earlierRecord is what the previous wait knew of this agent; nil if it knew nothing of
// it.
func earlierRecord(since *c3po.Asked, now store.Record) *store.Record {
	if since == nil || since.ID != now.ID {
		return nil
	}
	was := store.Record{ID: now.ID, Run: now.Run, Epoch: since.Epoch, Online: since.Online, Attached: since.Attached}
	if since.Epoch != now.Epoch {
		was.Run = "another" // which one does not matter
	}
	if since.Dead {
		was.Died = now.Seen
	}
	if since.Paused {
		was.Paused = "paused"
	}
	return &was
}

// withResumePoint adds to the end of a wait what a next one can go on with, if its
// caller wants that.
func (w *answerWait) withResumePoint(outcome *c3po.WaitOutcome) *c3po.WaitOutcome {
	switch {
	case w.since == nil:
	case w.asked == nil:
		outcome.Asked = w.since
	default:
		outcome.Asked = &c3po.Asked{
			ID: w.asked.ID, Epoch: w.asked.Epoch, Online: w.asked.Online, Attached: w.asked.Attached, Dead: !w.asked.Died.IsZero(), Paused: w.asked.Paused != "", Silent: w.silent != nil && *w.silent,
		}
	}
	return outcome
}

func isRead(e store.Entry) bool {
	return len(e.Facts.Served) > 0 || e.Facts.Received != nil || e.State == c3po.StateAcked
}

// ticketEnded says why no answer will come.
func ticketEnded(id c3po.MessageID, e store.Entry) *c3po.WaitOutcome {
	outcome := &c3po.WaitOutcome{Code: c3po.Timeout, MessageID: id}
	switch {
	case !e.Facts.Cancelled.IsZero():
		outcome.Status, outcome.Message = c3po.WaitCancelled, "The message was cancelled"
		outcome.Suggestion = "Send a new message if you need the answer after all."
	case e.State == c3po.StateDead:
		outcome.Status = c3po.WaitExpired
		outcome.Message = fmt.Sprintf("'%s' did not read the message in its lifetime (%s)", e.Message.ToAgent, e.Reason)
		outcome.Suggestion = "Check agent status with list_agents, and ask again or ask somebody else."
	default:
		return nil
	}
	return outcome
}

// askedChanged says what has happened to the agent that was asked so that its
// answer will not come, or not soon; nil if nothing has.
func askedChanged(id c3po.MessageID, before, now store.Record, read bool) *c3po.WaitOutcome {
	outcome := &c3po.WaitOutcome{Code: c3po.AgentUnavailable, MessageID: id}
	const kept = "The message stays in its inbox. Wait again with wait_for_message and this message_id, ask somebody else, or withdraw it with cancel."
	outcome.Suggestion = kept
	if now.Attached && now.State == c3po.SessionClosed && now.Paused == "" && !read {
		return nil // its session has ended, and is resumed for this message
	}
	switch {
	case !now.Died.IsZero() && before.Died.IsZero() && (before.Online || !before.Left):
		// The process of an agent that has left ends a moment later, and changes nothing.
		outcome.Status = c3po.WaitDied
		outcome.Message = fmt.Sprintf("'%s' has died: its process ended before it answered", now.ID)
	case !now.Online && before.Online && (now.Left || before.Attached):
		// Silence alone does not end the wait: an agent at work may not call for a while.
		outcome.Status = c3po.WaitOffline
		outcome.Message = fmt.Sprintf("'%s' went offline before it answered", now.ID)
	case now.Run != before.Run && before.Run != "" && read:
		outcome.Status = c3po.WaitSuperseded
		outcome.Message = fmt.Sprintf("'%s' was started anew: the run that had read the message is gone", now.ID)
		outcome.Suggestion = "If it was not acked, the new run finds it in its inbox: wait again with wait_for_message and this message_id. Else ask again."
	case now.Paused == c3po.PausedForHuman && before.Paused == "":
		outcome.Status = c3po.WaitForHuman
		outcome.Message = fmt.Sprintf("'%s' has asked its person before it answered, and waits", now.ID)
	case now.Paused != "" && before.Paused == "":
		outcome.Status = c3po.WaitPaused
		outcome.Message = fmt.Sprintf("'%s' was paused before it answered: %s", now.ID, now.Paused)
	default:
		return nil
	}
	return outcome
}

// notAnswered is the end of a wait whose time was over.
func notAnswered(timeout time.Duration, id c3po.MessageID) *c3po.WaitOutcome {
	outcome := &c3po.WaitOutcome{
		Status: c3po.WaitTimeout, Code: c3po.Timeout, MessageID: id,
		Message:    fmt.Sprintf("No response received within %d seconds", timeout/time.Second),
		Suggestion: "The target agent may be offline or busy. Check agent status with list_agents.",
	}
	if _, to, _ := id.Split(); to == c3po.Human {
		outcome.Suggestion = "The question stays open until your user answers it."
	}
	return outcome
}
