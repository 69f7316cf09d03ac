package hub

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// A Meter counts what happens. It is called on the hot path, so it must be quick. No call
// names an agent, a space or a message, so there are few series.
type Meter interface {
	// Accepted counts a message that was stored; Repeated one that was stored
	// before; Rejected one that was not, and why.
	Accepted(kind c3po.Kind, durability c3po.Durability)
	Repeated()
	Rejected(code c3po.Code)
	// Served counts an answer that carried a body, and how long after its
	// acceptance; Woken a wait that slept and was ended by mail, likewise.
	Served(route string, redelivered bool, after time.Duration)
	Woken(after time.Duration)
	// Acked and Buried count messages that ended.
	Acked(messages int)
	Buried(reason string)
	// Warned counts receipts that say that something is nearly full.
	Warned(of string)
	// Damaged counts bodies that failed their checksum; RolledBack the times a
	// space was found to have forgotten acknowledged writes.
	Damaged()
	RolledBack()
}

// unmetered counts nothing.
type unmetered struct{}

func (unmetered) Accepted(c3po.Kind, c3po.Durability) {}
func (unmetered) Repeated()                           {}
func (unmetered) Rejected(c3po.Code)                  {}
func (unmetered) Served(string, bool, time.Duration)  {}
func (unmetered) Woken(time.Duration)                 {}
func (unmetered) Acked(int)                           {}
func (unmetered) Buried(string)                       {}
func (unmetered) Warned(string)                       {}
func (unmetered) Damaged()                            {}
func (unmetered) RolledBack()                         {}

// Vitals are how a coordinator is right now.
type Vitals struct {
	Draining bool
	Waiters  int64 // waits that sleep here
	Watchers int64 // streams of events that are open here
	// What the store says, at most vitalsAge old. Without StoreUp the rest is
	// unknown.
	StoreUp       bool
	Durability    c3po.Durability
	Pending       int64 // unacked messages of the default space
	PendingBytes  int64 // their bytes
	SpaceBytes    int   // the most a space may hold of them; 0 if there is no limit
	Memory        store.Memory
	OldestUnacked time.Duration // of the default space; 0 if there is none
}

const (
	vitalsAge     = 5 * time.Second
	vitalsTimeout = 2 * time.Second
)

// vitalsCache keeps what the store said, so that it does not matter how often
// it is asked.
type vitalsCache struct {
	mu    sync.Mutex
	value Vitals
	until time.Time
}

// Vitals asks the store for a handful of numbers, whatever it holds.
func (h *Hub) Vitals(ctx context.Context) Vitals {
	h.vitals.mu.Lock()
	defer h.vitals.mu.Unlock()
	if now := time.Now(); now.After(h.vitals.until) {
		h.vitals.value, h.vitals.until = h.askStore(ctx), now.Add(vitalsAge)
	}
	v := h.vitals.value
	v.Draining = h.isDraining()
	v.Waiters, v.Watchers = h.wakes.Counts()
	return v
}

func (h *Hub) askStore(ctx context.Context) Vitals {
	ctx, cancel := context.WithTimeout(ctx, vitalsTimeout)
	defer cancel()
	durability, err := h.store.Durability(ctx)
	memory, err2 := h.store.Memory(ctx)
	v := h.SpaceVitals(ctx, c3po.DefaultSpace)
	if errors.Join(err, err2) != nil || !v.StoreUp {
		return Vitals{}
	}
	v.Durability, v.Memory = durability, memory
	return v
}

// SpaceVitals are those of one space: how the store is, and its mail.
func (h *Hub) SpaceVitals(ctx context.Context, space c3po.Space) Vitals {
	ctx, cancel := context.WithTimeout(ctx, vitalsTimeout)
	defer cancel()
	now, err := h.store.Now(ctx)
	if err != nil {
		return Vitals{}
	}
	books, err := h.store.Counters(ctx, space)
	oldest, err2 := h.store.Oldest(ctx, space)
	if errors.Join(err, err2) != nil {
		return Vitals{}
	}
	v := Vitals{StoreUp: true, Pending: books.Pending, PendingBytes: books.PendingBytes, SpaceBytes: h.limits.SpaceBytes}
	if !oldest.IsZero() {
		v.OldestUnacked = max(0, now.Sub(oldest))
	}
	return v
}

// recordAccepted counts and logs a message that was stored, now or before, and lets the
// node's marks know of it, which notice a store that goes back.
func (s spaceHub) recordAccepted(ctx context.Context, kind c3po.EventKind, stored store.Stored, durability c3po.Durability) {
	if stored.Repeat {
		s.hub.marks.Touch(s.space, stored.Message.Seq)
		s.hub.meter.Repeated()
		return
	}
	s.hub.marks.Acknowledge(s.space, stored.Message.Seq, stored.Now)
	s.hub.meter.Accepted(stored.Message.Kind, durability)
	s.tell(ctx, kind, stored.Message.ToAgent, stored.Message.ID)
}

// countRejected counts a message that was refused. A caller that left or was cut off
// doesn't count.
func (o outbox) countRejected(err error) {
	if refusal, ok := errors.AsType[*c3po.Error](err); ok {
		o.hub.meter.Rejected(refusal.Code)
	}
}

// recordAcked counts and logs what an ack has ended.
func (box *inbox) recordAcked(ctx context.Context, ids []c3po.MessageID, outcomes []store.AckOutcome, err error) (c3po.AckResult, error) {
	if outcomes == nil {
		return c3po.AckResult{}, box.dropIfSuperseded(err)
	}
	result := ackResult(ids, outcomes)
	result.Notice = box.stoppedAt(ctx, err)
	box.hub.marks.Touch(box.space, 0)
	if len(result.Acked) > 0 {
		box.hub.meter.Acked(len(result.Acked))
	}
	for _, id := range result.Acked {
		box.tell(ctx, c3po.EventAcked, "", id)
	}
	return result, nil
}
