package redisstore

import (
	"context"
	"slices"
	"strings"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
)

func (s *Store) ids(ctx context.Context, command rueidis.Completed) ([]c3po.AgentID, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	names, err := s.commands.Do(ctx, command).AsStrSlice()
	if err != nil {
		return nil, s.failure(ctx, "read agents", err)
	}
	out := make([]c3po.AgentID, len(names))
	for i, name := range names {
		// An entry of the names index is "name id"; ids hold no spaces.
		if _, id, found := strings.Cut(name, " "); found {
			name = id
		}
		out[i] = c3po.AgentID(name)
	}
	return out, nil
}

// Named implements store.Store.
func (s *Store) Named(ctx context.Context, space c3po.Space, name string, limit int) ([]c3po.AgentID, error) {
	b := s.commands.B()
	return s.ids(ctx, b.Zrangebylex().Key(keysOf(space).names()).Min("["+name+" ").Max("("+name+"!").Limit(0, int64(limit)).Build())
}

// Neighbours implements store.Store.
func (s *Store) Neighbours(ctx context.Context, space c3po.Space, name string, limit int) ([]c3po.AgentID, error) {
	b, key := s.commands.B(), keysOf(space).names()
	before, err := s.ids(ctx, b.Zrevrangebylex().Key(key).Max("("+name+" ").Min("-").Limit(0, int64(limit/2)).Build())
	if err != nil {
		return nil, err
	}
	after, err := s.ids(ctx, s.commands.B().Zrangebylex().Key(key).Min("["+name+" ").Max("+").Limit(0, int64(limit-len(before))).Build())
	if err != nil {
		return nil, err
	}
	slices.Reverse(before)
	return append(before, after...), nil
}

// Recent implements store.Store.
func (s *Store) Recent(ctx context.Context, space c3po.Space, limit int) ([]c3po.AgentID, error) {
	return s.ids(ctx, s.commands.B().Zrevrange().Key(keysOf(space).seen()).Start(0).Stop(int64(limit)-1).Build())
}
