package runner

import (
	"errors"
	"testing"
	"time"
)

func TestRunsThatBringNothingAreFollowedByRestsThatGrow(t *testing.T) {
	t.Parallel()
	p := newPace(0)
	for i, step := range []struct {
		exit int
		err  error
		idle bool
		want time.Duration
	}{
		{exit: 1, want: time.Second},
		{idle: true, want: 2 * time.Second},
		{err: errors.New("no image"), want: 4 * time.Second},
		{exit: 137, want: 8 * time.Second},
		{}, // a good run, and all is forgotten
		{exit: 1, want: time.Second},
	} {
		rest, why := p.restAfter(step.exit, step.err, step.idle)
		if rest != step.want || (why == "") != (rest == 0) {
			t.Errorf("step %d: rests %v because %q, want %v", i, rest, why, step.want)
		}
	}
	for range 20 {
		p.restAfter(1, nil, false)
	}
	if rest, _ := p.restAfter(1, nil, false); rest != maxRest {
		t.Errorf("it rests %v, want %v at the most", rest, maxRest)
	}
}

func TestAnHourHasOnlySoManyRuns(t *testing.T) {
	t.Parallel()
	p, noon := newPace(2), time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for i, step := range []struct {
		after time.Duration
		want  time.Duration
		begin bool
	}{
		{0, 0, true},
		{10 * time.Minute, 0, true},
		{20 * time.Minute, 40 * time.Minute, false},
		{time.Hour, 0, true},
		{time.Hour + time.Minute, 9 * time.Minute, false},
	} {
		now := noon.Add(step.after)
		if got := p.restUntilAllowed(now); got != step.want {
			t.Errorf("step %d: waits %v, want %v", i, got, step.want)
		}
		if step.begin {
			p.begin(now)
		}
	}
}
