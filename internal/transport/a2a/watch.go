package a2a

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/client/attempt"
)

const (
	// listEvery is how often it is asked which tasks have got an address elsewhere.
	listEvery = 2 * time.Second
	// listAllEvery is how often all are read, in case Redis was set back and their revisions
	// begin anew.
	listAllEvery = 10 * time.Minute
	// beat is how exact the time is at which an address is tried again.
	beat = 500 * time.Millisecond
	// lookAgain is after how long a task is looked at although nothing was heard of it.
	lookAgain = 30 * time.Second
	// reopenAfter is after how long a broken stream of events is opened again.
	reopenAfter = time.Second
)

// A kept is a task that somebody wants to be told of, as this coordinator last saw it.
type kept struct {
	last  task
	due   time.Time
	busy  bool // somebody looks at it
	again bool // something was heard of it meanwhile
}

// A bulletin is what a space's stream of events brought. Without entries it says that the
// stream was opened, and anything may have happened before.
type bulletin struct {
	space   c3po.Space
	entries []c3po.StreamEvent
}

// A watch is what Run holds: which tasks there are, and the spaces whose events it hears.
type watch struct {
	*Pusher
	tasks   map[auth.CallbackTask]*kept
	spaces  map[c3po.Space]context.CancelFunc
	looks   chan look
	events  chan bulletin
	running sync.WaitGroup
}

// Run tells callers until ctx ends.
func (p *Pusher) Run(ctx context.Context) error {
	p.prepare()
	w := &watch{
		Pusher: p, tasks: map[auth.CallbackTask]*kept{}, spaces: map[c3po.Space]context.CancelFunc{},
		looks: make(chan look), events: make(chan bulletin),
	}
	ctx, stop := context.WithCancel(ctx)
	defer w.running.Wait()
	defer stop()
	ticks := time.NewTicker(beat)
	defer ticks.Stop()
	var revision int64
	var listed, listedAll time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case of := <-p.stored:
			w.see(ctx, of)
		case found := <-w.looks:
			w.seen(ctx, found)
		case news := <-w.events:
			for of, k := range w.tasks {
				if of.Space == news.space && concerns(k.last, news.entries) {
					w.see(ctx, of)
				}
			}
		case now := <-ticks.C:
			if now.Sub(listedAll) >= listAllEvery {
				listedAll, revision = now, 0
			}
			if now.Sub(listed) >= listEvery {
				listed, revision = now, w.list(ctx, revision)
			}
			for of, k := range w.tasks {
				if !k.due.IsZero() && !now.Before(k.due) {
					w.see(ctx, of)
				}
			}
		}
	}
}

// concerns says whether any of these events may have changed a task.
func concerns(t task, entries []c3po.StreamEvent) bool {
	for _, entry := range entries {
		if t.concerned(entry) {
			return true
		}
	}
	return entries == nil || t.Ticket.ID == ""
}

// list finds tasks that have got an address since a revision, at this coordinator or another.
func (w *watch) list(ctx context.Context, revision int64) int64 {
	for {
		tasks, now, err := w.Keeper.Callbacks().OpenCallbacks(ctx, revision)
		if err != nil {
			if ctx.Err() == nil && !errors.Is(err, c3po.RedisUnavailable) {
				w.Log.WarnContext(ctx, "cannot read which tasks are to be pushed", "err", err)
			}
			return revision
		}
		for _, of := range tasks {
			w.see(ctx, of)
		}
		if revision = now; len(tasks) == 0 {
			return revision
		}
	}
}

// see has a task looked at. It is looked at by one at a time, and again if something was
// heard meanwhile.
func (w *watch) see(ctx context.Context, of auth.CallbackTask) {
	k := w.tasks[of]
	if k == nil {
		k = &kept{}
		w.tasks[of] = k
		w.listen(ctx, of.Space)
	}
	if k.busy {
		k.again = true
		return
	}
	k.busy, k.due = true, time.Time{}
	w.running.Go(func() {
		found := w.tend(ctx, of)
		select {
		case w.looks <- found:
		case <-ctx.Done():
		}
	})
}

// seen takes up what was found.
func (w *watch) seen(ctx context.Context, found look) {
	k := w.tasks[found.of]
	k.busy, k.due = false, time.Now().Add(found.next)
	if found.task.Ticket.ID != "" {
		k.last = found.task
	}
	switch {
	case k.again:
		k.again = false
		w.see(ctx, found.of)
	case found.closed:
		delete(w.tasks, found.of)
		for of := range w.tasks {
			if of.Space == found.of.Space {
				return
			}
		}
		w.spaces[found.of.Space]()
		delete(w.spaces, found.of.Space)
	}
}

// listen hears what happens in a space, until none of its tasks is left.
func (w *watch) listen(ctx context.Context, space c3po.Space) {
	if w.spaces[space] != nil {
		return
	}
	ctx, stop := context.WithCancel(ctx)
	w.spaces[space] = stop
	w.running.Go(func() {
		for first := true; first || attempt.Sleep(ctx, reopenAfter); first = false {
			err := w.hear(ctx, space)
			if ctx.Err() == nil && !errors.Is(err, c3po.RedisUnavailable) {
				w.Log.DebugContext(ctx, "a stream of events is opened again", "space", space, "err", err)
			}
		}
	})
}

func (w *watch) hear(ctx context.Context, space c3po.Space) error {
	stream, err := w.Hub.As(auth.CallbackWatcher(space)).Watch(ctx, nil)
	if err != nil {
		return err
	}
	defer stream.Close()
	for news := (bulletin{space: space}); ; {
		select {
		case w.events <- news:
		case <-ctx.Done():
			return ctx.Err()
		}
		if news.entries, err = stream.Next(ctx); err != nil {
			return err
		}
	}
}
