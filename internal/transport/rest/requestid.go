package rest

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"strconv"
)

type requestKey struct{}

// withRequestID names the request that ctx belongs to. The name only has to be unique
// within one log.
func withRequestID(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestKey{}, strconv.FormatUint(rand.Uint64()|1<<63, 36)) // #nosec G404 -- a name, not a secret
}

// Correlate makes a log handler that adds to each line the id of the request it
// was logged for, as req_id.
func Correlate(next slog.Handler) slog.Handler { return correlated{next} }

type correlated struct{ slog.Handler }

func (c correlated) Handle(ctx context.Context, line slog.Record) error {
	if id, ok := ctx.Value(requestKey{}).(string); ok {
		line.AddAttrs(slog.String("req_id", id))
	}
	return c.Handler.Handle(ctx, line)
}

func (c correlated) WithAttrs(attrs []slog.Attr) slog.Handler {
	return correlated{c.Handler.WithAttrs(attrs)}
}

func (c correlated) WithGroup(name string) slog.Handler {
	return correlated{c.Handler.WithGroup(name)}
}
