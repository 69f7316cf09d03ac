package auth

import "context"

// Poll is one look at what has changed, at the moment a test wants it.
func (k *Keeper) Poll(ctx context.Context) error { return k.poll(ctx) }

// Visits counts the requests under way.
func (k *Keeper) Visits() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := 0
	for _, open := range k.open {
		n += len(open)
	}
	return n
}

// OnSocket gives the context of a request over the coordinator's socket from that process.
func OnSocket(ctx context.Context, pid int, start int64) context.Context {
	return context.WithValue(ctx, peerKey{}, peer{pid: pid, start: start})
}
