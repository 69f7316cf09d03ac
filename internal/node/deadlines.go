package node

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// deadlineSlack lets the store's clock reach the deadline before it is asked.
const deadlineSlack = 20 * time.Millisecond

// maxDeadlines bounds what one node keeps in mind; the reaper finds the rest.
const maxDeadlines = 100_000

// Deadlines reports the deadlines of tickets opened on this node the moment they pass. If
// a node dies, the reaper of another one reports them.
type Deadlines struct {
	passed func(context.Context, c3po.Space, c3po.MessageID)
	wake   chan struct{} // holds one signal: the first one may have changed

	mu    sync.Mutex
	queue deadlineQueue
}

// NewDeadlines calls passed when a deadline does.
func NewDeadlines(passed func(context.Context, c3po.Space, c3po.MessageID)) *Deadlines {
	return &Deadlines{passed: passed, wake: make(chan struct{}, 1)}
}

// Add remembers when the deadline of a ticket passes.
func (d *Deadlines) Add(space c3po.Space, id c3po.MessageID, within time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.queue) >= maxDeadlines {
		return
	}
	heap.Push(&d.queue, deadline{space, id, time.Now().Add(within + deadlineSlack)})
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Run says of each deadline that it has passed, until ctx ends.
func (d *Deadlines) Run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		due, next := d.take(time.Now())
		InBatches(due, func(t deadline) { d.passed(ctx, t.space, t.id) })
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
func (d *Deadlines) take(now time.Time) (due []deadline, next time.Duration) {
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
