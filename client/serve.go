package client

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client/attempt"
)

// A Handler deals with one message. What it returns answers a question; a message that
// asks for nothing gets no answer. An error is the answer too, and is marked as one.
//
// Its context ends when the message is no longer this agent's to deal with: another
// agent of the queue has it, or another program has the agent's id.
type Handler func(ctx context.Context, m c3po.Message) (answer string, err error)

// keepEvery is how often an agent that is at work says that it is. A claim of a
// queue's message lapses after fifteen minutes of silence, an agent is offline after 90 seconds.
const keepEvery = 30 * time.Second

// Serve hands the agent's mail and that of its queues to a handler, one message at a time,
// until ctx ends; a message that was dealt with by then is still answered. Answers to the
// agent's own questions are left to Ask.
//
// Each message is answered once, whatever is killed meanwhile. A handler that was
// killed in the middle sees its message again, here or at another agent of the queue. So what
// else it does must be safe to do twice; the message's id tells whether it was done.
//
// It ends early with an error when another program takes the agent's id, and when an
// answer cannot be stored until somebody acts: when its budget is spent, for example.
func (c *Client) Serve(ctx context.Context, handle Handler) error {
	for {
		m, err := c.next(ctx)
		if err == nil {
			err = c.deal(ctx, m, handle)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// next waits for mail as long as it takes.
func (c *Client) next(ctx context.Context) (c3po.Message, error) {
	most := int(c3po.DefaultLimits().MaxWait / time.Second)
	var found c3po.Message
	err := c.persist(ctx, func() error {
		for {
			got, err := c.wire.WaitForMessage(ctx, c3po.WaitInput{Kind: c3po.KindIncoming, Timeout: most})
			if err != nil || got.Outcome == nil {
				found = got.Message
				return err
			}
			switch got.Outcome.Status {
			case c3po.WaitTimeout, c3po.WaitRetry:
			default: // it is paused, for example
				if !attempt.Sleep(ctx, time.Second) {
					return ctx.Err()
				}
			}
		}
	})
	return found, err
}

// deal has a message handled, and answers or acks it.
func (c *Client) deal(ctx context.Context, m c3po.Message, handle Handler) error {
	answer, failed, err := c.handled(ctx, m, handle)
	if err != nil || failed != nil && ctx.Err() != nil {
		return err // the message stays, for the next run or another agent
	}
	ctx, done := outlast(ctx, grace)
	defer done()
	if !m.ExpectsReply {
		return c.persist(ctx, func() error {
			_, err := c.wire.AckMessages(ctx, c3po.AckInput{MessageIDs: []c3po.MessageID{m.ID}})
			return err
		})
	}
	reply := c3po.ReplyInput{MessageID: m.ID, Response: answer}
	if failed != nil {
		reply.Response, reply.Status = failed.Error(), c3po.ReplyError
	}
	err = c.reply(ctx, reply)
	if refused(err) && failed == nil {
		// Its asker hears why: an answer can be too long, for example.
		err = c.reply(ctx, c3po.ReplyInput{MessageID: m.ID, Status: c3po.ReplyError, Response: "There is an answer, but it was refused: " + err.Error()})
	}
	if refused(err) {
		return nil // it was cancelled, or another agent has it by now
	}
	return err
}

func (c *Client) reply(ctx context.Context, in c3po.ReplyInput) error {
	in.ClientKey = rand.Text() // one for all tries
	return c.persist(ctx, func() error {
		_, err := c.wire.Reply(ctx, in)
		return err
	})
}

// grace is for how long what a handler has finished is still stored when serving ends.
const grace = 10 * time.Second

// outlast is a context that ends that much later than ctx.
func outlast(ctx context.Context, by time.Duration) (context.Context, func()) {
	later, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		attempt.Sleep(later, by)
		end()
	})
	return later, func() { stop(); end() }
}

// refused says that the same request never will be carried out.
func refused(err error) bool {
	return err != nil && c3po.AsError(err).Code.Retry() == c3po.RetryNo
}

// persist repeats a call while the coordinator, or its store, is away.
func (c *Client) persist(ctx context.Context, call func() error) error {
	_, err := attempt.Repeat(ctx, attempt.Pace{First: 100 * time.Millisecond, Max: 5 * time.Second}, func(bool) (attempt.Verdict, error) {
		err := call()
		if err == nil {
			return attempt.Final, nil
		}
		if code := c3po.AsError(err).Code; code.Retry() == c3po.RetrySameKey || code == c3po.RateLimited {
			return attempt.Doubt, err
		}
		return attempt.Final, err
	})
	return err
}

// handled runs the handler and says meanwhile that the agent is at work. The error is
// that the agent's id is another program's by now.
func (c *Client) handled(ctx context.Context, m c3po.Message, handle Handler) (answer string, failed, err error) {
	working, stop := context.WithCancelCause(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		for attempt.Sleep(working, keepEvery) {
			if err := c.keep(working, m); err != nil && working.Err() == nil {
				stop(err)
			}
		}
	}()
	answer, failed = handle(working, m)
	lost := context.Cause(working)
	stop(nil)
	<-over
	if errors.Is(lost, c3po.Superseded) {
		return "", nil, lost
	}
	return answer, failed, nil
}

// keep says that the agent is at work on a message. It fails if the message is
// not its own any more, not if the coordinator is away.
func (c *Client) keep(ctx context.Context, m c3po.Message) error {
	var err error
	if m.Claim != nil {
		_, err = c.wire.Claim(ctx, c3po.MessageInput{MessageID: m.ID})
	} else {
		_, err = c.wire.Ping(ctx, c3po.None{})
	}
	if errors.Is(err, c3po.Superseded) || refused(err) {
		return err
	}
	return nil
}
