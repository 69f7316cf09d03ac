package node

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client/attempt"
)

const (
	// maxTailEvents is how many of the latest events are kept for watchers; a watcher
	// that is further behind reads the log.
	maxTailEvents = 2048
	// relayEvery gathers the events of a burst: a read brings them all.
	relayEvery = 10 * time.Millisecond
	// WatchPage is how many events one step of a watch gives.
	WatchPage = 500
)

// A tail is the end of a space's log, read once for all who watch it here.
type tail struct {
	stands bool
	events []c3po.Event
	from   int64 // every event after this number, and up to the next, is there
	to     int64
}

// eventsAfter gives the events after a number; ok is false if some are not kept.
func (t *tail) eventsAfter(seq int64) (events []c3po.Event, ok bool) {
	if !t.stands || seq < t.from {
		return nil, false
	}
	at, _ := slices.BinarySearchFunc(t.events, seq+1, func(e c3po.Event, seq int64) int { return cmp.Compare(e.Seq, seq) })
	return slices.Clone(t.events[at:min(len(t.events), at+WatchPage)]), true
}

func (t *tail) add(events []c3po.Event) {
	if len(events) == 0 {
		return
	}
	if events[0].Seq > t.to+1 {
		// What lies between may be gone. A watch from before it reads the log, which
		// knows.
		t.events, t.from = nil, events[0].Seq-1
	}
	t.events = append(t.events, events...)
	t.to = events[len(events)-1].Seq
	if over := len(t.events) - maxTailEvents; over > 0 {
		t.from = t.events[over-1].Seq
		t.events = slices.Delete(t.events, 0, over)
	}
}

// A Watch is one reader of a space's events as they happen. It is used by one goroutine,
// and a slow reader delays no other: its events wait in the log.
type Watch struct {
	line     *line
	news     chan struct{} // holds one signal
	draining <-chan struct{}
	start    *c3po.StreamStart
	at       c3po.EventCursor // everything up to here was given
	began    int64            // where the epoch of at began
}

// Watch opens a stream of what changes in a space, after a place or from now on. It
// begins by saying whether it continues from that place. There are at most so many (0:
// any number), and all end when the coordinator drains.
func (w *Wakes) Watch(ctx context.Context, space c3po.Space, after *c3po.EventCursor, most int, draining <-chan struct{}) (*Watch, error) {
	watch := &Watch{line: w.lineToWatch(space), news: make(chan struct{}, 1), draining: draining}
	watch.line.addWatch(watch)
	if most > 0 && w.watchers.Load() > int64(most) {
		watch.Close()
		return nil, RefuseCrowd("streams of events", most)
	}
	// Events from here on are announced, so those that the first look does not
	// see are not missed.
	if err := watch.begin(ctx, after); err != nil {
		watch.Close()
		return nil, err
	}
	return watch, nil
}

// Close ends the stream.
func (w *Watch) Close() { w.line.removeWatch(w) }

// Next waits for what comes next. It fails when ctx ends or the coordinator
// stops; a ctx that ended does not end the stream.
func (w *Watch) Next(ctx context.Context) ([]c3po.StreamEvent, error) {
	for {
		if w.start != nil {
			start := w.start
			w.start = nil
			return []c3po.StreamEvent{{At: w.at, Start: start}}, nil
		}
		events, err := w.read(ctx)
		if err != nil {
			return nil, err
		}
		given, ended := w.give(events)
		switch {
		case len(given) > 0:
			return given, nil
		case ended:
			if err := w.begin(ctx, &w.at); err != nil {
				return nil, err
			}
			continue
		case w.start != nil:
			continue
		}
		select {
		case <-w.news:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-w.draining:
			return nil, RefuseStopping()
		}
	}
}

// begin finds where the stream continues after a place, or that it cannot.
func (w *Watch) begin(ctx context.Context, after *c3po.EventCursor) error {
	at, err := w.line.wakes.store.Sequence(ctx, w.line.space)
	if err != nil {
		return err
	}
	w.line.startTail(at.Last)
	from, reason := at.Last, c3po.ResetReason("")
	if after != nil {
		from, reason = at.Resume(*after)
	}
	w.at, w.began = c3po.EventCursor{Epoch: at.Epoch, Seq: from}, at.Began
	w.start = &c3po.StreamStart{Recovered: reason == "", Epoch: at.Epoch, Seq: from, Reason: reason}
	return nil
}

// read gives the next events: from the tail that all share, or for one that is
// behind it from the log. It begins anew if they are gone.
func (w *Watch) read(ctx context.Context) ([]c3po.Event, error) {
	w.line.mu.Lock()
	events, kept := w.line.tail.eventsAfter(w.at.Seq)
	w.line.mu.Unlock()
	if kept {
		return events, nil
	}
	log, space := w.line.wakes.store, w.line.space
	events, err := log.Events(ctx, space, w.at.Seq, WatchPage)
	if err != nil || len(events) == 0 || events[0].Seq == w.at.Seq+1 {
		return events, err
	}
	// A number can be left out. But if the log begins here, more is missing.
	at, err := log.Sequence(ctx, space)
	if err != nil || at.Oldest <= w.at.Seq+1 {
		return events, err
	}
	return nil, w.begin(ctx, &w.at)
}

// Discreet is an event as watchers see it. One in a room that is not public names
// nothing: the log keeps the address to wake members by.
func Discreet(event c3po.Event) c3po.Event {
	if room := event.Agent.Room(); room != "" {
		event.Agent = ""
		if event.ID != "" {
			event.Room = room
		}
	}
	return event
}

// give turns events into entries of the stream. It stops where the epoch ended.
func (w *Watch) give(events []c3po.Event) (given []c3po.StreamEvent, ended bool) {
	for _, event := range events {
		if event.Kind == c3po.EventRollback && event.Seq > w.began {
			return given, true
		}
		event = Discreet(event)
		w.at.Seq = event.Seq
		given = append(given, c3po.StreamEvent{At: w.at, Event: &event})
	}
	return given, false
}

// lineToWatch gives the line of a space to somebody who will watch it.
func (w *Wakes) lineToWatch(space c3po.Space) *line {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.of(space)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.addUser()
	return l
}

func (l *line) addWatch(w *Watch) {
	l.wakes.watchers.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watches[w] = struct{}{}
}

func (l *line) removeWatch(w *Watch) {
	l.wakes.watchers.Add(-1)
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.watches, w)
	if len(l.watches) == 0 {
		l.tail = tail{}
	}
	l.removeUser()
}

// startTail begins to keep events, unless another watcher has.
func (l *line) startTail(after int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.tail.stands {
		l.tail = tail{stands: true, from: after, to: after}
	}
	// What was announced before the tail stood was not read.
	l.announce()
}

// announce is called with the lock held: there may be something to relay.
func (l *line) announce() {
	if len(l.watches) == 0 {
		return
	}
	select {
	case l.news <- struct{}{}:
	default:
	}
}

// relay reads new events once for all who watch.
func (l *line) relay(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.news:
		}
		for pause := MinRetry; ; pause = min(2*pause, MaxRetry) {
			more, err := l.readTail(ctx)
			if err == nil && !more {
				break
			}
			if err != nil && ctx.Err() == nil {
				l.wakes.log.WarnContext(ctx, "cannot read events for those who watch", "space", l.space, "err", err)
			}
			if err != nil && !attempt.Sleep(ctx, pause) {
				return
			}
		}
		if !attempt.Sleep(ctx, relayEvery) {
			return
		}
	}
}

// readTail reads a page of what came after the tail. It reports whether there
// may be more.
func (l *line) readTail(ctx context.Context) (more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, StepTimeout)
	defer cancel()
	l.mu.Lock()
	stands, to := l.tail.stands, l.tail.to
	l.mu.Unlock()
	if !stands {
		return false, nil
	}
	events, err := l.wakes.store.Events(ctx, l.space, to, missedPage)
	if err != nil {
		return false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.tail.stands || l.tail.to != to {
		return true, nil // all have left meanwhile, and others have come
	}
	l.tail.add(events)
	for w := range l.watches {
		select {
		case w.news <- struct{}{}:
		default: // it has a signal it has not looked at yet
		}
	}
	return len(events) == missedPage, nil
}
