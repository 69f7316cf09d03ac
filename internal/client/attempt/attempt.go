// Package attempt makes a call again while that can help, and remembers of all
// attempts together whether one of them may have been carried out. The last error
// alone does not say so: that a repeat was refused tells nothing about the call
// whose answer was lost. It needs nothing, and everything that tries again or waits
// between two tries may use it: the client, the store, a coordinator's own work.
package attempt

import (
	"context"
	"math/rand/v2"
	"time"
)

// A Verdict is what is known about one attempt.
type Verdict int

// The verdicts.
const (
	Final  Verdict = iota // it was answered, or a repeat cannot help
	Undone                // it was certainly not carried out; a repeat may help
	Doubt                 // it may have been carried out; a repeat may tell
	Lost                  // it may have been carried out, and a repeat cannot tell
)

// Pace says how long to go on.
type Pace struct {
	First, Max time.Duration // the pause after the first attempt, and the longest
	Patience   time.Duration // from the first failure on; 0: as long as the context lasts
}

// Repeat makes attempts until one is final or the time is over. It gives the error
// of the last, and whether any attempt may have been carried out.
func Repeat(ctx context.Context, pace Pace, try func(inDoubt bool) (Verdict, error)) (inDoubt bool, err error) {
	var giveUp time.Time
	for pause := pace.First; ; pause = min(2*pause, pace.Max) {
		var verdict Verdict
		verdict, err = try(inDoubt)
		inDoubt = inDoubt || verdict == Doubt || verdict == Lost
		if verdict == Final || verdict == Lost || ctx.Err() != nil {
			return inDoubt, err
		}
		if giveUp.IsZero() {
			giveUp = endOf(ctx, pace.Patience)
		}
		wait := Jitter(pause)
		if !giveUp.IsZero() && time.Now().Add(wait).After(giveUp) || !Sleep(ctx, wait) {
			return inDoubt, err
		}
	}
}

// endOf is the earlier of the end of patience and of the context; zero if neither ends.
func endOf(ctx context.Context, patience time.Duration) time.Time {
	end, ends := ctx.Deadline()
	if patience == 0 {
		return end
	}
	if own := time.Now().Add(patience); !ends || own.Before(end) {
		return own
	}
	return end
}

// A Backoff doubles from its least to its most.
type Backoff struct {
	Min, Max time.Duration
	next     time.Duration
}

// Step is the next pause.
func (b *Backoff) Step() time.Duration {
	now := max(b.next, b.Min)
	b.next = min(2*now, b.Max)
	return now
}

// Reset begins anew.
func (b *Backoff) Reset() { b.next = 0 }

// Sleep reports whether the whole time passed.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}

// Jitter keeps callers that failed together from coming back all at once.
func Jitter(d time.Duration) time.Duration { return d/2 + rand.N(d) } // #nosec G404 -- spreads callers, hides nothing
