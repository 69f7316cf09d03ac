package hub

import (
	"context"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/node"
)

// A Stream is what changes in a caller's space, as it happens.
type Stream struct {
	*node.Watch
	release func() // gives back its place among the streams of the caller's token
}

// Watch opens a stream of what changes in the caller's space, after a place or
// from now on.
func (a *Actor) Watch(ctx context.Context, after *c3po.EventCursor) (*Stream, error) {
	if a.hub.isDraining() {
		return nil, node.RefuseStopping()
	}
	release, err := a.hub.accounts.hold(a.caller.Account, true)
	if err != nil {
		return nil, err
	}
	watch, err := a.hub.wakes.Watch(ctx, a.space, after, a.hub.limits.Streams, a.hub.draining)
	if err != nil {
		release()
		return nil, err
	}
	return &Stream{Watch: watch, release: release}, nil
}

// Close ends the stream.
func (s *Stream) Close() {
	s.Watch.Close()
	s.release()
}
