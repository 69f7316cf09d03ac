package node

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// renewals counts how often a lease was renewed by itself.
type renewals struct {
	store.Store
	n atomic.Int64
}

func (r *renewals) RenewLease(context.Context, c3po.Space, string) error {
	r.n.Add(1)
	return nil
}

func (*renewals) Attach(context.Context, c3po.Space, c3po.AgentID, string, c3po.SessionState) error {
	return nil
}

// A laptop that was closed for an hour: no timer has noticed, but Redis' clock, by which
// leases end, is the laptop's.
func TestLeasesAreRenewedAtOnceAfterTheMachineHasSlept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		kept := &renewals{}
		p := NewPresence(kept, slog.New(slog.DiscardHandler), "node-1", time.Minute, nil)
		var slept atomic.Int64
		p.wall = func() time.Time { return time.Now().Round(0).Add(time.Duration(slept.Load())) }
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go p.RunLeases(ctx)
		go p.RunDetaches(ctx)
		p.Attach(ctx, "main", "bob", "", Wait{State: c3po.SessionIdle})
		pass := func(d time.Duration) int64 {
			before := kept.n.Load()
			<-time.After(d)
			synctest.Wait()
			return kept.n.Load() - before
		}
		pass(time.Second)
		if n := pass(10 * time.Second); n != 0 {
			t.Errorf("%d renewals before one is due", n)
		}
		for _, by := range []time.Duration{time.Hour, -24 * time.Hour} {
			slept.Add(int64(by))
			if n := pass(detachEvery); n != 1 {
				t.Errorf("%d renewals within a second after a jump of %s, want 1", n, by)
			}
			if n := pass(detachEvery); n != 0 {
				t.Errorf("%d more renewals for one jump", n)
			}
		}
		slept.Add(int64(clockJump / 2)) // as a clock that is adjusted
		if n := pass(detachEvery); n != 0 {
			t.Errorf("%d renewals after the clock was adjusted", n)
		}
	})
}
