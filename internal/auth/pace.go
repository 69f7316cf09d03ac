package auth

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client/attempt"
)

const (
	// paceBurst is how many seconds' calls an account may make at once. A flood is at
	// its worst for as long, so it is short: what is more at once waits its turn.
	paceBurst = 1
	// maxPaceDelay is how long a call is held back before it is refused. A program
	// that calls in a loop is slowed down by it and need not understand a refusal, and
	// a host whose agents all start in the morning gets what it asks for.
	maxPaceDelay = 5 * time.Second
	// paceKept is how long an account that makes no calls is remembered: longer than
	// it takes to be as good as new.
	paceKept = time.Minute
)

// A pacer holds back the calls of an account that makes too many, so that other accounts
// do not wait for them. It counts on this coordinator alone.
type pacer struct {
	perSecond int // 0 = as many as it likes

	mu       sync.Mutex
	accounts map[string]*paced
	swept    time.Time
}

type paced struct {
	limiter *rate.Limiter
	turn    chan struct{} // holds the step under way
	used    time.Time
}

// turnKey is under which the context of a call that was held back holds the turn of its
// account.
type turnKey struct{}

// TakeTurn waits until the account has no other step under way. Only calls that were held
// back take turns: Redis runs one step after another, so somebody else's call then waits
// for one step of a flood, not for as many as the flood has calls open.
func TakeTurn(ctx context.Context) (done func(), err error) {
	turn, _ := ctx.Value(turnKey{}).(chan struct{})
	if turn == nil {
		return func() {}, nil
	}
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// wait returns when the next call of an account may go on, with the context to serve it
// under.
func (p *pacer) wait(ctx context.Context, account string, now time.Time) (context.Context, error) {
	if p.perSecond <= 0 || account == "" {
		return ctx, nil
	}
	of := p.of(account, now)
	call := of.limiter.ReserveN(now, 1)
	delay := call.DelayFrom(now)
	if delay == 0 {
		return ctx, nil
	}
	if delay > maxPaceDelay {
		call.CancelAt(now)
		return ctx, c3po.Errorf(c3po.RateLimited, "this token makes more than %d calls a second", p.perSecond).
			Suggest("This call was not carried out. Wait a few seconds, and call less often: wait_for_message takes the place of asking again and again.")
	}
	attempt.Sleep(ctx, delay)
	return context.WithValue(ctx, turnKey{}, of.turn), context.Cause(ctx)
}

func (p *pacer) of(account string, now time.Time) *paced {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.swept) > paceKept {
		p.swept = now
		for name, a := range p.accounts {
			if now.Sub(a.used) > paceKept {
				delete(p.accounts, name)
			}
		}
	}
	a, ok := p.accounts[account]
	if !ok {
		a = &paced{limiter: rate.NewLimiter(rate.Limit(p.perSecond), p.perSecond*paceBurst), turn: make(chan struct{}, 1)}
		p.accounts[account] = a
	}
	a.used = now
	return a
}
