package redisstore

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"
	"golang.org/x/sync/singleflight"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// engineCache keeps what the engine said of itself for a short while: receipts
// name it, and asking for each of them would double the round trips.
type engineCache struct {
	// One question at a time, whose answer is shared by everyone who asks in the
	// meantime. If they asked in turn, an engine that hangs would hold up the last for as
	// long as all of them together.
	asking singleflight.Group

	mu    sync.Mutex
	value engineWord
	until time.Time
	nodes map[string]c3po.Durability
}

// engineWord is what is asked of the engine besides the work.
type engineWord struct {
	durability c3po.Durability
	memory     store.Memory
}

// engineAge is how long a receipt may lag behind a CONFIG SET.
const engineAge = 5 * time.Second

// Durability implements store.Store.
func (s *Store) Durability(ctx context.Context) (c3po.Durability, error) {
	said, err := s.askEngine(ctx)
	return said.durability, err
}

// Memory implements store.Store.
func (s *Store) Memory(ctx context.Context) (store.Memory, error) {
	said, err := s.askEngine(ctx)
	return said.memory, err
}

func (s *Store) askEngine(ctx context.Context) (engineWord, error) {
	if said, fresh := s.engine.cached(); fresh {
		return said, nil
	}
	answer := s.engine.asking.DoChan("", func() (any, error) {
		// The first caller may hang up; the others still want the answer.
		return s.readEngine(context.WithoutCancel(ctx))
	})
	select {
	case got := <-answer:
		return got.Val.(engineWord), got.Err
	case <-ctx.Done():
		return engineWord{}, s.failure(ctx, "read the engine", ctx.Err())
	}
}

// cached is what was said last, and whether that is fresh.
func (e *engineCache) cached() (engineWord, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.value, time.Now().Before(e.until)
}

// readEngine asks both at once: where Redis is far away, each takes its time. An
// answer is kept.
func (s *Store) readEngine(ctx context.Context) (engineWord, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	var said engineWord
	var failed error
	var asking sync.WaitGroup
	asking.Go(func() { said.memory, failed = s.askMemory(ctx) })
	durability, err := s.askDurability(ctx)
	asking.Wait()
	said.durability = durability
	if err = cmp.Or(err, failed); err == nil {
		s.engine.keep(said)
	}
	return said, err
}

// askMemory gives the numbers of the fullest node. One that will not say, or has
// no limit, is not full.
func (s *Store) askMemory(ctx context.Context) (store.Memory, error) {
	said, _, err := askNodes(ctx, s, func(ctx context.Context, node rueidis.Client) (store.Memory, error) {
		info, err := node.Do(ctx, node.B().Info().Section("memory").Build()).ToString()
		if _, refused := rueidis.IsRedisErr(err); refused {
			return store.Memory{}, nil
		}
		return memoryOf(info), err
	})
	if err != nil {
		return store.Memory{}, s.failure(ctx, "read memory", err)
	}
	var fullest store.Memory
	for _, is := range said {
		if cmp.Or(cmp.Compare(is.Percent(), fullest.Percent()), cmp.Compare(is.Used, fullest.Used)) > 0 {
			fullest = is
		}
	}
	return fullest, nil
}

func memoryOf(info string) (is store.Memory) {
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch name {
		case "used_memory":
			is.Used = atoi(value)
		case "maxmemory":
			is.Max = atoi(value)
		}
	}
	return is
}

// askDurability is "fsync" only if every node says that it writes the log
// through to the disk before it answers. One that will not say is "memory"; for
// one that is away counts what it said last.
func (s *Store) askDurability(ctx context.Context) (c3po.Durability, error) {
	said, missing, err := askNodes(ctx, s, func(ctx context.Context, node rueidis.Client) (c3po.Durability, error) {
		settings, err := node.Do(ctx, node.B().ConfigGet().Parameter("appendonly", "appendfsync").Build()).AsStrMap()
		if _, refused := rueidis.IsRedisErr(err); refused {
			return c3po.InMemory, nil
		}
		if settings["appendonly"] != "yes" || settings["appendfsync"] != "always" {
			return c3po.InMemory, err
		}
		return c3po.OnDisk, err
	})
	if err != nil {
		return "", s.failure(ctx, "read durability", err)
	}
	for _, addr := range missing {
		said[addr] = s.engine.lastWord(addr)
	}
	s.engine.keepNodes(said)
	for _, word := range said {
		if word != c3po.OnDisk {
			return c3po.InMemory, nil
		}
	}
	return c3po.OnDisk, nil
}

// lastWord is how durable a node was when it last said so.
func (e *engineCache) lastWord(addr string) c3po.Durability {
	e.mu.Lock()
	defer e.mu.Unlock()
	return cmp.Or(e.nodes[addr], c3po.InMemory)
}

func (e *engineCache) keep(said engineWord) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.value, e.until = said, time.Now().Add(engineAge)
}

func (e *engineCache) keepNodes(nodes map[string]c3po.Durability) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.nodes = nodes
}
