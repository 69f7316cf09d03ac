package rest

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"
)

// changeWait is how long a change waits for the next line of its request. A call that
// changes something may then wait for an hour.
const changeWait = time.Second

type requestKey struct{}

// A request is what the log says of one: its name, which only has to be unique within one
// log, and the last change that is not yet logged.
type request struct {
	id     uint64
	mu     sync.Mutex
	change slog.Record
	alone  *time.Timer // logs the change when it has waited for long enough; nil if there is none
}

// withRequestID names the request that ctx belongs to.
func withRequestID(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestKey{}, &request{id: rand.Uint64() | 1<<63}) // #nosec G404 -- a name, not a secret
}

func (r *request) attr() slog.Attr { return slog.String("req_id", strconv.FormatUint(r.id, 36)) }

// hold keeps a change for the next line, and gives the one that was kept before.
func (r *request) hold(line slog.Record, alone *time.Timer) (last slog.Record, was bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if was = r.alone != nil; was {
		r.alone.Stop()
	}
	last, r.change, r.alone = r.change, line, alone
	return last, was
}

func (r *request) take() (change slog.Record, held bool) { return r.hold(slog.Record{}, nil) }

// changed is the line that says that a state changed.
const changed = "changed"

// Correlate makes a log handler that adds to each line the id of the request it was logged
// for, as req_id. What a request changed is told by its next line, because most requests
// change one thing, and each line is a system call.
func Correlate(next slog.Handler) slog.Handler { return correlated{next} }

type correlated struct{ slog.Handler }

func (c correlated) Handle(ctx context.Context, line slog.Record) error {
	r, ok := ctx.Value(requestKey{}).(*request)
	if !ok {
		return c.Handler.Handle(ctx, line)
	}
	if line.Message == changed {
		last, held := r.hold(line.Clone(), time.AfterFunc(changeWait, func() {
			if change, held := r.take(); held {
				_ = c.writeChange(ctx, r, change) // nobody is left to tell
			}
		}))
		if !held {
			return nil
		}
		return c.writeChange(ctx, r, last)
	}
	change, held := r.take()
	if !held {
		line.AddAttrs(r.attr())
		return c.Handler.Handle(ctx, line)
	}
	what := make([]slog.Attr, 0, change.NumAttrs())
	change.Attrs(func(a slog.Attr) bool {
		what = append(what, a)
		return true
	})
	line.AddAttrs(slog.Attr{Key: changed, Value: slog.GroupValue(what...)}, r.attr())
	return c.Handler.Handle(ctx, line)
}

// writeChange writes a line for a change by itself.
func (c correlated) writeChange(ctx context.Context, r *request, change slog.Record) error {
	change.AddAttrs(r.attr())
	return c.Handler.Handle(ctx, change)
}

func (c correlated) WithAttrs(attrs []slog.Attr) slog.Handler {
	return correlated{c.Handler.WithAttrs(attrs)}
}

func (c correlated) WithGroup(name string) slog.Handler {
	return correlated{c.Handler.WithGroup(name)}
}
