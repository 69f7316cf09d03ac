package faultrig

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// An Outcome is how a call ended, as far as its caller can know.
type Outcome string

// The outcomes.
const (
	Open    Outcome = "open"    // it has not come back, or its caller is gone
	OK      Outcome = "ok"      // it was done
	Failed  Outcome = "failed"  // it was not done
	Unknown Outcome = "unknown" // it may have been done
)

// The operations a Call can be.
const (
	opSend = "send"
	opRead = "read"
	opAck  = "ack"
)

// A Call is one attempt of one client, from the moment it was made.
type Call struct {
	Op       string
	Agent    c3po.AgentID // who made it
	To       c3po.AgentID // of a send
	Priority c3po.Priority
	Value    string // of a send: its text, which no other send has
	Got      []Seen // of a send that is ok one; of a read or an ack in the order of the answer
	Invoked  time.Time
	Returned time.Time // zero while open
	Outcome  Outcome
	Code     c3po.Code // of the error, if there was one
}

// Seen is a message as an answer showed it.
type Seen struct {
	ID    c3po.MessageID
	Value string
}

// A Recorder makes calls and writes all of them down. It is safe for concurrent
// use. The zero value is ready.
type Recorder struct {
	mu    sync.Mutex
	calls []*Call
}

// History is every call so far, in the order they were made.
func (r *Recorder) History() []Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]Call, len(r.calls))
	for i, call := range r.calls {
		all[i] = *call
		all[i].Got = slices.Clone(call.Got)
	}
	return all
}

// Count is how many calls of the kind had the outcome.
func (r *Recorder) Count(op string, outcome Outcome) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, call := range r.calls {
		if call.Op == op && call.Outcome == outcome {
			n++
		}
	}
	return n
}

// Attempt sends once. in.Message must be a text no other send has.
func (r *Recorder) Attempt(ctx context.Context, svc c3po.Service, from c3po.AgentID, in c3po.SendInput) (c3po.Receipt, error) {
	priority := in.Priority
	if priority == "" {
		priority = c3po.Normal
	}
	done := r.begin(Call{Op: opSend, Agent: from, To: c3po.AgentID(in.Target), Priority: priority, Value: in.Message})
	receipt, err := svc.SendMessage(ctx, in)
	done(err, Seen{ID: receipt.ID, Value: in.Message})
	return receipt, err
}

// Send attempts until the message is stored, refused for good, or ctx ends. It
// repeats under in.ClientKey, which must be set.
func (r *Recorder) Send(ctx context.Context, svc c3po.Service, from c3po.AgentID, in c3po.SendInput) (c3po.Receipt, error) {
	var receipt c3po.Receipt
	err := insist(ctx, func() (err error) {
		receipt, err = r.Attempt(ctx, svc, from, in)
		return err
	})
	return receipt, err
}

// Read reads one page of the inbox, and repeats until it is answered.
func (r *Recorder) Read(ctx context.Context, svc c3po.Service, agent c3po.AgentID, in c3po.GetMessagesInput) (c3po.MessageList, error) {
	var list c3po.MessageList
	err := insist(ctx, func() (err error) {
		done := r.begin(Call{Op: opRead, Agent: agent})
		list, err = svc.GetMessages(ctx, in)
		var got []Seen
		for _, m := range list.Messages {
			got = append(got, Seen{ID: m.ID, Value: m.Text()})
		}
		done(err, got...)
		return err
	})
	return list, err
}

// Ack acks what was read, and repeats until that is known to be done.
func (r *Recorder) Ack(ctx context.Context, svc c3po.Service, agent c3po.AgentID, ids []c3po.MessageID) error {
	return insist(ctx, func() error {
		done := r.begin(Call{Op: opAck, Agent: agent})
		result, err := svc.AckMessages(ctx, c3po.AckInput{MessageIDs: ids})
		var got []Seen
		for _, id := range slices.Concat(result.Acked, result.Already) {
			got = append(got, Seen{ID: id})
		}
		done(err, got...)
		if err == nil && len(result.Undecided) > 0 {
			return c3po.Errorf(c3po.RedisUnavailable, "%s", result.Notice)
		}
		return err
	})
}

// begin writes a call down before it is made; the returned function, how it
// ended.
func (r *Recorder) begin(call Call) (done func(err error, got ...Seen)) {
	call.Outcome, call.Invoked = Open, time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := &call
	r.calls = append(r.calls, kept)
	return func(err error, got ...Seen) {
		r.mu.Lock()
		defer r.mu.Unlock()
		kept.Returned, kept.Outcome = time.Now(), OutcomeOf(err)
		if err == nil {
			kept.Got = got
			return
		}
		kept.Code = c3po.AsError(err).Code
	}
}

// OutcomeOf says what an error means for what was asked. Only our own errors
// can say that nothing was done.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return OK
	}
	e, ours := errors.AsType[*c3po.Error](err)
	if !ours || e.Code == c3po.UnknownOutcome || e.Code == c3po.Internal {
		return Unknown
	}
	return Failed
}

// insist repeats what may be repeated.
func insist(ctx context.Context, attempt func() error) error {
	const pause = 20 * time.Millisecond
	for {
		err := attempt()
		if err == nil || ctx.Err() != nil || c3po.AsError(err).Code.Retry() == c3po.RetryNo {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}
