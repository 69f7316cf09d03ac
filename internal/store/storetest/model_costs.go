package storetest

import (
	"context"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// A chainCost is what a chain has cost.
type chainCost struct {
	usage    c3po.Usage
	messages int
	hour     time.Time // of the chain's account
	tokens   int64     // in that hour
	told     time.Time // when somebody last said so
}

// Use implements store.Store.
func (m *Model) Use(_ context.Context, name c3po.Space, step store.UsageStep) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now := m.space(name), m.now()
	if sp.superseded(step.Agent, step.Run) {
		return false, store.RefuseSuperseded(step.Agent)
	}
	msg := sp.messages[step.ID]
	switch {
	case msg == nil || msg.view.FromAgent == c3po.System:
		return false, nil
	case msg.view.ToAgent.Queue() != "" && (msg.facts.Claim == nil || msg.facts.Claim.By != step.Agent):
		return false, nil
	case msg.view.ToAgent.Queue() == "" && msg.view.ToAgent != step.Agent:
		return false, nil
	}
	rows := slices.Clone(msg.facts.Used)
	at := slices.IndexFunc(rows, func(r store.RunUsage) bool { return r.Run == step.Run })
	if at < 0 {
		if len(rows) >= store.MaxUsageRuns {
			rows[1].Run, rows[1].Usage, rows[1].Shared = "+", rows[1].Usage.Plus(rows[0].Usage), rows[1].Shared || rows[0].Shared
			rows = rows[1:]
		}
		rows, at = append(rows, store.RunUsage{Run: step.Run, Client: step.Client}), len(rows)
	}
	more := step.Usage.Minus(rows[at].Usage)
	if more == (c3po.Usage{}) {
		return false, nil
	}
	known := len(msg.facts.Used) > 0
	rows[at].Usage, rows[at].Shared = rows[at].Usage.Plus(more), rows[at].Shared || step.Shared
	msg.facts.Used = rows
	sp.addCost(chainOf(msg), more, known, now)
	return true, nil
}

func chainOf(msg *message) string {
	if msg.facts.Chain != "" {
		return msg.facts.Chain
	}
	return msg.view.Thread
}

func (sp *space) addCost(chain string, more c3po.Usage, known bool, now time.Time) {
	a := sp.account("t:"+chain, now)
	if sp.costs == nil {
		sp.costs = map[string]*chainCost{}
	}
	cost := sp.costs[chain]
	if cost == nil {
		cost = &chainCost{}
		sp.costs[chain] = cost
	}
	cost.usage, cost.told = cost.usage.Plus(more), now
	if !known {
		cost.messages++
	}
	if !cost.hour.Equal(a.start) {
		cost.hour, cost.tokens = a.start, 0
	}
	cost.tokens += more.Tokens()
	if sp.limits.ChainTokens > 0 {
		if !a.spent() {
			a.untold, a.listed = cost.tokens >= int64(sp.limits.ChainTokens), now
		}
		sp.accounts["t:"+chain] = &a
	}
}

// ChainCost implements store.Store.
func (m *Model) ChainCost(_ context.Context, name c3po.Space, chain string) (*c3po.Cost, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	cost := m.space(name).costs[chain]
	if cost == nil {
		return nil, nil
	}
	return &c3po.Cost{Usage: cost.usage, Messages: cost.messages}, nil
}
