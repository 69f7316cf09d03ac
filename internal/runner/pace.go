package runner

import (
	"fmt"
	"time"

	"github.com/c3po-dev/c3po/internal/client/attempt"
)

const (
	minRest   = time.Second
	maxRest   = 5 * time.Minute
	budgetFor = time.Hour
)

// A pace keeps an agent from running for nothing, again and again: a run that
// has failed, or that has left all mail as it was, is followed by a rest that
// grows, and there are only so many runs in an hour.
type pace struct {
	perHour int
	failing attempt.Backoff
	began   []time.Time // the runs of the last hour
}

func newPace(perHour int) *pace {
	return &pace{perHour: perHour, failing: attempt.Backoff{Min: minRest, Max: maxRest}}
}

// begin notes a run.
func (p *pace) begin(now time.Time) { p.began = append(p.began, now) }

// restAfter says how long to rest after a run, and why.
func (p *pace) restAfter(exit int, err error, idle bool) (rest time.Duration, why string) {
	switch {
	case err != nil:
		why = "the container could not be run"
	case exit != 0:
		why = fmt.Sprintf("the last run ended with %d", exit)
	case idle:
		why = "the last run has left all mail as it was"
	default:
		p.failing.Reset()
		return 0, ""
	}
	return p.failing.Step(), why
}

// restUntilAllowed says how long to rest until another run is within the budget.
func (p *pace) restUntilAllowed(now time.Time) time.Duration {
	for len(p.began) > 0 && now.Sub(p.began[0]) >= budgetFor {
		p.began = p.began[1:]
	}
	if p.perHour <= 0 || len(p.began) < p.perHour {
		return 0
	}
	return budgetFor - now.Sub(p.began[0])
}
