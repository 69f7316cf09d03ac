package node

import (
	"slices"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	// StepTimeout bounds a store call that no caller waits for.
	StepTimeout = 5 * time.Second
	// GoodbyeTimeout bounds the last writes of a coordinator that stops.
	GoodbyeTimeout = 2 * time.Second
	// CallerIdle is how long a caller is remembered after its last call.
	CallerIdle = 10 * time.Minute
)

// InBatches does something for every item, a few at a time: one after another
// would wait for the disk once an item, all at once would be a stampede.
func InBatches[T any](items []T, do func(T)) {
	for batch := range slices.Chunk(items, 32) {
		var work sync.WaitGroup
		for _, item := range batch {
			work.Go(func() { do(item) })
		}
		work.Wait()
	}
}

// RefuseStopping is COORDINATOR_UNREACHABLE for calls to a coordinator that drains.
func RefuseStopping() *c3po.Error {
	return c3po.Errorf(c3po.CoordDown, "the coordinator is stopping").Suggest("Call another coordinator, or this one again in a moment.")
}

// RefuseCrowd is RATE_LIMITED for what one coordinator holds open no more of.
// It takes connections and memory for as long as it lasts.
func RefuseCrowd(what string, most int) *c3po.Error {
	return c3po.Errorf(c3po.RateLimited, "%d %s are open on this coordinator, which is the most", most, what).
		Suggest("End one of them first; one for each session is enough.")
}
