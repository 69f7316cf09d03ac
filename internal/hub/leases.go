package hub

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

const (
	maxLeaseName = 255   // of a repository, a branch or a working tree
	maxLeasePath = 4_096 // of a file
	maxLeaseTask = 200   // kept of what a holder works on
)

// LeaseTake gives the caller the leases of files it is about to edit, or says who holds one.
func (a *Actor) LeaseTake(ctx context.Context, in c3po.LeaseTakeInput) (c3po.LeaseTaken, error) {
	files, err := checkFiles(c3po.LeaseFiles{Repository: in.Repository, Branch: in.Branch, Tree: in.Tree, Paths: in.Paths})
	if err == nil {
		err = checkLabels(label{"task", in.Task, maxReasonBytes})
	}
	if err == nil {
		err = a.enter(ctx)
	}
	if err != nil {
		return c3po.LeaseTaken{}, err
	}
	step := store.LeaseStep{Agent: a.id, Run: a.caller.Run, Files: files, Task: clipTask(in.Task)}
	taken, err := a.hub.store.Lease(ctx, a.space, step)
	for err == nil && taken.Held != nil { // each round ends the leases of one agent
		var lapsed bool
		if lapsed, err = a.hub.store.LapseLeases(ctx, a.space, taken.Held.Holder); err != nil || !lapsed {
			break
		}
		taken, err = a.hub.store.Lease(ctx, a.space, step)
	}
	return taken, a.dropIfSuperseded(err)
}

// leases lists all, after ending those whose holders have been offline for long.
func (a *Actor) leases(ctx context.Context) ([]c3po.Lease, error) {
	leases, err := a.hub.store.Leases(ctx, a.space)
	if err != nil {
		return nil, err
	}
	var holders []c3po.AgentID
	for _, lease := range leases {
		if lease.Ended == nil && !slices.Contains(holders, lease.Holder) {
			holders = append(holders, lease.Holder)
		}
	}
	lapsed := false
	for _, holder := range holders {
		ended, err := a.hub.store.LapseLeases(ctx, a.space, holder)
		if err != nil {
			return nil, err
		}
		lapsed = lapsed || ended
	}
	if !lapsed {
		return leases, nil
	}
	return a.hub.store.Leases(ctx, a.space)
}

// LeaseRelease ends leases of the caller's.
func (a *Actor) LeaseRelease(ctx context.Context, in c3po.LeaseReleaseInput) (c3po.LeaseReleased, error) {
	files, err := checkFiles(c3po.LeaseFiles(in))
	if err == nil {
		err = a.enter(ctx)
	}
	if err != nil {
		return c3po.LeaseReleased{}, err
	}
	released, err := a.hub.store.Release(ctx, a.space, store.ReleaseStep{Agent: a.id, Run: a.caller.Run, Files: files})
	return c3po.LeaseReleased{Released: released}, a.dropIfSuperseded(err)
}

// LeaseCheck finds what stands against a commit: a file that another session holds, or
// that somebody has leased since the working tree did. A person may commit what an agent
// holds in the person's own working tree.
func (a *Actor) LeaseCheck(ctx context.Context, in c3po.LeaseCheckInput) (c3po.LeaseConflicts, error) {
	if len(in.Numbers) != len(in.Paths) {
		return c3po.LeaseConflicts{}, refuse("there are %d paths and %d numbers; give one for each", len(in.Paths), len(in.Numbers))
	}
	if _, err := checkFiles(c3po.LeaseFiles{Repository: in.Repository, Branch: in.Branch, Tree: in.Tree, Paths: in.Paths}); err != nil {
		return c3po.LeaseConflicts{}, err
	}
	if err := a.enter(ctx); err != nil {
		return c3po.LeaseConflicts{}, err
	}
	leases, err := a.leases(ctx)
	if err != nil {
		return c3po.LeaseConflicts{}, err
	}
	had := map[string]int64{}
	for i, path := range in.Paths {
		had[path] = in.Numbers[i]
	}
	out := c3po.LeaseConflicts{Leases: []c3po.Lease{}}
	for _, lease := range leases {
		number, asked := had[lease.Path]
		here := lease.Tree == in.Tree
		if !asked || lease.Repository != in.Repository || !here && (in.Branch == "" || lease.Branch != in.Branch) {
			continue
		}
		if lease.Holder == a.id {
			continue // in another clone, perhaps: nobody is in its own way
		}
		if lease.Ended == nil && !(here && a.id == c3po.Human) || number > 0 && lease.Number > number {
			out.Leases = append(out.Leases, lease)
			delete(had, lease.Path) // the latest says enough
		}
	}
	return out, nil
}

// LeaseList says who edits what.
func (a *Actor) LeaseList(ctx context.Context, in c3po.LeaseListInput) (c3po.LeaseList, error) {
	if err := checkLabels(label{"repository", in.Repository, maxLeaseName}); err != nil {
		return c3po.LeaseList{}, err
	}
	if err := a.enterIfNamed(ctx); err != nil {
		return c3po.LeaseList{}, err
	}
	leases, err := a.leases(ctx)
	if err != nil {
		return c3po.LeaseList{}, err
	}
	leases = slices.DeleteFunc(leases, func(l c3po.Lease) bool {
		return l.Ended != nil || in.Repository != "" && l.Repository != in.Repository
	})
	return c3po.LeaseList{Leases: append([]c3po.Lease{}, leases[:min(len(leases), a.hub.limits.MaxPageItems)]...)}, nil
}

// LeaseBreak ends a lease for a person.
func (a *Actor) LeaseBreak(ctx context.Context, in c3po.LeaseBreakInput) (c3po.LeaseReleased, error) {
	if err := a.people.person(); err != nil {
		return c3po.LeaseReleased{}, err
	}
	leases, err := a.hub.store.Leases(ctx, a.space)
	if err != nil {
		return c3po.LeaseReleased{}, err
	}
	at := slices.IndexFunc(leases, func(l c3po.Lease) bool { return l.Number == in.Number && l.Ended == nil })
	if at < 0 {
		return c3po.LeaseReleased{}, c3po.Errorf(c3po.InvalidRequest, "nobody holds a lease with the number %d", in.Number).
			Suggest("lease_list shows those that are held.")
	}
	if _, err := a.hub.store.BreakLease(ctx, a.space, leases[at]); err != nil {
		return c3po.LeaseReleased{}, err
	}
	a.decided = fmt.Sprintf("ended the lease %d of %s on %q", in.Number, leases[at].Holder, leases[at].Path)
	return c3po.LeaseReleased{Released: 1}, nil
}

// checkFiles refuses names that cannot be kept, and takes each path once.
func checkFiles(files c3po.LeaseFiles) (c3po.LeaseFiles, error) {
	if files.Repository == "" || files.Tree == "" {
		return files, refuse("repository and tree must both be given")
	}
	if len(files.Paths) > c3po.MaxLeaseFiles {
		return files, refuse("paths has %d entries, and may have %d", len(files.Paths), c3po.MaxLeaseFiles)
	}
	err := checkLabels(label{"repository", files.Repository, maxLeaseName}, label{"branch", files.Branch, maxLeaseName}, label{"tree", files.Tree, maxLeaseName})
	var once []string
	for _, path := range files.Paths {
		if path == "" || strings.ContainsRune(path, 0) {
			return files, refuse("a path is empty or holds a NUL")
		}
		if err == nil {
			err = checkText("path", path, maxLeasePath)
		}
		if !slices.Contains(once, path) {
			once = append(once, path)
		}
	}
	files.Paths = once
	return files, err
}

// clipTask keeps a lease small.
func clipTask(task string) string {
	if runes := []rune(task); len(runes) > maxLeaseTask {
		return string(runes[:maxLeaseTask-1]) + "…"
	}
	return task
}

// handLeases gives the leases of whoever hands a message over to the next agent, except those
// that were taken for another message. What is repeated moves nothing more.
func (me *identity) handLeases(ctx context.Context, id c3po.MessageID, to c3po.AgentID) error {
	leases, err := me.hub.store.Leases(ctx, me.space)
	if err != nil {
		return err
	}
	leases = slices.DeleteFunc(leases, func(l c3po.Lease) bool {
		message, forOne := strings.CutPrefix(l.Task, c3po.LeaseForMessage)
		return l.Ended != nil || l.Holder != me.id || forOne && message != string(id)
	})
	if len(leases) == 0 {
		return nil
	}
	_, err = me.hub.store.HandLeases(ctx, me.space, store.HandStep{Agent: me.id, Run: me.caller.Run, To: to, Leases: leases})
	return err
}
