package faultrig_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/seed"
)

const (
	historyClients  = 3
	historiesAtOnce = 10
	// maxUnknown is how many calls of one history may stay unknown: each doubles
	// what the checker has to try.
	maxUnknown   = 5
	maxCheckTime = 10 * time.Second // of one history
)

func TestEveryHistoryOfAMailboxUnderFaultsIsOneThatAnUnbrokenMailboxCouldHave(t *testing.T) {
	histories, calls := faultrig.Size(10, 300), faultrig.Size(60, 300)
	every := 400 * time.Millisecond
	if faultrig.Torture() {
		every = 2 * time.Second
	}
	b := newBreakable(t, "")
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()

	var judged judgements
	over := make(chan struct{})
	go func() {
		defer close(over)
		for first := 0; first < histories && ctx.Err() == nil && !t.Failed(); first += historiesAtOnce {
			var batch sync.WaitGroup
			for i := first; i < min(first+historiesAtOnce, histories); i++ {
				batch.Go(func() {
					h := &mailHistory{b: b, box: c3po.AgentID(fmt.Sprintf("box-%d", i)), calls: calls}
					h.run(ctx)
					judged.add(h)
				})
			}
			batch.Wait()
		}
	}()
	faults := b.breakThings(every, over, nil)
	t.Logf("%d histories, %d calls, %d of them unknown for good; %s", judged.histories, judged.calls, judged.unknown, faults)
	faultrig.Hold(t, "the longest check", judged.slowest, maxCheckTime)
	if judged.histories != histories {
		t.Errorf("%d of %d histories were made", judged.histories, histories)
	}
	balanced(t, agent(t, b.coordinators[0].URL(), "auditor"))
	faultrig.Verdict{
		Row: "E1", Size: fmt.Sprintf("%d histories of %d clients with %d calls each", histories, historyClients, calls), Faults: faults,
		Holds: []faultrig.Invariant{faultrig.NothingStoredIsLost, faultrig.AckIsFinal, faultrig.OneMessageAKey, faultrig.OrderIsKept, faultrig.UnknownIsSaid},
		Lost:  judged.illegal,
	}.Record(t)
}

// judgements are what came of the histories so far.
type judgements struct {
	mu                                 sync.Mutex
	histories, calls, unknown, illegal int
	slowest                            time.Duration
}

// add judges a history that has ended, one at a time: the others are at work.
func (j *judgements) add(h *mailHistory) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if h.b.t.Failed() { // it was broken off
		return
	}
	began := time.Now()
	if got := judge(h.operations, 10*maxCheckTime); got != porcupine.Ok {
		j.illegal++
		h.b.t.Errorf("the history of %s is %s\n%s", h.box, got, h)
	}
	j.slowest = max(j.slowest, time.Since(began))
	j.histories++
	j.calls += len(h.operations)
	j.unknown += int(h.unknown.Load())
}

// A mailHistory is what several clients did to one mailbox at once.
type mailHistory struct {
	b       *breakable
	box     c3po.AgentID
	calls   int // of each client
	began   time.Time
	unknown atomic.Int32

	mu         sync.Mutex
	operations []porcupine.Operation
}

func (h *mailHistory) run(ctx context.Context) {
	h.began = time.Now()
	owner := h.b.lossy(0, h.box)
	h.until(ctx, "register", func() error {
		_, err := owner.RegisterAgent(ctx, c3po.RegisterInput{})
		return err
	})
	var work sync.WaitGroup
	for i := range historyClients {
		work.Go(func() { h.client(ctx, i) })
	}
	work.Wait()
	h.read(ctx, historyClients, owner) // what is there in the end
}

// client makes the calls of one of them: it sends as itself, and reads and acks
// as the owner of the mailbox, as another window of the same agent would.
func (h *mailHistory) client(ctx context.Context, i int) {
	self := c3po.AgentID(fmt.Sprintf("%s-%d", h.box, i))
	sender, owner := h.b.lossy(i, self), h.b.lossy(i, h.box)
	var seen []c3po.Message
	chance := seed.Rand(h.b.t, uint64(i))
	for n := range h.calls {
		switch dice := chance.IntN(10); {
		case ctx.Err() != nil || h.b.t.Failed():
			return
		case dice < 5:
			h.send(ctx, i, sender, uint16(i*h.calls+n))
		case dice < 8 || len(seen) == 0:
			seen = h.read(ctx, i, owner)
		default:
			h.ack(ctx, i, owner, seen[:min(len(seen), 1+chance.IntN(6))])
			seen = nil
		}
	}
}

func (h *mailHistory) send(ctx context.Context, i int, svc c3po.Service, number uint16) {
	in := c3po.SendInput{Target: string(h.box), Message: strconv.Itoa(int(number)), ClientKey: fmt.Sprintf("%s-%d;", h.box, number)}
	h.write(ctx, i, mailSend{number}, func() (mailDone, error) {
		_, err := svc.SendMessage(ctx, in)
		return mailDone{}, err
	})
}

func (h *mailHistory) ack(ctx context.Context, i int, svc c3po.Service, messages []c3po.Message) {
	h.write(ctx, i, mailAck{h.numbers(messages)}, func() (mailDone, error) {
		result, err := svc.AckMessages(ctx, c3po.AckInput{MessageIDs: idsOf(messages)})
		if err == nil && len(result.Acked)+len(result.Already) != len(messages) {
			err = c3po.Errorf(c3po.InvalidRequest, "an ack of %d messages answered %+v", len(messages), result)
		}
		number := map[c3po.MessageID]uint16{}
		for at, n := range h.numbers(messages) {
			number[messages[at].ID] = n
		}
		var done mailDone
		for _, id := range result.Acked {
			done.acked = append(done.acked, number[id])
		}
		return done, err
	})
}

// write makes a call that changes something. If nobody can know whether it was
// done, it is left at that a few times, and repeated otherwise.
func (h *mailHistory) write(ctx context.Context, i int, input any, attempt func() (mailDone, error)) {
	op := porcupine.Operation{ClientId: i, Input: input, Call: h.now()}
	repeated := false
	h.until(ctx, fmt.Sprint(input), func() error {
		done, err := attempt()
		switch {
		case err == nil:
			if repeated {
				done = mailDone{}
			}
			op.Output, op.Return = done, h.now()
			return nil
		case faultrig.OutcomeOf(err) != faultrig.Unknown:
			return err
		case h.unknown.Add(1) <= maxUnknown:
			op.Output, op.Return = mailUnknown{}, never
			return nil
		default:
			h.unknown.Add(-1)
			repeated = true
			return err
		}
	})
	h.add(op)
}

func (h *mailHistory) read(ctx context.Context, i int, svc c3po.Service) []c3po.Message {
	var messages []c3po.Message
	op := porcupine.Operation{ClientId: i, Input: mailRead{}}
	h.until(ctx, "read", func() error {
		op.Call = h.now() // a read that failed saw nothing
		list, err := svc.GetMessages(ctx, c3po.GetMessagesInput{Limit: 1000})
		if err == nil && list.Count != len(list.Messages) {
			err = c3po.Errorf(c3po.InvalidRequest, "%d of %d messages on one page", len(list.Messages), list.Count)
		}
		messages = list.Messages
		return err
	})
	op.Output, op.Return = mailList{h.numbers(messages)}, h.now()
	h.add(op)
	return messages
}

// until repeats what may be repeated, until it is done.
func (h *mailHistory) until(ctx context.Context, what string, attempt func() error) {
	for {
		err := attempt()
		if err == nil {
			return
		}
		if ctx.Err() != nil || c3po.AsError(err).Code.Retry() == c3po.RetryNo {
			h.b.t.Errorf("%s: %s: %v", h.box, what, errors.Join(err, ctx.Err()))
			return
		}
		faultrig.Pass(ctx, 10*time.Millisecond)
	}
}

func (h *mailHistory) numbers(messages []c3po.Message) []uint16 {
	var all []uint16
	for _, m := range messages {
		n, err := strconv.ParseUint(m.Text(), 10, 16)
		if err != nil {
			h.b.t.Errorf("%s was given %q, which nobody sent", h.box, m.Text())
		}
		all = append(all, uint16(n))
	}
	return all
}

func (h *mailHistory) now() int64 { return int64(time.Since(h.began)) }

func (h *mailHistory) add(op porcupine.Operation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.operations = append(h.operations, op)
}

// String is the history for who has to find out what went wrong.
func (h *mailHistory) String() string {
	text := ""
	for _, op := range h.operations {
		text += fmt.Sprintf("%d: %d to %d: %s\n", op.ClientId, op.Call, op.Return, mailbox(nil).DescribeOperation(op.Input, op.Output))
	}
	return text
}
