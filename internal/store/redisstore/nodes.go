package redisstore

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/redis/rueidis"
)

// nodeTimeout is how long one node of several may take to say something of itself.
const nodeTimeout = 500 * time.Millisecond

// askNodes asks every node the same, all at once, and gives the answers by
// address. A node of a cluster that cannot be reached is only missing, as long
// as another answers: what the other shards hold must not wait for it. What a
// node refuses is for ask to judge.
func askNodes[T any](ctx context.Context, s *Store, ask func(context.Context, rueidis.Client) (T, error)) (said map[string]T, missing []string, err error) {
	nodes := s.commands.Nodes()
	said = make(map[string]T, len(nodes))
	if len(nodes) > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, nodeTimeout)
		defer cancel()
	}
	var mu sync.Mutex
	var asking sync.WaitGroup
	for addr, node := range nodes {
		asking.Go(func() {
			word, failed := ask(ctx, node)
			mu.Lock()
			defer mu.Unlock()
			if failed != nil {
				missing, err = append(missing, addr), failed
				return
			}
			said[addr] = word
		})
	}
	asking.Wait()
	if len(said) > 0 {
		err = nil
	}
	return said, missing, err
}

// anyOf is one of the answers, the same of the same.
func anyOf[T any](said map[string]T) (word T) {
	for _, addr := range slices.Sorted(maps.Keys(said)) {
		return said[addr]
	}
	return word
}
