package session

import (
	"testing"
	"time"
)

func TestAnEditWaitsForItsLeaseAsLongAsAnswersUsuallyTake(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	l := leases{pace: pace{min: 100 * ms, max: time.Second}}
	wait := func(what string, want time.Duration) {
		t.Helper()
		if got := l.pace.patience(); got != want {
			t.Errorf("%s an edit waits %v, want %v", what, got, want)
		}
	}
	wait("while nothing is known", time.Second)
	l.answeredIn(2*ms, false)
	wait("for a quick coordinator", 100*ms)
	l.answeredIn(40*ms, false)
	l.answeredIn(40*ms, false)
	wait("for one that is busy", 320*ms)
	l.pace.silent = true
	wait("for one that is silent", 100*ms)
	for range 8 {
		l.answeredIn(2*ms, false)
	}
	wait("for one that was busy", 100*ms)
	l.answeredIn(200*ms, true)
	wait("after an answer that was late", 600*ms)
	l.answeredIn(2*ms, false)
	wait("after an outage", 100*ms)
	l.answeredIn(900*ms, true)
	wait("at the most", time.Second)
}
