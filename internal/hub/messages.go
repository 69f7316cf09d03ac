package hub

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// An outbox is what the caller writes: messages, replies, questions and posts.
type outbox struct {
	*identity
	people directory
}

func newOutbox(me *identity) outbox { return outbox{me, directory{me, roomView{me}}} }

// SendMessage stores a message for its recipient and says what happens next.
// With WaitSeconds the answer comes back in the same call.
func (a *Actor) SendMessage(ctx context.Context, in c3po.SendInput) (c3po.Receipt, error) {
	receipt, wait, err := a.outbox.sendMessage(ctx, in)
	if err != nil {
		a.outbox.countRejected(err)
		return c3po.Receipt{}, err
	}
	if wait > 0 {
		err = a.inbox.awaitReply(ctx, &receipt, wait)
	}
	return receipt, err
}

// sendMessage also says how long the sender waits for an answer.
func (o outbox) sendMessage(ctx context.Context, in c3po.SendInput) (c3po.Receipt, time.Duration, error) {
	// What is wrong with the message itself makes nobody an agent.
	_, brief := c3po.BriefName(in.Target)
	draft, err := o.draft(in)
	if err != nil && !brief {
		return c3po.Receipt{}, 0, err
	}
	if err := o.enter(ctx); err != nil {
		return c3po.Receipt{}, 0, err
	}
	if brief {
		to, err := o.people.resolve(ctx, in.Target, c3po.ParseTarget)
		if err != nil {
			return c3po.Receipt{}, 0, err
		}
		in.Target = string(to)
		if draft, err = o.draft(in); err != nil {
			return c3po.Receipt{}, 0, err
		}
	}
	draft.From = o.id // which it has since it entered
	wait, err := o.hub.checkWait("wait_seconds", in.WaitSeconds)
	if err != nil {
		return c3po.Receipt{}, 0, err
	}
	if draft.To.Reserved() && draft.To != c3po.Human && draft.To.Queue() == "" {
		return c3po.Receipt{}, 0, o.people.noAgent(ctx, draft.To)
	}
	if draft.Attachments, err = o.attached(ctx, in.Attach); err != nil {
		return c3po.Receipt{}, 0, err
	}
	o.putInTrace(ctx, &draft)
	durability, err := o.hub.store.Durability(ctx)
	if err != nil {
		return c3po.Receipt{}, 0, err
	}
	step := store.SendStep{Payer: o.caller.Payer, Draft: draft, Run: o.caller.Run, Durability: durability, FailIfAway: in.IfAway == "fail"}
	if o.id == c3po.Human {
		if ctx, err = o.proveOwn(ctx, "send_message", in); err != nil {
			return c3po.Receipt{}, 0, err
		}
		step.Proof = c3po.ProofOf(ctx)
	}
	if draft.To == c3po.Human {
		step.Mailbox = true
	} else {
		step.GoesBackTo = o.leading()
		step.RateLimit = o.hub.limits.SendsPerMinute
	}
	if draft.Thread == "" && draft.To != c3po.Human {
		step.Chain = o.hub.bindings.takeCause(o.key())
	}
	if draft.To.Queue() != "" {
		receipt, err := o.sendToQueue(ctx, step)
		return receipt, wait, err
	}
	stored, err := o.payingForMessage(draft, func(refusal error) (store.Stored, error) {
		step.Barred = refusal
		return o.deliver(ctx, step)
	})
	if err != nil {
		o.announceSpent(ctx, stored.Spent, draft.To, err)
		return c3po.Receipt{}, 0, o.people.orOthers(ctx, draft.To, err)
	}
	return o.accepted(ctx, stored, durability, func(receipt *c3po.Receipt) {
		if draft.Within > 0 && !stored.Repeat {
			o.hub.deadlines.Add(o.space, stored.Message.ID, draft.Within)
		}
		o.directReceipt(ctx, receipt, stored.Recipient)
		if to := stored.Message.ToAgent; to.Name() != draft.To.Name() {
			receipt.Notice = sentences(fmt.Sprintf("'%s' is called '%s' now", draft.To, to), receipt.Notice)
		}
	}), wait, nil
}

// draft checks everything about a message that needs no store.
func (o outbox) draft(in c3po.SendInput) (store.Draft, error) {
	to, err := c3po.ParseTarget(in.Target)
	if err != nil {
		return store.Draft{}, err
	}
	if err := checkGiven("message", in.Message); err != nil {
		return store.Draft{}, err
	}
	if err := checkText("message", in.Message, o.hub.limits.Characters); err != nil {
		return store.Draft{}, err
	}
	if err := checkText("context", in.Context, o.hub.limits.Characters); err != nil {
		return store.Draft{}, err
	}
	metadata, err := checkMetadata(in.Metadata, o.hub.limits.MetadataBytes)
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
	if in.DeadlineMS < 0 || in.DeadlineMS > int(o.hub.limits.MessageLife/time.Millisecond) {
		return store.Draft{}, refuse("deadline_ms is %d; it must be between 1 and %d", in.DeadlineMS, o.hub.limits.MessageLife/time.Millisecond)
	}
	draft := store.Draft{
		From: o.id, To: to, Kind: c3po.KindMessage, Thread: in.Thread, Priority: priority,
		ExpectsReply: in.ExpectsReply == nil || *in.ExpectsReply,
		Text:         in.Message, Context: in.Context, ContentType: in.ContentType, Metadata: metadata, Key: in.ClientKey,
		// A key that also names the thread is a ticket's name: a new name means another
		// ticket, even with the same text.
		Distinct: in.ClientKey != "" && in.ClientKey == in.Thread,
	}
	if draft.ExpectsReply {
		draft.Within = time.Duration(in.DeadlineMS) * time.Millisecond
	}
	return draft, nil
}

// accepted is the receipt of a stored message, which rest completes with when it will be
// seen.
func (o outbox) accepted(ctx context.Context, stored store.Stored, durability c3po.Durability, rest func(*c3po.Receipt)) c3po.Receipt {
	receipt := c3po.Receipt{Message: stored.Message, Durability: durability, Reachability: c3po.ReachUnknown}
	receipt.Status = stored.State
	fault := o.complete(ctx, func() {
		o.recordAccepted(ctx, c3po.EventAccepted, stored, durability)
		receipt.Warning = o.warning(ctx, stored)
		rest(&receipt)
		receipt.Notice = sentences(receipt.Notice, whenPaused(stored.SenderPaused))
	})
	receipt.Notice = sentences(receipt.Notice, fault)
	return receipt
}

// complete runs what an answer needs once its change is stored. That must not become an
// error any more, so a panic is logged and becomes a notice.
func (me *identity) complete(ctx context.Context, rest func()) (notice string) {
	defer func() {
		if p := recover(); p != nil {
			me.hub.log.ErrorContext(ctx, "panic after a change was stored", "panic", p, "stack", string(debug.Stack()))
			notice = "it is stored, but a fault of c3po made this answer incomplete; the coordinator's log says more"
		}
	}()
	rest()
	return ""
}

// directReceipt says when the recipient reads a message.
func (o outbox) directReceipt(ctx context.Context, receipt *c3po.Receipt, to store.Record) {
	if receipt.ToAgent == c3po.Human {
		receipt.Recipient, receipt.Reachability = c3po.Offline, c3po.ReachPersonReturns
		receipt.Notice = sentences(o.notice, "a person reads this when they look; there is no session to wake")
		return
	}
	receipt.Recipient, receipt.Reachability = status(to), reachOfMail(to, receipt.Message)
	if receipt.Reachability == c3po.ReachStarts && !receipt.ExpectsReply {
		receipt.Reachability = c3po.ReachOffline
		receipt.Notice = sentences(o.notice, fmt.Sprintf("'%s' is closed, and starts for mail that expects an answer; it reads this when it starts again", to.ID))
		return
	}
	receipt.Notice = sentences(o.notice, o.people.absence(ctx, to))
}

// awaitReply completes a receipt with the answer, or with why there is none. The message
// is stored whatever happens here, so what goes wrong while waiting goes beside the
// receipt and never replaces it.
func (box *inbox) awaitReply(ctx context.Context, receipt *c3po.Receipt, wait time.Duration) error {
	reply, outcome, err := box.awaitAnswer(ctx, receipt.ID, wait, nil, c3po.SessionWorking)
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
