package node

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	// regainEvery is how often a lease is renewed out of turn, however many look at its agents.
	regainEvery = time.Second
	// clockJump is by how much more, or less, time has passed on the clock than for this
	// process if the clock was set or the machine has slept.
	clockJump = 2 * time.Second
)

// RunLeases renews the lease of each space that has agents here, until ctx ends.
func (p *Presence) RunLeases(ctx context.Context) {
	if p.lease <= 0 {
		return
	}
	tick := time.NewTicker(p.renewEvery())
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-p.jumped:
		}
		InBatches(p.leasedSpaces(), func(space c3po.Space) { p.renew(ctx, space) })
	}
}

// lookAtClock has all leases renewed at once if this machine has slept or its clock was set.
// They end by Redis' clock, which most likely has jumped too, and timers count only the time
// that this process was there for.
func (p *Presence) lookAtClock() {
	ahead := p.wall().Sub(p.began.Round(0)) - time.Since(p.began)
	if (ahead - p.ahead).Abs() < clockJump {
		return
	}
	p.ahead = ahead
	p.renewAll()
}

// here is what a session does that waits here, and since when, for an agent that the store
// has at this node. If the store takes it for offline all the same, its clock has jumped,
// and by that clock the lease is over: it is renewed.
func (p *Presence) here(space c3po.Space, id c3po.AgentID) (state c3po.SessionState, since time.Time, waits bool) {
	p.mu.Lock()
	held := p.attached[agentKey{space, id}]
	if waits = held != nil && held.stored && len(held.waits) > 0; waits {
		state, since = held.state, held.since
	}
	p.mu.Unlock()
	if waits && p.leaseIsDue(space, regainEvery) {
		p.renewAll()
	}
	return state, since, waits
}

func (p *Presence) renewAll() {
	select {
	case p.jumped <- struct{}{}:
	default:
	}
}

// renewEvery leaves room for one renewal that fails.
func (p *Presence) renewEvery() time.Duration { return p.lease * 2 / 5 }

// leasedSpaces lists the spaces whose lease must be renewed; the lease of an empty space
// may run out.
func (p *Presence) leasedSpaces() []c3po.Space {
	p.mu.Lock()
	defer p.mu.Unlock()
	var spaces []c3po.Space
	for space, l := range p.leases {
		if l.agents == 0 {
			delete(p.leases, space)
			continue
		}
		spaces = append(spaces, space)
	}
	return spaces
}

// leaseIsDue says that a lease was not renewed for so long. It also claims the renewal, so
// that a crowd of first waits renews once.
func (p *Presence) leaseIsDue(space c3po.Space, every time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	l, now := p.leases[space], time.Now()
	if l == nil || !l.renewed.IsZero() && now.Sub(l.renewed) < every {
		return false
	}
	l.renewed = now
	return true
}

func (p *Presence) renew(ctx context.Context, space c3po.Space) {
	ctx, cancel := context.WithTimeout(ctx, StepTimeout)
	defer cancel()
	err := p.store.RenewLease(ctx, space, p.node)
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.leases[space]
	switch {
	case l == nil:
	case err == nil:
		l.renewed = time.Now()
	default:
		l.renewed = time.Time{}
	}
	if err != nil {
		p.log.WarnContext(ctx, "lease is not renewed", "space", space, "err", err)
	}
}
