package hub

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"github.com/c3po-dev/c3po"
)

// deadlineSlack lets the store's clock reach the deadline before it is asked.
const deadlineSlack = 20 * time.Millisecond

// mostDeadlines bounds what one node keeps in mind; the reaper finds the rest.
const mostDeadlines = 100_000

// deadlines are those of tickets that were opened on this node, so that each is
// said to have passed when it does. Those of a node that died are said by the
// reaper of another one.
type deadlines struct {
	passed func(context.Context, c3po.Space, c3po.MessageID)
	wake   chan struct{} // holds one signal: the first one may have changed

	mu    sync.Mutex
	queue deadlineQueue
}

func newDeadlines(passed func(context.Context, c3po.Space, c3po.MessageID)) *deadlines {
	return &deadlines{passed: passed, wake: make(chan struct{}, 1)}
}

func (d *deadlines) add(space c3po.Space, id c3po.MessageID, within time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.queue) >= mostDeadlines {
		return
	}
	heap.Push(&d.queue, deadline{space, id, time.Now().Add(within + deadlineSlack)})
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

func (d *deadlines) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		due, next := d.take(time.Now())
		inBatches(due, func(t deadline) { d.passed(ctx, t.space, t.id) })
		timer.Reset(next)
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-d.wake:
		}
	}
}

// take gives what is due, and how long until the next one is.
func (d *deadlines) take(now time.Time) (due []deadline, next time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.queue) > 0 {
		if wait := d.queue[0].at.Sub(now); wait > 0 {
			return due, wait
		}
		due = append(due, heap.Pop(&d.queue).(deadline))
	}
	return due, time.Hour
}

type deadline struct {
	space c3po.Space
	id    c3po.MessageID
	at    time.Time
}

// deadlineQueue is a heap.Interface, the soonest first.
type deadlineQueue []deadline

func (q deadlineQueue) Len() int           { return len(q) }
func (q deadlineQueue) Less(i, j int) bool { return q[i].at.Before(q[j].at) }
func (q deadlineQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *deadlineQueue) Push(x any)        { *q = append(*q, x.(deadline)) }
func (q *deadlineQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// lapse says that a ticket's deadline has passed, if nobody has answered it.
func (h *Hub) lapse(ctx context.Context, space c3po.Space, id c3po.MessageID) {
	ctx, cancel := context.WithTimeout(ctx, storeMost)
	defer cancel()
	lapsed, err := h.store.Lapse(ctx, space, id)
	switch {
	case err != nil:
		h.log.WarnContext(ctx, "cannot say that a deadline has passed", "space", space, "message_id", id, "err", err)
	case lapsed:
		h.marks.touched(space, 0)
		from, to, _ := id.Split()
		if to == c3po.Human {
			h.notices.asked(space)
		}
		h.log.InfoContext(ctx, "changed", "kind", c3po.EventTimedOut, "space", space, "agent", from, "message_id", id)
	}
}

// lapseOverdue does so for tickets whose node did not.
func (h *Hub) lapseOverdue(ctx context.Context, space c3po.Space) error {
	overdue, err := h.store.Overdue(ctx, space, reapDue)
	if err != nil {
		return err
	}
	for _, id := range overdue {
		h.lapse(ctx, space, id)
	}
	return nil
}
