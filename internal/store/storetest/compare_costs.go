package storetest

import (
	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// use reports what a message has cost, and reads what its chain has.
func (d *comparison) use(a *comparedSpace) {
	id := d.mailOf(a, d.owner(a))
	_, owner, _ := id.Split()
	if owner.Queue() != "" || d.oneIn(8, "another says so") {
		owner = d.agent(a, "who says so")
	}
	some := func(what string) int64 { return draw(d, what, []int64{0, 10, 700, 2_000}) }
	in := store.UsageStep{
		Agent: owner, Run: d.run(a, owner), Client: "codex", ID: id, Shared: d.oneIn(3, "shared"),
		Usage: c3po.Usage{InputTokens: some("input"), OutputTokens: some("output"), CacheReadTokens: some("read"), CacheWriteTokens: some("written"), MicroUSD: some("money")},
	}
	_, _ = both(d, "use", func(s store.Store) (bool, error) { return s.Use(d.ctx, a.space, in) })
	chain := d.threadName(a)
	_, _ = both(d, "chain cost", func(s store.Store) (*c3po.Cost, error) { return s.ChainCost(d.ctx, a.space, chain) })
}
