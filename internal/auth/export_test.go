package auth

import "context"

// Poll is one look at what has changed, at the moment a test wants it.
func (k *Keeper) Poll(ctx context.Context) error { return k.poll(ctx) }
