package bridge

import (
	"context"
	"errors"
	"time"

	"github.com/c3po-dev/c3po"
)

const (
	// reportTimeout is how long one report may take.
	reportTimeout = 10 * time.Second
	// reportPause is how long after one that failed the next is made: nobody may
	// touch the session for hours.
	reportPause = 5 * time.Second
)

// report tells the coordinator what the client has provably taken and been told.
func (b *Bridge) report(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.reportable:
		}
		limited, cancel := context.WithTimeout(ctx, reportTimeout)
		b.sendReport(limited)
		cancel()
	}
}

// reportSoon is called with the lock held.
func (b *Bridge) reportSoon() {
	if len(b.session.proved) == 0 && len(b.session.silent) == 0 && b.session.told == 0 {
		return
	}
	select {
	case b.reportable <- struct{}{}:
	default:
	}
}

// reportAgain is for an agent that is there. Of one that is not, settle reports.
func (b *Bridge) reportAgain() {
	if b.isSettled() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.reportSoon()
	}
}

// sendReport makes one attempt. What fails is sent with the next.
func (b *Bridge) sendReport(ctx context.Context) {
	b.sendTaken(ctx)
	b.sendSilent(ctx)
}

// sendSilent reports what was left unanswered. A coordinator that is older than this
// refuses it, and is not asked again.
func (b *Bridge) sendSilent(ctx context.Context) {
	b.mu.Lock()
	ids := b.session.silent[:min(len(b.session.silent), c3po.DefaultLimits().BatchIDs)]
	b.session.silent = b.session.silent[len(ids):]
	b.mu.Unlock()
	if len(ids) == 0 {
		return
	}
	_, err := b.to().Received(ctx, c3po.ReceivedInput{Silent: ids})
	if err == nil || errors.Is(err, c3po.InvalidRequest) {
		return
	}
	b.log.InfoContext(ctx, "cannot report what was left unanswered", "err", err)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.session.silent = append(ids, b.session.silent...)
	time.AfterFunc(reportPause, b.reportAgain)
}

// sendTaken reports what the client has taken and been told.
func (b *Bridge) sendTaken(ctx context.Context) {
	b.mu.Lock()
	in := c3po.ReceivedInput{MessageIDs: b.session.proved, Notified: b.session.told}
	if most := c3po.DefaultLimits().BatchIDs; len(in.MessageIDs) > most {
		in.MessageIDs = in.MessageIDs[:most]
	}
	b.session.proved, b.session.told = b.session.proved[len(in.MessageIDs):], 0
	b.mu.Unlock()
	if len(in.MessageIDs) == 0 && in.Notified == 0 {
		return
	}
	done, err := b.to().Received(ctx, in)
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil {
		b.log.InfoContext(ctx, "cannot report what was received", "err", err)
		b.session.proved = append(in.MessageIDs, b.session.proved...)
		b.session.told = max(b.session.told, in.Notified)
		time.AfterFunc(reportPause, b.reportAgain)
		return
	}
	b.session.proved = append(done.Undecided, b.session.proved...)
	b.session.drop(done.Acked) // an answer is acked by being received
	b.reportSoon()
}

// acks says that answers in the result of a call are acked once the client has it:
// it has named the call, and its hooks run, so that one of them will say so.
func (b *Bridge) acks(ctx context.Context) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return useOf(ctx) != "" && b.ran.Event != ""
}
