package top

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client/attempt"
)

const (
	// maxLookInterval is how long a change that no event tells may stay unseen: that an
	// agent fell silent is nothing that happens.
	maxLookInterval = 3 * time.Second
	// minLookInterval is how long events are collected before the state is read again,
	// so that a busy space costs its watcher a few reads a second.
	minLookInterval = 250 * time.Millisecond
	// again is how long a refused stream is left alone.
	again = 2 * time.Second
)

// What the feed tells the model.
type (
	seenMsg   Snapshot     // the state was read; its events are not looked at
	flowMsg   []c3po.Event // these happened
	gapMsg    struct{}     // events are missing here
	linkMsg   struct{ lost bool }
	failedMsg struct{ err error } // the state could not be read
)

// A feed reads a source and tells what changed.
type feed struct {
	source  Source
	which   string
	tell    func(tea.Msg)
	changed chan struct{} // holds one word if there is something to look at

	mu   sync.Mutex
	flow []c3po.Event // not told yet
}

func newFeed(source Source, which string, tell func(tea.Msg)) *feed {
	return &feed{source: source, which: which, tell: tell, changed: make(chan struct{}, 1)}
}

// Run follows the source until ctx ends.
func (f *feed) Run(ctx context.Context, from Snapshot) error {
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() { f.follow(ctx, from.at) })
	work.Go(func() { f.look(ctx) })
	heartbeat := time.NewTicker(100 * time.Millisecond)
	defer heartbeat.Stop()
	lost := false
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-heartbeat.C:
		}
		if now := f.source.Lost(); now != lost {
			lost = now
			f.tell(linkMsg{lost})
			f.touch()
		}
		if flow := f.take(); len(flow) > 0 {
			f.tell(flowMsg(flow))
		}
	}
}

// follow collects events. The source hides restarts; what ends it is a refusal,
// which may be over later.
func (f *feed) follow(ctx context.Context, at c3po.EventCursor) {
	for ctx.Err() == nil {
		for entry, err := range f.source.Events(ctx, &at) {
			if err != nil {
				break
			}
			at = entry.At
			switch {
			case entry.Event != nil:
				f.add(*entry.Event)
			case !entry.Start.Recovered:
				f.tell(gapMsg{})
			}
			f.touch()
		}
		attempt.Sleep(ctx, again)
	}
}

// look reads the state when something has changed, and now and then.
func (f *feed) look(ctx context.Context) {
	for ctx.Err() == nil {
		var s Snapshot
		if err := s.read(ctx, f.source, f.which); err != nil {
			if ctx.Err() == nil {
				f.tell(failedMsg{err})
			}
		} else {
			f.tell(seenMsg(s))
		}
		attempt.Sleep(ctx, minLookInterval)
		quiet := time.NewTimer(maxLookInterval)
		select {
		case <-ctx.Done():
		case <-f.changed:
		case <-quiet.C:
		}
		quiet.Stop()
	}
}

// touch has the state read again soon.
func (f *feed) touch() {
	select {
	case f.changed <- struct{}{}:
	default: // it will be
	}
}

func (f *feed) add(e c3po.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flow = newest(append(f.flow, e))
}

func (f *feed) take() []c3po.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	flow := f.flow
	f.flow = nil
	return flow
}

// newest keeps what is shown.
func newest(events []c3po.Event) []c3po.Event {
	return events[max(0, len(events)-maxEvents):]
}
