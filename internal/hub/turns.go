package hub

import (
	"context"
	"errors"
	"time"
)

// ErrYielded is how a call ends whose wait is not over: it is to be made again, in the
// next turn.
var ErrYielded = errors.New("the wait is not over")

// A Turn lets a wait sleep outside its call, and so not on the stack that the call has grown.
// It is for one Actor, who makes the same call in turns.
type Turn struct {
	// Sleep is how long a call may sleep by itself until it yields. It may be changed
	// between two calls.
	Sleep time.Duration

	vigil *vigil // of a call that yielded
}

// alreadyOver is for a turn without sleep.
var alreadyOver = func() <-chan time.Time {
	c := make(chan time.Time)
	close(c)
	return c
}()

type turnKey struct{}

// WithTurn makes a call one turn of a wait.
func WithTurn(ctx context.Context, t *Turn) context.Context {
	return context.WithValue(ctx, turnKey{}, t)
}

func turnIn(ctx context.Context) *Turn {
	t, _ := ctx.Value(turnKey{}).(*Turn)
	return t
}

// take is what the turn before has left; nil if there was none.
func (t *Turn) take() *vigil {
	if t == nil {
		return nil
	}
	v := t.vigil
	t.vigil = nil
	return v
}

// over is when the call is to yield; never without a turn.
func (t *Turn) over() <-chan time.Time {
	switch {
	case t == nil:
		return nil
	case t.Sleep == 0:
		return alreadyOver
	}
	return time.After(t.Sleep)
}

// Wait sleeps until the call is to be made again.
func (t *Turn) Wait(ctx context.Context) {
	if t.vigil != nil {
		// Whatever it was, the call finds out.
		_, _ = t.vigil.sleep(ctx, nil)
	}
}

// End is for a call that yielded and is not made again.
func (t *Turn) End(ctx context.Context) {
	if v := t.take(); v != nil {
		v.end(ctx, false)
	}
}
