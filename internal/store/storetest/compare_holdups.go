package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// quota says that an agent is out of quota, or is not.
func (d *comparison) quota(a *comparedSpace) {
	id := draw(d, "agent", append(slices.Clone(a.agents), "nobody"))
	in := store.QuotaStep{
		Agent: id, Run: d.run(a, id), For: draw(d, "for", []time.Duration{0, time.Second, 30 * time.Second, time.Hour}),
		Exact: d.oneIn(2, "exact"), Evidence: draw(d, "evidence", []string{"", "usage limit reached, \"resets\" 3pm"}),
	}
	d.done("quota", func(s store.Store) error { return s.SetQuota(d.ctx, a.space, in) })
}

// holdUp says that an agent does not go on with a message, or does.
func (d *comparison) holdUp(a *comparedSpace) {
	id := d.mailOf(a, d.owner(a))
	from, owner, _ := id.Split()
	if owner.Queue() != "" || d.oneIn(8, "another says so") {
		owner = d.agent(a, "who says so")
	}
	in := store.HoldUpStep{
		Agent: owner, Run: d.run(a, owner), ID: id, Why: draw(d, "why", []store.HoldUpReason{store.HeldUpByQuota, store.Stalled, store.GoesOn}),
		To: from, Notice: fmt.Sprintf("%s waits", id), Durability: c3po.OnDisk,
	}
	if d.oneIn(4, "nobody is told") {
		in.To = ""
	}
	_, _ = both(d, "hold up", func(s store.Store) (store.HeldUp, error) { return s.HoldUp(d.ctx, a.space, in) })
}
