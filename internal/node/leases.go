package node

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po"
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
			InBatches(p.leasedSpaces(), func(space c3po.Space) { p.renew(ctx, space) })
		}
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

// leaseIsDue also claims the renewal, so that a crowd of first waits renews once.
func (p *Presence) leaseIsDue(space c3po.Space) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	l, now := p.leases[space], time.Now()
	if l == nil || !l.renewed.IsZero() && now.Sub(l.renewed) < p.renewEvery() {
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
