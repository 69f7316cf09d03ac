package faultrig

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"
)

const (
	lapEvery = 5 * time.Millisecond
	lapLoops = 40_000 // about a tenth of a millisecond
	// A machine that runs slower than at this part of its pace is slow. What came meanwhile
	// keeps it busy for so long afterwards.
	slowPace  = 1 / 1.5
	afterSlow = 250 * time.Millisecond
)

// A Pace is how fast this machine ran while something was measured. A virtual machine may
// get an eighth of its processors for a tenth of a second, every other second, and counts
// that as time it has run; then whatever is measured takes that much longer.
type Pace struct{ laps []lap }

// A lap is the same work each time: when it was done, and the processor time it took.
type lap struct {
	at   time.Time
	took time.Duration
}

// WatchPace takes a lap again and again, a fiftieth of one processor, until stop gives
// what it saw.
func WatchPace(t testing.TB) (stop func() Pace) {
	ctx, cancel := context.WithCancel(t.Context())
	seen := make(chan []lap, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		var laps []lap
		sum := uint64(0)
		for Pass(ctx, lapEvery) {
			before := threadTime()
			for range lapLoops {
				sum = sum*6364136223846793005 + 1442695040888963407
			}
			laps = append(laps, lap{time.Now(), threadTime() - before})
		}
		runtime.KeepAlive(sum)
		seen <- laps
	}()
	return func() Pace {
		cancel()
		return Pace{<-seen}
	}
}

// Steady tells of moments whether the machine ran at its pace, had done so for a while, and
// was to do so for as long as what begins then may take. How long that did take plays no
// part: otherwise it would leave out whatever is slow.
func (p Pace) Steady(ahead time.Duration) func(time.Time) bool {
	var took []time.Duration
	for _, l := range p.laps {
		took = append(took, l.took)
	}
	slices.Sort(took)
	type span struct{ from, to time.Time }
	var slow []span
	for i, l := range p.laps {
		// A quarter of the laps are taken at the best pace, whatever happens meanwhile.
		if float64(took[len(took)/4]) < slowPace*float64(l.took) {
			since := p.laps[max(i-1, 0)].at
			slow = append(slow, span{since.Add(-ahead), l.at.Add(afterSlow)})
		}
	}
	return func(at time.Time) bool {
		return !slices.ContainsFunc(slow, func(s span) bool { return at.After(s.from) && at.Before(s.to) })
	}
}
