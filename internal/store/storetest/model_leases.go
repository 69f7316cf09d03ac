package storetest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// An editKey is a file where leases of it conflict: in a working tree, or on a branch.
type editKey struct{ repository, tree, branch, path string }

// An edit is the last lease of a file there.
type edit struct {
	lease    c3po.Lease
	by       *editor
	released time.Time
	handed   bool // and not edited since
}

// An editor is a session that holds leases.
type editor struct {
	agent *agent
	term  int64
	last  time.Time
	over  bool // it was forgotten
}

// current says that a session still edits by a term.
func (e *editor) current() bool { return e.agent.editing == e && !e.over }

func (e *edit) heldBy(who *editor) bool { return who != nil && e.by == who && e.released.IsZero() }

func (sp *space) leased(e *edit, now time.Time) bool {
	return e != nil && e.released.IsZero() && e.by.current() && now.Sub(e.by.last) < sp.limits.LeaseIdle &&
		(!e.handed || now.Sub(e.lease.Edited) < sp.limits.LeaseIdle)
}

func placesOf(files c3po.LeaseFiles, path string) []editKey {
	places := []editKey{{files.Repository, files.Tree, "", path}}
	if files.Branch != "" {
		places = append(places, editKey{files.Repository, "", files.Branch, path})
	}
	return places
}

// Lease implements store.Store.
func (m *Model) Lease(_ context.Context, name c3po.Space, step store.LeaseStep) (c3po.LeaseTaken, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now := m.space(name), m.now()
	if sp.superseded(step.Agent, step.Run) {
		return c3po.LeaseTaken{}, store.RefuseSuperseded(step.Agent)
	}
	a := sp.agents[step.Agent]
	if a == nil || !a.goneAt.IsZero() && !a.cut {
		return c3po.LeaseTaken{}, store.RefuseEndedSession(step.Agent)
	}
	mine := a.editing
	if mine != nil && mine.over {
		mine = nil
	}
	for _, path := range step.Files.Paths {
		for _, place := range placesOf(step.Files, path) {
			if e := sp.edits[place]; sp.leased(e, now) && e.by != mine {
				held := e.lease
				held.Holder, held.Tree = e.by.agent.id, ""
				return c3po.LeaseTaken{Held: &held}, nil
			}
		}
	}
	if mine == nil && len(step.Files.Paths) == 0 {
		return c3po.LeaseTaken{}, nil
	}
	fence := max(sp.fence, now.UnixMilli()-1)
	if mine == nil {
		fence++
		mine = &editor{agent: a, term: fence}
	}
	fresh, kept := 0, map[string]*edit{}
	for _, path := range step.Files.Paths {
		places := placesOf(step.Files, path)
		first := sp.edits[places[0]]
		still := !slices.ContainsFunc(places, func(place editKey) bool {
			e := sp.edits[place]
			return e == nil || !e.heldBy(mine) || e.lease.Number != first.lease.Number
		})
		if still {
			kept[path] = first
		} else {
			fresh++
		}
	}
	if fresh > 0 && len(sp.editsOf(mine))+fresh > c3po.MaxAgentLeases {
		return c3po.LeaseTaken{}, store.RefuseManyLeases("you hold", c3po.MaxAgentLeases)
	}
	if fresh > 0 && len(sp.edits)+2*fresh > store.MaxLeaseRows {
		sp.dropEdits(0, now)
		if len(sp.edits)+2*fresh > store.MaxLeaseRows {
			return c3po.LeaseTaken{}, store.RefuseManyLeases("this space has", store.MaxLeaseRows/2)
		}
	}
	a.editing, mine.last = mine, now
	var taken c3po.LeaseTaken
	for _, path := range step.Files.Paths {
		lease := c3po.Lease{
			Repository: step.Files.Repository, Branch: step.Files.Branch, Path: path, Holder: a.id, Since: now, Edited: now, Task: cmp.Or(step.Task, a.task),
		}
		if was := kept[path]; was != nil {
			lease.Number, lease.Since = was.lease.Number, was.lease.Since
		} else {
			fence++
			lease.Number = fence
		}
		if was := sp.edits[placesOf(step.Files, path)[0]]; was != nil && was.heldBy(mine) {
			if lease.Branch == "" {
				lease.Branch = was.lease.Branch
			} else if lease.Branch != was.lease.Branch {
				sp.leaveBranch(was, now)
			}
		}
		for _, place := range placesOf(step.Files, path) {
			lease.Tree = place.tree
			sp.edits[place] = &edit{lease: lease, by: mine}
		}
		taken.Numbers = append(taken.Numbers, lease.Number)
	}
	if fence > max(sp.fence, now.UnixMilli()-1) {
		sp.fence = fence
	}
	return taken, nil
}

// editsOf are the files that an editor holds in working trees.
func (sp *space) editsOf(by *editor) (held []*edit) {
	for place, e := range sp.edits {
		if place.tree != "" && e.heldBy(by) {
			held = append(held, e)
		}
	}
	return held
}

// Release implements store.Store.
func (m *Model) Release(_ context.Context, name c3po.Space, step store.ReleaseStep) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	if sp.superseded(step.Agent, step.Run) {
		return 0, store.RefuseSuperseded(step.Agent)
	}
	a := sp.agents[step.Agent]
	if a == nil {
		return 0, nil
	}
	return sp.endEdits(step.Files, func(e *edit) bool { return e.heldBy(a.editing) }, m.now()), nil
}

// BreakLease implements store.Store.
func (m *Model) BreakLease(_ context.Context, name c3po.Space, lease c3po.Lease) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	files := c3po.LeaseFiles{Repository: lease.Repository, Branch: lease.Branch, Tree: lease.Tree, Paths: []string{lease.Path}}
	return m.space(name).endEdits(files, func(e *edit) bool { return e.lease.Number == lease.Number && e.released.IsZero() }, m.now()) > 0, nil
}

// HandLeases implements store.Store.
func (m *Model) HandLeases(_ context.Context, name c3po.Space, step store.HandStep) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now := m.space(name), m.now()
	if sp.superseded(step.Agent, step.Run) {
		return 0, store.RefuseSuperseded(step.Agent)
	}
	a, to := sp.agents[step.Agent], sp.agents[step.To]
	if a == nil || a.editing == nil || a.editing.over || step.Agent == step.To {
		return 0, nil
	}
	mine, fence := a.editing, max(sp.fence, now.UnixMilli()-1)
	var next *editor
	if to != nil && (to.goneAt.IsZero() || to.cut) {
		if next = to.editing; next == nil || next.over {
			fence++
			next = &editor{agent: to, term: fence}
		}
	}
	count := 0
	for _, lease := range step.Leases {
		files := c3po.LeaseFiles{Repository: lease.Repository, Branch: lease.Branch, Tree: lease.Tree}
		var held []*edit
		for _, place := range placesOf(files, lease.Path) {
			if e := sp.edits[place]; e != nil && e.heldBy(mine) {
				held = append(held, e)
			}
		}
		if len(held) == 0 {
			continue
		}
		count++
		goes := held[len(held)-1]
		for _, e := range held[:len(held)-1] {
			e.released = now
		}
		if next == nil {
			goes.released = now
			continue
		}
		fence++
		goes.by, goes.handed = next, true
		goes.lease.Number, goes.lease.Holder, goes.lease.Since, goes.lease.Edited = fence, to.id, now, now
	}
	if count > 0 && next != nil {
		sp.fence, to.editing, next.last = fence, next, now
	}
	return count, nil
}

// LapseLeases implements store.Store.
func (m *Model) LapseLeases(_ context.Context, name c3po.Space, id c3po.AgentID) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now := m.space(name), m.now()
	a := sp.agents[id]
	if a == nil || a.editing == nil || a.editing.over || sp.online(a, now) {
		return false, nil
	}
	last := a.editing.last
	for _, at := range []time.Time{a.seen, a.goneAt, sp.leases[a.node]} {
		if at.After(last) {
			last = at
		}
	}
	if now.Sub(last) < sp.limits.LeaseOffline {
		return false, nil
	}
	a.editing = nil
	return true, nil
}

func (sp *space) endEdits(files c3po.LeaseFiles, which func(*edit) bool, now time.Time) (ended int) {
	for _, path := range files.Paths {
		for _, place := range placesOf(files, path) {
			e := sp.edits[place]
			if e == nil || !which(e) {
				continue
			}
			e.released = now
			if place.branch == "" {
				ended++
				sp.leaveBranch(e, now)
			}
		}
	}
	return ended
}

// leaveBranch ends what the lease of a file in a working tree is on its branch.
func (sp *space) leaveBranch(tree *edit, now time.Time) {
	on := sp.edits[editKey{tree.lease.Repository, "", tree.lease.Branch, tree.lease.Path}]
	if on != nil && on.heldBy(tree.by) && on.lease.Number == tree.lease.Number {
		on.released = now
	}
}

// Leases implements store.Store.
func (m *Model) Leases(_ context.Context, name c3po.Space) ([]c3po.Lease, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	leases := m.space(name).leasesByNumber(m.now())
	return slices.SortedFunc(maps.Values(leases), func(a, b c3po.Lease) int { return cmp.Compare(b.Number, a.Number) }), nil
}

// leasesByNumber are all leases. What a lease is in its working tree says more than what it
// is on its branch.
func (sp *space) leasesByNumber(now time.Time) map[int64]c3po.Lease {
	leases := map[int64]c3po.Lease{}
	for place, e := range sp.edits {
		lease := e.lease
		if e.by.current() {
			lease.Holder = e.by.agent.id
		}
		if !sp.leased(e, now) {
			ended := e.end()
			lease.Ended = &ended
		}
		if _, known := leases[lease.Number]; !known || place.tree != "" {
			leases[lease.Number] = lease
		}
	}
	return leases
}

// end is when a lease that nobody holds was released, or else last used.
func (e *edit) end() time.Time {
	if e.released.IsZero() {
		return e.lease.Edited
	}
	return e.released
}

// dropEdits forgets leases that ended so long ago, and editors that long did nothing.
func (sp *space) dropEdits(memory time.Duration, now time.Time) {
	leases := sp.leasesByNumber(now)
	maps.DeleteFunc(sp.edits, func(_ editKey, e *edit) bool {
		return leases[e.lease.Number].Ended != nil && now.Sub(e.end()) >= memory
	})
	for _, a := range sp.agents {
		if a.editing != nil && now.Sub(a.editing.last) >= max(memory, sp.limits.LeaseIdle) {
			a.editing.over = true
		}
	}
}

func (h holdings) edits(sp *space) {
	for place := range sp.edits {
		where := "b:" + place.branch
		if place.tree != "" {
			where = "t:" + place.tree
		}
		h.put("edits", place.repository+"\x00"+where+"\x00"+place.path)
	}
	for _, a := range sp.agents {
		if a.editing != nil && !a.editing.over {
			h.put("editors", strconv.FormatInt(a.editing.term, 10))
		}
	}
}
