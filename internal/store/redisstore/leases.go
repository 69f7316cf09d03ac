package redisstore

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// What a field of edits begins its second part with.
const (
	ofTree   = "t:"
	ofBranch = "b:"
)

// leaseFields are the two fields of each file.
func leaseFields(files c3po.LeaseFiles) (rows []with) {
	for _, path := range files.Paths {
		on := ""
		if files.Branch != "" {
			on = leaseField(files.Repository, ofBranch+files.Branch, path)
		}
		rows = append(rows, with{"tree": leaseField(files.Repository, ofTree+files.Tree, path), "on": on, "path": path})
	}
	return rows
}

func leaseField(repository, where, path string) string {
	return repository + "\x00" + where + "\x00" + path
}

// Lease implements store.Store.
func (s *Store) Lease(ctx context.Context, space c3po.Space, step store.LeaseStep) (c3po.LeaseTaken, error) {
	k := keysOf(space)
	given := with{
		"agent": k.agent(step.Agent), "id": step.Agent, "run": step.Run, "branch": step.Files.Branch, "about": step.Task,
		"idle": millis(s.limits.LeaseIdle), "most": c3po.MaxAgentLeases, "rows": store.MaxLeaseRows, "repository": step.Files.Repository, "files": leaseFields(step.Files),
	}
	answer, err := s.run(ctx, "edit_lease", k, given)
	if err == nil && word(answer[0]) == "full" {
		if err = s.dropLeases(ctx, space, 0); err == nil {
			answer, err = s.run(ctx, "edit_lease", k, given)
		}
	}
	if err != nil {
		return c3po.LeaseTaken{}, err
	}
	switch word(answer[0]) {
	case "superseded":
		return c3po.LeaseTaken{}, store.RefuseSuperseded(step.Agent)
	case "gone":
		return c3po.LeaseTaken{}, store.RefuseEndedSession(step.Agent)
	case "many":
		return c3po.LeaseTaken{}, store.RefuseManyLeases("you hold", c3po.MaxAgentLeases)
	case "full":
		return c3po.LeaseTaken{}, store.RefuseManyLeases("this space has", store.MaxLeaseRows/2)
	case "held":
		return c3po.LeaseTaken{Held: &c3po.Lease{
			Repository: step.Files.Repository, Path: step.Files.Paths[integer(answer[1])-1], Holder: c3po.AgentID(word(answer[2])), Number: atoi(word(answer[3])),
			Since: instant(atoi(word(answer[4]))), Edited: instant(atoi(word(answer[5]))), Task: word(answer[6]), Branch: word(answer[7]),
		}}, nil
	}
	var taken c3po.LeaseTaken
	for _, number := range answer[2:] {
		taken.Numbers = append(taken.Numbers, atoi(word(number)))
	}
	return taken, nil
}

// Release implements store.Store.
func (s *Store) Release(ctx context.Context, space c3po.Space, step store.ReleaseStep) (int, error) {
	k := keysOf(space)
	answer, err := s.run(ctx, "edit_release", k, with{"agent": k.agent(step.Agent), "run": step.Run, "fence": 0, "repository": step.Files.Repository, "files": leaseFields(step.Files)})
	if err != nil {
		return 0, err
	}
	if word(answer[0]) == "superseded" {
		return 0, store.RefuseSuperseded(step.Agent)
	}
	return int(integer(answer[1])), nil
}

// BreakLease implements store.Store.
func (s *Store) BreakLease(ctx context.Context, space c3po.Space, lease c3po.Lease) (bool, error) {
	k := keysOf(space)
	files := c3po.LeaseFiles{Repository: lease.Repository, Branch: lease.Branch, Tree: lease.Tree, Paths: []string{lease.Path}}
	answer, err := s.run(ctx, "edit_release", k, with{"agent": k.agent(lease.Holder), "run": "", "fence": lease.Number, "repository": lease.Repository, "files": leaseFields(files)})
	if err != nil {
		return false, err
	}
	return integer(answer[1]) > 0, nil
}

// HandLeases implements store.Store.
func (s *Store) HandLeases(ctx context.Context, space c3po.Space, step store.HandStep) (int, error) {
	k := keysOf(space)
	var rows []with
	for _, l := range step.Leases {
		rows = append(rows, leaseFields(c3po.LeaseFiles{Repository: l.Repository, Branch: l.Branch, Tree: l.Tree, Paths: []string{l.Path}})...)
	}
	for _, row := range rows {
		delete(row, "path") // the two fields say all
	}
	answer, err := s.run(ctx, "edit_hand", k, with{"agent": k.agent(step.Agent), "taker": k.agent(step.To), "run": step.Run, "to": step.To, "files": rows})
	if err != nil {
		return 0, err
	}
	if word(answer[0]) == "superseded" {
		return 0, store.RefuseSuperseded(step.Agent)
	}
	return int(integer(answer[1])), nil
}

// LapseLeases implements store.Store.
func (s *Store) LapseLeases(ctx context.Context, space c3po.Space, agent c3po.AgentID) (bool, error) {
	k := keysOf(space)
	answer, err := s.run(ctx, "edit_lapse", k, with{"agent": k.agent(agent), "offline": millis(s.limits.LeaseOffline)})
	return err == nil && word(answer[0]) == "lapsed", err
}

// A leaseRow is one lease as edits.lua writes it, an editor who holds some.
type (
	leaseRow struct {
		Number int64        `json:"n"`
		Term   string       `json:"m"`
		Agent  c3po.AgentID `json:"a"`
		Since  int64        `json:"s"`
		Last   int64        `json:"l"`
		Task   string       `json:"k"`
		Branch string       `json:"b"`
		Ended  int64        `json:"e"`
		Handed int          `json:"h"`
	}
	editor struct {
		Agent c3po.AgentID `json:"a"`
		Last  int64        `json:"l"`
	}
)

// Leases implements store.Store.
func (s *Store) Leases(ctx context.Context, space c3po.Space) ([]c3po.Lease, error) {
	answer, err := s.run(ctx, "edit_read", keysOf(space), nil)
	if err != nil {
		return nil, err
	}
	now := instant(integer(answer[1]))
	editors := map[string]editor{}
	for row := range slices.Chunk(list(answer[3]), 2) {
		var e editor
		if json.Unmarshal([]byte(word(row[1])), &e) == nil { // else it is damaged: nobody holds by it
			editors[word(row[0])] = e
		}
	}
	// The row of a working tree tells all of a lease. Without one, it has moved on there.
	byNumber := map[int64]c3po.Lease{}
	for row := range slices.Chunk(list(answer[2]), 2) {
		lease, ok := s.leaseOf(word(row[0]), word(row[1]), editors, now)
		if _, known := byNumber[lease.Number]; ok && (!known || lease.Tree != "") {
			byNumber[lease.Number] = lease
		}
	}
	var leases []c3po.Lease
	for _, lease := range byNumber {
		leases = append(leases, lease)
	}
	slices.SortFunc(leases, func(a, b c3po.Lease) int { return cmp.Compare(b.Number, a.Number) })
	return leases, nil
}

func (s *Store) leaseOf(field, value string, editors map[string]editor, now time.Time) (c3po.Lease, bool) {
	var row leaseRow
	parts := strings.SplitN(field, "\x00", 3)
	if len(parts) != 3 || json.Unmarshal([]byte(value), &row) != nil {
		return c3po.Lease{}, false
	}
	by, there := editors[row.Term]
	lease := c3po.Lease{
		Number: row.Number, Repository: parts[0], Branch: row.Branch, Path: parts[2], Holder: cmp.Or(by.Agent, row.Agent),
		Since: instant(row.Since), Edited: instant(row.Last), Task: row.Task,
	}
	if tree, ok := strings.CutPrefix(parts[1], ofTree); ok {
		lease.Tree = tree
	}
	idle := now.Sub(instant(by.Last)) >= s.limits.LeaseIdle || row.Handed > 0 && now.Sub(instant(row.Last)) >= s.limits.LeaseIdle
	if row.Ended > 0 || !there || idle {
		ended := instant(cmp.Or(row.Ended, row.Last))
		lease.Ended = &ended
	}
	return lease, true
}

// dropLeases forgets leases that nobody holds any more and that ended so long ago, and
// editors that showed no work for so long.
func (s *Store) dropLeases(ctx context.Context, space c3po.Space, memory time.Duration) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	leases, err := s.Leases(ctx, space)
	if err != nil {
		return err
	}
	held := map[int64]bool{}
	for _, lease := range leases {
		held[lease.Number] = lease.Ended == nil
	}
	k := keysOf(space)
	err = s.drop(ctx, k.edits(), func(_, value string) (bool, error) {
		var row leaseRow
		damaged := json.Unmarshal([]byte(value), &row) != nil
		return damaged || !held[row.Number] && now.Sub(instant(cmp.Or(row.Ended, row.Last))) >= memory, nil
	})
	if err != nil {
		return err
	}
	return s.drop(ctx, k.editors(), func(_, value string) (bool, error) {
		var e editor
		damaged := json.Unmarshal([]byte(value), &e) != nil
		return damaged || now.Sub(instant(e.Last)) >= max(memory, s.limits.LeaseIdle), nil
	})
}
