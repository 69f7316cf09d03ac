package node

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client/attempt"
	"github.com/c3po-dev/c3po/internal/store"
)

const (
	// lineIdle keeps a space's subscription for the next wait.
	lineIdle = 60 * time.Second
	// missedPage is how many missed events are read at once.
	missedPage = 1000
	// MinRetry and MaxRetry are the pauses before something is tried again.
	MinRetry = 20 * time.Millisecond
	MaxRetry = 5 * time.Second
)

// Wakes knows who waits on this node. It holds one subscription a space that
// has waiters here; waking costs the same however many wait.
type Wakes struct {
	store   store.Store
	log     *slog.Logger
	marks   *Marks
	compare time.Duration

	waiters  atomic.Int64
	watchers atomic.Int64

	mu     sync.Mutex
	lines  map[c3po.Space]*line
	closed bool
	work   sync.WaitGroup
}

// NewWakes has no waits yet.
func NewWakes(store store.Store, log *slog.Logger, marks *Marks, compare time.Duration) *Wakes {
	return &Wakes{store: store, log: log, marks: marks, compare: compare, lines: map[c3po.Space]*line{}}
}

// Counts says how many waits and streams of events are open here.
func (w *Wakes) Counts() (waiters, watchers int64) { return w.waiters.Load(), w.watchers.Load() }

// of is called with the lock held, and so is open.
func (w *Wakes) of(space c3po.Space) *line {
	if l := w.lines[space]; l != nil {
		return l
	}
	return w.open(space)
}

func (w *Wakes) open(space c3po.Space) *line {
	l := &line{
		wakes: w, space: space,
		waiters: map[c3po.AgentID][]*Waiter{}, rooms: map[c3po.AgentID]map[*Waiter]struct{}{},
		asked:  map[c3po.AgentID][]*Waiter{},
		stands: make(chan struct{}), changed: make(chan struct{}, 1),
		watches: map[*Watch]struct{}{}, news: make(chan struct{}, 1),
	}
	if w.closed {
		// The hub is draining: no waiter will sleep on this line.
		return l
	}
	w.lines[space] = l
	// The subscription outlives the wait that opened it, so it cannot have that
	// wait's context; close and retire end it.
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	l.idle = time.AfterFunc(lineIdle, func() { w.retire(l) })
	w.work.Go(func() { l.listen(ctx) })
	w.work.Go(func() { l.follow(ctx) })
	w.work.Go(func() { l.relay(ctx) })
	return l
}

// retire ends a subscription that was unused for a while.
func (w *Wakes) retire(l *line) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count > 0 || w.lines[l.space] != l {
		return
	}
	delete(w.lines, l.space)
	l.cancel()
}

// Close ends all subscriptions and waits until they have.
func (w *Wakes) Close() {
	w.mu.Lock()
	w.closed = true
	for space, l := range w.lines {
		delete(w.lines, space)
		l.idle.Stop()
		l.cancel()
	}
	w.mu.Unlock()
	w.work.Wait()
}

// A line is the subscription of one space and those who wait on it.
type line struct {
	wakes   *Wakes
	space   c3po.Space
	cancel  context.CancelFunc
	idle    *time.Timer
	stands  chan struct{} // closed when the subscription stood for the first time
	changed chan struct{} // holds one signal: there is something to catch up with

	news chan struct{} // holds one signal: there are events for those who watch

	mu      sync.Mutex
	waiters map[c3po.AgentID][]*Waiter
	rooms   map[c3po.AgentID]map[*Waiter]struct{} // by the address of a room
	asked   map[c3po.AgentID][]*Waiter            // those who wait for an answer of the agent
	watches map[*Watch]struct{}
	tail    tail
	count   int // of both
	stood   bool
	known   bool  // last is a number we read, not the zero we began with
	epoch   int64 // of last
	last    int64 // every event up to here was signalled
	// What was heard beyond a gap: an unbroken run of numbers, so that traffic during the
	// filling of a gap does not look like another gap.
	from, to int64
}

// addUser and left are called with the lock held.
func (l *line) addUser() {
	l.count++
	if l.idle != nil {
		l.idle.Stop()
	}
}

func (l *line) removeUser() {
	l.count--
	if l.count == 0 && l.idle != nil {
		l.idle.Reset(lineIdle)
	}
}

// listen holds the subscription until ctx ends.
func (l *line) listen(ctx context.Context) {
	for pause := MinRetry; ; pause = min(2*pause, MaxRetry) {
		err := l.wakes.store.Listen(ctx, l.space, l.onSubscribed, l.onWake)
		if ctx.Err() != nil {
			return
		}
		l.wakes.log.WarnContext(ctx, "subscription ended", "space", l.space, "err", err)
		if !attempt.Sleep(ctx, pause) {
			return
		}
	}
}

// onSubscribed is called by the store when the subscription stands, so it only marks.
func (l *line) onSubscribed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.stood {
		l.stood = true
		close(l.stands)
	}
	l.mark()
}

// onWake is called by the store for every event, so it only marks.
func (l *line) onWake(wake store.Wake) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wake(wake.Agent)
	l.announce()
	switch {
	case wake.Seq <= l.last:
	case l.known && wake.Seq == l.last+1 && l.to <= l.last:
		l.last = wake.Seq
	default:
		if wake.Seq != l.to+1 {
			l.from = wake.Seq
		}
		l.to = wake.Seq
		l.mark()
	}
}

// mark and wake are called with the lock held.
func (l *line) mark() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

func (l *line) wake(agent c3po.AgentID) {
	if agent == "" {
		return
	}
	if agent.Queue() != "" {
		l.wakeOne(agent)
		return
	}
	if agent == c3po.Everybody.Address() {
		l.wakeThose(func(w *Waiter) bool { return w.posts })
		return
	}
	for w := range l.rooms[agent] {
		w.signal()
	}
	for _, w := range l.waiters[agent] {
		w.signal()
	}
	l.wakeAsked(agent)
}

// wakeOne wakes the first of the waits that could take mail of a queue and have no signal
// yet, because only one of them can have it. If all have one, the first takes this wake too.
func (l *line) wakeOne(queue c3po.AgentID) {
	all := l.waiters[queue]
	if len(all) == 0 {
		return
	}
	w := wakeFirst(all)
	if w == nil {
		w = all[0]
	}
	w.owed = append(w.owed, queue)
}

// wakeFirst wakes the first that has no signal yet; nil if all have one.
func wakeFirst(waiters []*Waiter) *Waiter {
	for _, w := range waiters {
		if len(w.woken) == 0 {
			w.signal()
			return w
		}
	}
	return nil
}

// follow fills gaps, and checks now and then that there are none.
func (l *line) follow(ctx context.Context) {
	var compare <-chan time.Time
	if l.wakes.compare > 0 {
		tick := time.NewTicker(l.wakes.compare)
		defer tick.Stop()
		compare = tick.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.changed:
		case <-compare:
			if !l.isWaitedFor() {
				continue
			}
		}
		pause := MinRetry
		for again := true; again; {
			var err error
			again, err = l.catchUp(ctx)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				l.wakes.log.WarnContext(ctx, "cannot read missed events", "space", l.space, "err", err)
				again = true
			}
			if again && !attempt.Sleep(ctx, pause) {
				return
			}
			pause = min(2*pause, MaxRetry)
		}
	}
}

func (l *line) isWaitedFor() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count > 0
}

// catchUp compares the sequence with what was heard and signals those whose
// events were missed. It reports whether there is still a gap.
func (l *line) catchUp(ctx context.Context) (again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, StepTimeout)
	defer cancel()
	l.mu.Lock()
	known, epoch, last := l.known, l.epoch, l.last
	l.mu.Unlock()
	l.wakes.marks.Touch(l.space, last)
	at, err := l.wakes.marks.compare(ctx, l.space, store.Sequence{Epoch: epoch, Last: last})
	if err != nil {
		return false, err
	}
	switch {
	case !known:
		return l.caughtUp(at, at.Last, func(w *Waiter) bool { return w.early }), nil
	case at.Epoch > epoch:
		// The store went back. What was waited for may have come under a number
		// that was heard before, so everybody looks once.
		l.startOver(at)
		return false, nil
	}
	for last < at.Last {
		events, err := l.wakes.store.Events(ctx, l.space, last, missedPage)
		if err != nil {
			return false, err
		}
		if len(events) == 0 || events[0].Seq > last+1 {
			// The log no longer holds what was missed. It is unknown which waiters it
			// concerned, so all of them look once.
			return l.caughtUp(at, at.Last, func(*Waiter) bool { return true }), nil
		}
		l.mu.Lock()
		for _, event := range events {
			l.wake(concerns(event))
			last = event.Seq
		}
		l.mu.Unlock()
	}
	return l.caughtUp(at, last, nil), nil
}

// caughtUp moves on to a number up to which nothing is missing, and over what
// was heard right behind it. It reports whether a gap remains.
func (l *line) caughtUp(at store.Sequence, last int64, look func(*Waiter) bool) (again bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.announce()
	l.known, l.epoch = true, at.Epoch
	l.last = max(l.last, last)
	if l.from <= l.last+1 {
		l.last = max(l.last, l.to)
	}
	if look != nil {
		l.wakeThose(look)
	}
	return l.to > l.last
}

// startOver continues in a new epoch.
func (l *line) startOver(at store.Sequence) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.announce()
	l.epoch, l.last, l.from, l.to = at.Epoch, at.Last, 0, 0
	l.wakeThose(func(*Waiter) bool { return true })
}

// wakeThose is called with the lock held.
func (l *line) wakeThose(look func(*Waiter) bool) {
	for id, waiters := range l.waiters {
		for _, w := range waiters {
			if id == w.about[0] && look(w) {
				w.signal()
			}
		}
	}
}
