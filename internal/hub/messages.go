package hub

import (
	"context"
	"fmt"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// SendMessage stores a message for its recipient and says what happens next.
// With WaitSeconds the answer comes back in the same call.
func (a *Actor) SendMessage(ctx context.Context, in c3po.SendInput) (c3po.Receipt, error) {
	receipt, wait, err := a.sendMessage(ctx, in)
	if err != nil {
		a.countRejected(err)
		return c3po.Receipt{}, err
	}
	if wait > 0 {
		err = a.awaitReply(ctx, &receipt, wait)
	}
	return receipt, err
}

// sendMessage also says how long the sender waits for an answer.
func (a *Actor) sendMessage(ctx context.Context, in c3po.SendInput) (c3po.Receipt, time.Duration, error) {
	if err := a.enter(ctx); err != nil {
		return c3po.Receipt{}, 0, err
	}
	if _, brief := c3po.BriefName(in.Target); brief {
		to, err := a.resolveAgent(ctx, in.Target, c3po.ParseTarget)
		if err != nil {
			return c3po.Receipt{}, 0, err
		}
		in.Target = string(to)
	}
	draft, err := a.draft(in)
	if err != nil {
		return c3po.Receipt{}, 0, err
	}
	wait, err := a.hub.checkWait("wait_seconds", in.WaitSeconds)
	if err != nil {
		return c3po.Receipt{}, 0, err
	}
	if draft.To.Reserved() && draft.To != c3po.Human && draft.To.Queue() == "" {
		return c3po.Receipt{}, 0, a.noAgent(ctx, draft.To)
	}
	durability, err := a.hub.store.Durability(ctx)
	if err != nil {
		return c3po.Receipt{}, 0, err
	}
	step := store.SendStep{Payer: a.caller.Payer, Draft: draft, Run: a.caller.Run, Durability: durability, FailIfAway: in.IfAway == "fail"}
	if draft.To == c3po.Human {
		step.Mailbox = true
	} else {
		step.RateLimit = a.hub.limits.SendsPerMinute
	}
	if draft.Thread == "" && draft.To != c3po.Human {
		step.Chain = a.hub.bindings.takeCause(a.key())
	}
	if draft.To.Queue() != "" {
		receipt, err := a.sendToQueue(ctx, step)
		return receipt, wait, err
	}
	stored, err := a.payingForMessage(draft, func(unpaid bool) (store.Stored, error) {
		step.Unpaid = unpaid
		return a.deliver(ctx, step)
	})
	if err != nil {
		a.announceSpent(ctx, stored.Spent, draft.To, err)
		return c3po.Receipt{}, 0, a.orOthers(ctx, draft.To, err)
	}
	a.recordAccepted(ctx, c3po.EventAccepted, stored, durability)
	if draft.Within > 0 && !stored.Repeat {
		a.hub.deadlines.Add(a.caller.Space, stored.Message.ID, draft.Within)
	}
	receipt := a.receipt(ctx, stored, durability)
	if to := stored.Message.ToAgent; to.Name() != draft.To.Name() && to.Queue() == "" {
		receipt.Notice = sentences(fmt.Sprintf("'%s' is called '%s' now", draft.To, to), receipt.Notice)
	}
	return receipt, wait, nil
}

// draft checks everything about a message that needs no store.
func (a *Actor) draft(in c3po.SendInput) (store.Draft, error) {
	to, err := c3po.ParseTarget(in.Target)
	if err != nil {
		return store.Draft{}, err
	}
	if err := checkGiven("message", in.Message); err != nil {
		return store.Draft{}, err
	}
	if err := checkText("message", in.Message, a.hub.limits.Characters); err != nil {
		return store.Draft{}, err
	}
	if err := checkText("context", in.Context, a.hub.limits.Characters); err != nil {
		return store.Draft{}, err
	}
	metadata, err := checkMetadata(in.Metadata, a.hub.limits.MetadataBytes)
	if err != nil {
		return store.Draft{}, err
	}
	err = checkLabels(label{"client_key", in.ClientKey, maxKeyBytes}, label{"thread", in.Thread, maxThreadBytes}, label{"content_type", in.ContentType, maxContentTypeBytes})
	if err != nil {
		return store.Draft{}, err
	}
	priority := in.Priority
	switch priority {
	case "":
		priority = c3po.Normal
	case c3po.Normal, c3po.Urgent:
	default:
		return store.Draft{}, refuse("%q is not a priority: normal or urgent", in.Priority)
	}
	switch in.IfAway {
	case "", "queue", "fail":
	default:
		return store.Draft{}, refuse("if_away is %q; it must be queue or fail", in.IfAway)
	}
	if in.DeadlineMS < 0 || in.DeadlineMS > int(a.hub.limits.MessageLife/time.Millisecond) {
		return store.Draft{}, refuse("deadline_ms is %d; it must be between 1 and %d", in.DeadlineMS, a.hub.limits.MessageLife/time.Millisecond)
	}
	draft := store.Draft{
		From: a.id, To: to, Kind: c3po.KindMessage, Thread: in.Thread, Priority: priority,
		ExpectsReply: in.ExpectsReply == nil || *in.ExpectsReply,
		Text:         in.Message, Context: in.Context, ContentType: in.ContentType, Metadata: metadata, Key: in.ClientKey,
		// A key that also names the thread is the name of a ticket: who chooses a new
		// one means another ticket, whatever it says.
		Distinct: in.ClientKey != "" && in.ClientKey == in.Thread,
	}
	if draft.ExpectsReply {
		draft.Within = time.Duration(in.DeadlineMS) * time.Millisecond
	}
	return draft, nil
}

func (a *Actor) receipt(ctx context.Context, stored store.Stored, durability c3po.Durability) c3po.Receipt {
	receipt := c3po.Receipt{Message: stored.Message, Durability: durability}
	receipt.Warning = a.warning(ctx, stored)
	receipt.Status = stored.State
	if stored.Message.ToAgent == c3po.Human {
		receipt.Recipient, receipt.Reachability = c3po.Offline, c3po.ReachPersonReturns
		receipt.Notice = sentences(a.notice, "a person reads this when they look; there is no session to wake")
		return receipt
	}
	to := stored.Recipient
	receipt.Recipient, receipt.Reachability = status(to), reachability(to)
	receipt.Notice = sentences(a.notice, a.absence(ctx, to))
	return receipt
}

// awaitReply completes a receipt with the answer, or with why there is none.
// The message is stored whatever happens here, so what goes wrong while waiting
// is told beside the receipt and never instead of it.
func (a *Actor) awaitReply(ctx context.Context, receipt *c3po.Receipt, wait time.Duration) error {
	reply, outcome, err := a.awaitAnswer(ctx, receipt.ID, wait, nil)
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		receipt.Wait = &c3po.WaitOutcome{
			Status: c3po.WaitRetry, Code: c3po.Timeout, MessageID: receipt.ID,
			Message:      fmt.Sprintf("The message was sent, but waiting for its answer failed: %s", c3po.AsError(err).Message),
			Suggestion:   fmt.Sprintf("Call wait_for_message with message_id %s.", receipt.ID),
			RetryAfterMS: retryAfter(),
		}
	case outcome != nil:
		receipt.Wait = outcome
	default:
		receipt.Reply = reply
	}
	return nil
}
