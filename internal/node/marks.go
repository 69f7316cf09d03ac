package node

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client/attempt"
	"github.com/c3po-dev/c3po/internal/store"
)

const (
	// markIdle is how long a space is looked after once this node has written to it.
	markIdle = 10 * time.Minute
	// maxMarks bounds the spaces that are looked after.
	maxMarks = 10_000
	// compareAgain is the pause after a store that did not answer: it may come
	// back with less than it had.
	compareAgain = time.Second
	// minPause is shorter than any outage after which a store may have forgotten, and
	// maxPauses bounds what one comparison looks at.
	minPause  = 100 * time.Millisecond
	maxPauses = 16
)

// Marks remember how far every space was seen to be, and notice a store that
// went back: a failover that lost writes, an old file that was put back. They
// are a detector, not a guarantee: a node that restarts has forgotten them.
type Marks struct {
	store store.Store
	log   *slog.Logger
	meter rollbackMeter
	every time.Duration
	// wentBack is called when this node learns that the epoch of a space rose:
	// what it believes about the space may never have been.
	wentBack func(c3po.Space)

	alarm sync.Mutex // one loss is noticed once
	mu    sync.Mutex
	known map[c3po.Space]*mark
}

type mark struct {
	store.Sequence // without Oldest and Began
	// told is the last message this node has told a sender is stored, earlier
	// those before a pause that were not looked at since, and verified where the
	// space stood when all of them were.
	told     told
	earlier  []told
	verified int64
	used     time.Time
	compared time.Time // by whomever
}

// told is the event of a message that was acknowledged. Its number alone says
// little: a store that went back gives the number again, to another message.
type told struct {
	seq int64
	at  time.Time
}

// A rollbackMeter counts how often a store went back.
type rollbackMeter interface{ RolledBack() }

// NewMarks calls wentBack of a space that a store has forgotten part of.
func NewMarks(store store.Store, log *slog.Logger, meter rollbackMeter, every time.Duration, wentBack func(c3po.Space)) *Marks {
	return &Marks{store: store, log: log, meter: meter, every: every, wentBack: wentBack, known: map[c3po.Space]*mark{}}
}

// Touch says that this node has written to a space, or waits for something
// there. The number is the highest it has seen by that; 0 if it does not know.
func (m *Marks) Touch(space c3po.Space, seq int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.known[space]
	if k == nil {
		if len(m.known) >= maxMarks {
			return
		}
		k = &mark{}
		m.known[space] = k
	}
	k.used, k.Last = time.Now(), max(k.Last, seq)
}

// Acknowledge is touched for a message whose sender is told that it is stored,
// and at which moment of the store it was.
func (m *Marks) Acknowledge(space c3po.Space, seq int64, at time.Time) {
	m.Touch(space, seq)
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.known[space]
	if k == nil {
		return
	}
	paused := at.Sub(k.told.at) >= minPause
	if paused && k.told.seq > 0 {
		// What came before a pause may be what a store forgot in it, and what comes
		// after may have any number.
		k.earlier = append(k.earlier, k.told)
		k.earlier = k.earlier[max(0, len(k.earlier)-maxPauses):]
	}
	if paused || seq > k.told.seq {
		k.told = told{seq: seq, at: at}
	}
}

// Run compares, until ctx ends, every space that was touched lately.
func (m *Marks) Run(ctx context.Context) {
	if m.every <= 0 {
		return
	}
	every := m.pause()
	for pause := every; attempt.Sleep(ctx, pause); {
		var failed atomic.Bool
		InBatches(m.recent(), func(space c3po.Space) {
			ctx, cancel := context.WithTimeout(ctx, StepTimeout)
			defer cancel()
			if err := m.look(ctx, space); err != nil {
				failed.Store(true)
			}
		})
		pause = every
		if failed.Load() {
			pause = min(pause, compareAgain)
		}
	}
}

// pause is between two comparisons. A loss shall be known within the interval, so
// the comparison itself needs room in it.
func (m *Marks) pause() time.Duration { return m.every * 4 / 5 }

func (m *Marks) recent() []c3po.Space {
	m.mu.Lock()
	defer m.mu.Unlock()
	var spaces []c3po.Space
	for space, k := range m.known {
		if time.Since(k.used) >= markIdle {
			delete(m.known, space)
			continue
		}
		// A waiter on the space compares it as well, and once is enough if there is
		// nothing else to check.
		if time.Since(k.compared) < m.pause() && k.verified == k.Last && len(k.earlier) == 0 {
			continue
		}
		spaces = append(spaces, space)
	}
	return spaces
}

// look compares a space, and sees whether what was acknowledged there last is
// still what it was.
func (m *Marks) look(ctx context.Context, space c3po.Space) error {
	at, err := m.compare(ctx, space, store.Sequence{})
	if err != nil {
		return err
	}
	number, err := m.findReplaced(ctx, space, at)
	if err != nil || number == 0 {
		return err
	}
	// Its numbers may have passed those that are remembered: it counts as behind
	// all the same, until somebody has raised its epoch.
	at.Last += store.EpochMargin
	if at, err = m.raise(ctx, space, at, slog.Int64("number_of_another_message", number)); err != nil {
		return err
	}
	m.adopt(space, at)
	m.wentBack(space)
	return nil
}

// compare asks where a space stands. If that is behind what is remembered, or
// behind what the caller has seen, acknowledged writes are lost: it raises the
// alarm and the epoch, and answers with where the space stands then.
func (m *Marks) compare(ctx context.Context, space c3po.Space, seen store.Sequence) (store.Sequence, error) {
	// What is remembered comes first: it grows while the store is being asked,
	// and must not seem to be ahead of it.
	before := m.of(space, seen)
	at, err := m.store.Sequence(ctx, space)
	if err != nil {
		return store.Sequence{}, err
	}
	wentBack := at.Behind(before)
	if wentBack {
		if at, err = m.raise(ctx, space, before, slog.Int64("was", before.Last)); err != nil {
			return store.Sequence{}, err
		}
	}
	if m.adopt(space, at) || wentBack {
		m.wentBack(space)
	}
	return at, nil
}

// findReplaced is the number of something that was acknowledged, if its event is
// another one now, else 0. Then the store went back and was written to since: so
// quickly that its numbers do not show it any more. An event that is too old to
// be had says nothing.
func (m *Marks) findReplaced(ctx context.Context, space c3po.Space, at store.Sequence) (int64, error) {
	m.mu.Lock()
	var all []told
	if k := m.known[space]; k != nil && (k.verified != at.Last || len(k.earlier) > 0) {
		all = append(slices.Clone(k.earlier), k.told)
	}
	m.mu.Unlock()
	for _, t := range all {
		// One from before this epoch has been mourned already.
		if t.seq <= at.Began || t.seq > at.Last {
			continue
		}
		events, err := m.store.Events(ctx, space, t.seq-1, 1)
		if err != nil {
			return 0, err
		}
		if len(events) == 1 && events[0].Seq == t.seq && !events[0].At.Equal(t.at) {
			return t.seq, nil
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.known[space]; k != nil {
		k.verified = at.Last
		k.earlier = slices.DeleteFunc(k.earlier, func(t told) bool { return slices.Contains(all, t) })
	}
	return 0, nil
}

func (m *Marks) of(space c3po.Space, seen store.Sequence) store.Sequence {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.known[space]; k != nil {
		seen.Epoch, seen.Last = max(seen.Epoch, k.Epoch), max(seen.Last, k.Last)
	}
	return seen
}

// raise raises the alarm and the epoch, unless somebody was quicker. sign is what
// shows the loss.
func (m *Marks) raise(ctx context.Context, space c3po.Space, before store.Sequence, sign slog.Attr) (store.Sequence, error) {
	m.alarm.Lock()
	defer m.alarm.Unlock()
	at, err := m.store.Sequence(ctx, space)
	if err != nil || !at.Behind(before) {
		// Another goroutine of this node, or another node, was quicker.
		return at, err
	}
	m.log.ErrorContext(ctx, "the store went back: acknowledged writes are lost", "space", space,
		"epoch", before.Epoch, sign, "is", at.Last)
	m.meter.RolledBack()
	now, raised, err := m.store.RaiseEpoch(ctx, space, before)
	if err != nil {
		m.log.ErrorContext(ctx, "the epoch of a space that went back cannot be raised", "space", space, "err", err)
		return store.Sequence{}, err
	}
	m.log.WarnContext(ctx, "the epoch of a space that went back was raised", "space", space, "epoch", now.Epoch, "seq", now.Last, "here", raised)
	return m.store.Sequence(ctx, space)
}

// adopt remembers where a space stands. It reports whether another node has
// raised the epoch.
func (m *Marks) adopt(space c3po.Space, at store.Sequence) (rose bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.known[space]
	if k == nil {
		return false
	}
	rose = k.Epoch != 0 && at.Epoch > k.Epoch
	k.Epoch, k.Last, k.compared = max(k.Epoch, at.Epoch), max(k.Last, at.Last), time.Now()
	return rose
}
