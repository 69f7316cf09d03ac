package server

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// tidyEvery is how long little must have happened until memory is given back, and
	// littleHappens how much is taken at the most in that time: a call takes 20 to 60 kB.
	tidyEvery     = 5 * time.Second
	littleHappens = 4 << 20
	// worthTidying is the least that there must be to give back. Of a large heap it is a
	// quarter: going through it takes longer.
	worthTidying = 16 << 20
)

// headroom is how much larger than what lives the collector takes the heap to be.
const headroom = 32 << 20

// Headroom makes the garbage collector run less often while a process that keeps it has a
// small heap, as a coordinator without many waits has: it would be collected ten times a
// second under load. Nobody writes to it, so the system gives it no memory; a busy coordinator
// may leave twice as much uncollected.
func Headroom() any { return make([]byte, headroom) }

// tidying gives memory back to the system while little happens. Go keeps what it took for
// the busiest minute for as long as the next collection is far, and where callers only
// sleep that is a long time.
type tidying struct{}

// Run tidies until ctx ends.
func (tidying) Run(ctx context.Context) error {
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	for last := takeStock(); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			last = tidy(last)
		}
	}
}

// tidy gives memory back if little happened since the last time, and says what is there now.
func tidy(last stock) stock {
	now := takeStock()
	if !now.canBeTidied(last) {
		return now
	}
	debug.FreeOSMemory()
	return takeStock()
}

// A stock is what Go says of its memory.
type stock struct {
	taken uint64 // in all, since the process began
	live  uint64 // after the last collection
	spare uint64 // what a collection now would find, and what is free already
}

// canBeTidied says that little happened since the last time, and that there is enough to
// give back.
func (s stock) canBeTidied(last stock) bool {
	return s.taken-last.taken <= littleHappens && s.spare >= max(worthTidying, s.live/4)
}

func takeStock() stock {
	samples := []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(samples)
	s := stock{taken: samples[0].Value.Uint64(), live: samples[1].Value.Uint64(), spare: samples[3].Value.Uint64()}
	if objects := samples[2].Value.Uint64(); objects > s.live {
		s.spare += objects - s.live
	}
	return s
}
