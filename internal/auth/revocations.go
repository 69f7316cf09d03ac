package auth

import (
	"context"
	"time"
)

// Run keeps the Keeper up to date with what other coordinators do to tokens,
// until ctx ends.
func (k *Keeper) Run(ctx context.Context) error {
	if k.mode == None {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	failing := false
	for {
		err := k.poll(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			k.log.WarnContext(ctx, "cannot see whether tokens were revoked; they are read anew for every request", "err", err)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// poll takes in what has changed since it was last called.
func (k *Keeper) poll(ctx context.Context) error {
	began := k.now()
	k.mu.Lock()
	after := k.revision
	k.mu.Unlock()
	kids, revision, err := k.store.Changes(ctx, after)
	if err != nil {
		return err
	}
	k.mu.Lock()
	if after < 0 || revision < after {
		// The first look, or a store that has forgotten: nothing known is certain.
		kids = kids[:0]
		for kid := range k.open {
			kids = append(kids, kid)
		}
		clear(k.cache)
		k.generation++
	}
	if len(kids) > 0 {
		k.generation++
		for _, kid := range kids {
			delete(k.cache, kid)
		}
	}
	k.sweep()
	k.mu.Unlock()
	for _, kid := range kids {
		if err := k.recheck(ctx, kid); err != nil {
			return err // revision stays, so the next poll does it again
		}
	}
	k.mu.Lock()
	k.revision, k.confirmed = revision, began
	k.mu.Unlock()
	return nil
}

// sweep keeps the memory from growing with every caller there ever was.
func (k *Keeper) sweep() {
	const most = 100_000
	if len(k.cache) > most {
		clear(k.cache)
	}
	if len(k.noted) > most {
		clear(k.noted)
	}
}

// recheck ends the requests under way of a token that is worth nothing any more.
func (k *Keeper) recheck(ctx context.Context, kid string) error {
	k.mu.Lock()
	concerned := len(k.open[kid]) > 0
	k.mu.Unlock()
	if !concerned {
		return nil
	}
	grant, ok, err := k.store.Grant(ctx, kid)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for v := range k.open[kid] {
		switch {
		case !ok || grant.Revoked:
			v.cancel(errRevoked())
		case !grant.Live(k.now()):
			v.cancel(errExpired())
		default:
			v.end.Reset(grant.Expires.Sub(k.now()))
		}
	}
	return nil
}
