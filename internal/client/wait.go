package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client/attempt"
)

const (
	// slice is the longest a single request waits: what stands between a client
	// and a coordinator cuts requests that are silent for a minute.
	slice = 50 * time.Second
	// grace is what an answer may take beyond the wait itself.
	grace = 10 * time.Second
)

// waitable says that a wait of so many seconds is ours to cut into slices. Any
// other number goes to the coordinator as it is, which knows what to say to it.
func waitable(seconds int) bool {
	return seconds > 0 && seconds <= int(c3po.DefaultLimits().MaxWait/time.Second)
}

// WaitForMessage waits in slices until a message came or the time is over, and
// hides restarts of the coordinator meanwhile.
func (c *Client) WaitForMessage(ctx context.Context, in c3po.WaitInput) (c3po.WaitResult, error) {
	if in.Timeout == 0 {
		in.Timeout = int(c.wait / time.Second)
	}
	if !waitable(in.Timeout) {
		return call[c3po.WaitResult](ctx, c, "wait_for_message", in)
	}
	whole, cut := in.Timeout, false
	if most := int(c.maxWait / time.Second); most > 0 && whole > most {
		whole, cut = most, true
	}
	if in.MessageID != "" && in.Asked == nil {
		in.Asked = &c3po.Asked{} // what happens between two slices is not missed
	}
	var result c3po.WaitResult
	err := c.inSlices(ctx, whole, func(ctx context.Context, seconds int) (*c3po.WaitOutcome, error) {
		in.Timeout = seconds
		if err := c.attemptWait(ctx, "wait_for_message", in, seconds, &result); err != nil {
			return nil, err
		}
		if result.Outcome == nil {
			return nil, nil
		}
		// An answer to one message needs no position, and must not be lost to one.
		if in.MessageID == "" && result.Cursor > 0 && (in.After == nil || result.Cursor > *in.After) {
			after := result.Cursor
			in.After = &after
		}
		if result.Outcome.Asked != nil {
			in.Asked, result.Outcome.Asked = result.Outcome.Asked, nil
		}
		// The words are about the whole wait, whatever the slices were.
		result.Outcome.Message = strings.ReplaceAll(result.Outcome.Message,
			fmt.Sprintf("within %d seconds", seconds), fmt.Sprintf("within %d seconds", whole))
		return result.Outcome, nil
	})
	if cut && result.Outcome != nil && result.Outcome.Status == c3po.WaitTimeout {
		result.Outcome.Suggestion = fmt.Sprintf("Nothing is lost: call again to go on waiting. One call waits %d seconds here, because programs like yours "+
			"cut calls after 60; C3PO_TIMEOUT raises it.", whole)
	}
	return result, err
}

// Pending waits likewise if it was given a Timeout.
func (c *Client) Pending(ctx context.Context, in c3po.PendingInput) (c3po.PendingResult, error) {
	if !waitable(in.Timeout) {
		return call[c3po.PendingResult](ctx, c, "pending", in)
	}
	var result c3po.PendingResult
	err := c.inSlices(ctx, in.Timeout, func(ctx context.Context, seconds int) (*c3po.WaitOutcome, error) {
		in.Timeout = seconds
		if err := c.attemptWait(ctx, "pending", in, seconds, &result); err != nil {
			return nil, err
		}
		changed := in.Paused != nil && result.Paused != nil && *in.Paused != *result.Paused
		if result.Outcome == nil && len(result.Messages) == 0 && !changed {
			return &c3po.WaitOutcome{Status: c3po.WaitTimeout}, nil
		}
		return result.Outcome, nil
	})
	return result, err
}

func (c *Client) attemptWait(ctx context.Context, name string, in any, seconds int, out any) error {
	r, err := operation(name, in)
	if err != nil {
		return err
	}
	r.limit = time.Duration(seconds)*time.Second + grace
	return c.attempt(ctx, r, out)
}

// inSlices calls look until it brings something (no outcome), the time is
// over, or the coordinator refuses. A coordinator that this client has never
// reached is down, not restarting: that is said after Patience.
func (c *Client) inSlices(ctx context.Context, seconds int, look func(context.Context, int) (*c3po.WaitOutcome, error)) error {
	end := time.Now().Add(time.Duration(seconds) * time.Second)
	unreached := time.Now().Add(c.patience)
	pause := firstPause
	for {
		left := min(max(time.Until(end), 0), slice)
		outcome, err := look(ctx, max(1, int((left+time.Second-1)/time.Second)))
		var lost *lostError
		rest := pause
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && outcome == nil:
			return nil
		case err == nil && outcome.Status == c3po.WaitRetry:
			rest = max(firstPause, time.Duration(outcome.RetryAfterMS)*time.Millisecond)
		case err == nil && outcome.Status != c3po.WaitTimeout:
			return nil
		case err == nil:
			if time.Until(end) < time.Second/2 {
				return nil
			}
			rest, pause = 0, firstPause
		case errors.As(err, &lost):
			rest, pause = attempt.Jitter(pause), min(2*pause, maxPause)
			if !c.everReached() && time.Now().Add(rest).After(unreached) {
				return final(err, true)
			}
		case passing(err):
			rest, pause = attempt.Jitter(pause), min(2*pause, maxPause)
		default:
			return err
		}
		if time.Now().Add(rest).After(end) {
			return final(err, true)
		}
		if !attempt.Sleep(ctx, rest) {
			return ctx.Err()
		}
	}
}

// AwaitReply waits for the answer to a message that was accepted: it is the answer, or
// why there is none. Of a wait that the caller ended there is nothing to say.
func (c *Client) AwaitReply(ctx context.Context, id c3po.MessageID, seconds int) (*c3po.Message, *c3po.WaitOutcome) {
	got, err := c.WaitForMessage(ctx, c3po.WaitInput{MessageID: id, Timeout: seconds})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, nil
	case err != nil:
		e := c3po.AsError(err)
		return nil, &c3po.WaitOutcome{
			Status: c3po.WaitRetry, Code: e.Code, MessageID: id, Message: e.Message,
			Suggestion: "The message was stored. Wait for its answer again with wait_for_message and this message_id.",
		}
	case got.Outcome != nil:
		return nil, got.Outcome
	default:
		return &got.Message, nil
	}
}
