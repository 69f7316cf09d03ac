package redisstore

import (
	"context"
	"strings"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// Use implements store.Store.
func (s *Store) Use(ctx context.Context, space c3po.Space, step store.UsageStep) (bool, error) {
	from, owner, hex := step.ID.Split()
	k := keysOf(space)
	answer, err := s.run(ctx, "usage_record", k, with{
		"reader": k.agent(step.Agent), "facts": k.fact(owner), "owner": owner, "from": from, "hex": hex,
		"agent": step.Agent, "run": step.Run, "client": step.Client,
		"input": step.Usage.InputTokens, "output": step.Usage.OutputTokens, "cache_read": step.Usage.CacheReadTokens, "cache_write": step.Usage.CacheWriteTokens,
		"micro_usd": step.Usage.MicroUSD, "shared": step.Shared, "runs": store.MaxUsageRuns, "keep": millis(store.CostLife - store.FlowIdle),
	})
	if err != nil {
		return false, err
	}
	if word(answer[0]) == "superseded" {
		return false, store.RefuseSuperseded(step.Agent)
	}
	return word(answer[0]) == "recorded", nil
}

// ChainCost implements store.Store.
func (s *Store) ChainCost(ctx context.Context, space c3po.Space, chain string) (*c3po.Cost, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	raw, err := s.commands.Do(ctx, s.commands.B().Hget().Key(keysOf(space).flow()).Field("c:"+chain).Build()).ToString()
	if rueidis.IsRedisNil(err) {
		return nil, nil
	}
	if err != nil {
		return nil, s.failure(ctx, "chain_cost", err)
	}
	n := strings.Fields(raw)
	if len(n) != 8 {
		return nil, nil // damaged: nobody knows
	}
	return &c3po.Cost{Messages: int(atoi(n[5])), Usage: c3po.Usage{
		InputTokens: atoi(n[0]), OutputTokens: atoi(n[1]), CacheReadTokens: atoi(n[2]), CacheWriteTokens: atoi(n[3]), MicroUSD: atoi(n[4]),
	}}, nil
}
