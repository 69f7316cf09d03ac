package runner

import (
	"fmt"
	"time"
)

// A backoff doubles from its least to its most.
type backoff struct {
	least, most time.Duration
	next        time.Duration
}

func (b *backoff) step() time.Duration {
	now := max(b.next, b.least)
	b.next = min(2*now, b.most)
	return now
}

func (b *backoff) reset() { b.next = 0 }

const (
	restLeast = time.Second
	restMost  = 5 * time.Minute
	budgetFor = time.Hour
)

// A pace keeps an agent from running for nothing, again and again: a run that
// has failed, or that has left all mail as it was, is followed by a rest that
// grows, and there are only so many runs in an hour.
type pace struct {
	perHour int
	failing backoff
	began   []time.Time // the runs of the last hour
}

func newPace(perHour int) *pace {
	return &pace{perHour: perHour, failing: backoff{least: restLeast, most: restMost}}
}

// begin notes a run.
func (p *pace) begin(now time.Time) { p.began = append(p.began, now) }

// ended says how long to rest after a run, and why.
func (p *pace) ended(exit int, err error, idle bool) (rest time.Duration, why string) {
	switch {
	case err != nil:
		why = "the container could not be run"
	case exit != 0:
		why = fmt.Sprintf("the last run ended with %d", exit)
	case idle:
		why = "the last run has left all mail as it was"
	default:
		p.failing.reset()
		return 0, ""
	}
	return p.failing.step(), why
}

// full says how long to rest until another run is within the budget.
func (p *pace) full(now time.Time) time.Duration {
	for len(p.began) > 0 && now.Sub(p.began[0]) >= budgetFor {
		p.began = p.began[1:]
	}
	if p.perHour <= 0 || len(p.began) < p.perHour {
		return 0
	}
	return budgetFor - now.Sub(p.began[0])
}
