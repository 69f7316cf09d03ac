package storetest

import (
	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// files are some of a repository, in one of its working trees.
func (d *comparison) files() c3po.LeaseFiles {
	return c3po.LeaseFiles{
		Repository: "r", Branch: draw(d, "branch", []string{"", "main", "main", "side"}), Tree: draw(d, "tree", []string{"t1", "t2"}),
		Paths: draw(d, "paths", [][]string{nil, {"a"}, {"b"}, {"a", "b"}}),
	}
}

func (d *comparison) leaseFiles(a *comparedSpace) {
	id := d.agent(a, "editor")
	in := store.LeaseStep{Agent: id, Run: d.run(a, id), Files: d.files(), Task: draw(d, "task", []string{"", "mend it"})}
	_, _ = both(d, "lease", func(s store.Store) (c3po.LeaseTaken, error) { return s.Lease(d.ctx, a.space, in) })
	_, _ = both(d, "leases", func(s store.Store) ([]c3po.Lease, error) { return s.Leases(d.ctx, a.space) })
}

func (d *comparison) releaseFiles(a *comparedSpace) {
	id := d.agent(a, "editor")
	in := store.ReleaseStep{Agent: id, Run: d.run(a, id), Files: d.files()}
	_, _ = both(d, "release", func(s store.Store) (int, error) { return s.Release(d.ctx, a.space, in) })
	leases, _ := both(d, "leases", func(s store.Store) ([]c3po.Lease, error) { return s.Leases(d.ctx, a.space) })
	if len(leases) > 0 && d.oneIn(3, "a person breaks one") {
		lease := draw(d, "which", leases)
		_, _ = both(d, "break", func(s store.Store) (bool, error) { return s.BreakLease(d.ctx, a.space, lease) })
	}
	if len(leases) > 0 && d.oneIn(3, "they are handed over") {
		in := store.HandStep{Agent: id, Run: d.run(a, id), To: d.agent(a, "next"), Leases: leases}
		_, _ = both(d, "hand over", func(s store.Store) (int, error) { return s.HandLeases(d.ctx, a.space, in) })
		_, _ = both(d, "leases", func(s store.Store) ([]c3po.Lease, error) { return s.Leases(d.ctx, a.space) })
	}
	if d.oneIn(3, "an offline holder is looked for") {
		_, _ = both(d, "lapse", func(s store.Store) (bool, error) { return s.LapseLeases(d.ctx, a.space, id) })
	}
}
