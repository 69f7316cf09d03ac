package session

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

const (
	// leaseTimeout is how long an edit waits for the coordinator. Without an answer it goes on.
	leaseTimeout = 100 * time.Millisecond
	// tidyEvery is how often it is looked which files are unchanged again, at most.
	tidyEvery = time.Second
	// tidyTimeout bounds one call that ends leases, or takes those that are owed.
	tidyTimeout = 5 * time.Second
	// renewEvery is how often a session that works on other things says so.
	renewEvery = 5 * time.Minute
)

// leases are what a session holds of the files it edits. The coordinator knows better; this
// is what the session looks after.
type leases struct {
	mu       sync.Mutex
	trees    map[string]*leasedTree // by the folder of the working tree
	underWay map[string][]string    // calls that may still write, and their files
	renewed  time.Time              // when the coordinator last heard of them
	overlaps []c3po.Lease           // of others, to tell the session
	due      chan struct{}          // there may be something to tidy up
}

// A leasedTree is a working tree in which the session edits.
type leasedTree struct {
	checkout paths.Checkout
	at       c3po.LeaseFiles  // without paths
	numbers  map[string]int64 // of the files it holds
	owed     map[string]bool  // edited while nobody could say who holds them
}

// beforeEdit takes the leases of the files that a tool is about to change, or refuses the
// change because another session holds one. A coordinator that does not answer, and a
// repository that has no leases, stop nothing.
func (s *Server) beforeEdit(ctx context.Context, event hook.Event) string {
	if s.off() {
		return "{}"
	}
	for _, files := range s.leasable(event) {
		held, answered := s.takeLeases(ctx, files)
		if held != nil {
			return hook.Refuse(hook.HeldWords(*held, time.Now()))
		}
		s.leases.mu.Lock()
		tree := s.leases.trees[files.Tree]
		for _, path := range files.Paths {
			s.leases.underWay[event.ToolUseID] = append(s.leases.underWay[event.ToolUseID], files.Tree+"\x00"+path)
			if !answered {
				tree.owed[path] = true
			}
		}
		s.leases.mu.Unlock()
	}
	return "{}"
}

// leasable are the files of an edit that are in repositories with leases, by working tree.
func (s *Server) leasable(event hook.Event) []c3po.LeaseFiles {
	byTree := map[string]*c3po.LeaseFiles{}
	for _, file := range event.Edits() {
		if !filepath.IsAbs(file) {
			folder := event.Cwd
			if folder == "" {
				folder = s.profile.Cwd
			}
			file = filepath.Join(folder, file)
		}
		checkout, path, ok := paths.FindCheckout(file)
		if !ok {
			continue
		}
		repository, on := checkout.Leases()
		if !on {
			continue
		}
		at := c3po.LeaseFiles{Repository: repository, Branch: checkout.Branch(), Tree: checkout.Tree()}
		if byTree[at.Tree] == nil {
			s.leases.keep(checkout, at)
			byTree[at.Tree] = &at
		}
		if files := byTree[at.Tree]; !slices.Contains(files.Paths, path) && len(files.Paths) < c3po.MaxLeaseFiles {
			files.Paths = append(files.Paths, path)
		}
	}
	var all []c3po.LeaseFiles
	for _, tree := range slices.Sorted(maps.Keys(byTree)) {
		all = append(all, *byTree[tree])
	}
	return all
}

// keep remembers a working tree, on the branch it is on now.
func (l *leases) keep(checkout paths.Checkout, at c3po.LeaseFiles) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if tree := l.trees[at.Tree]; tree != nil {
		tree.at = at
		return
	}
	l.trees[at.Tree] = &leasedTree{checkout: checkout, at: at, numbers: map[string]int64{}, owed: map[string]bool{}}
}

// takeLeases asks the coordinator. It says whose lease stands against it, and whether there
// was an answer.
func (s *Server) takeLeases(ctx context.Context, files c3po.LeaseFiles) (held *c3po.Lease, answered bool) {
	ctx, cancel := context.WithTimeout(ctx, leaseTimeout)
	defer cancel()
	if !s.awaitSettled(ctx, leaseTimeout) || s.to().Lost() {
		return nil, false
	}
	return s.lease(ctx, files)
}

func (s *Server) lease(ctx context.Context, files c3po.LeaseFiles) (held *c3po.Lease, answered bool) {
	taken, err := s.to().LeaseTake(ctx, c3po.LeaseTakeInput{Repository: files.Repository, Branch: files.Branch, Tree: files.Tree, Paths: files.Paths, Task: s.ticket()})
	if err != nil || taken.Held == nil && len(taken.Numbers) != len(files.Paths) {
		s.log.InfoContext(ctx, "an edit has no lease", "err", err)
		return nil, false
	}
	if taken.Held != nil {
		return taken.Held, true
	}
	s.leases.mu.Lock()
	defer s.leases.mu.Unlock()
	s.leases.renewed = time.Now()
	tree := s.leases.trees[files.Tree]
	var fresh []string
	var numbers []int64
	for i, path := range files.Paths {
		if tree.numbers[path] != taken.Numbers[i] {
			fresh, numbers = append(fresh, path), append(numbers, taken.Numbers[i])
		}
		tree.numbers[path] = taken.Numbers[i]
		delete(tree.owed, path)
	}
	if len(fresh) > 0 {
		if err := tree.checkout.NoteLeases(fresh, numbers); err != nil {
			s.log.WarnContext(ctx, "the numbers of leases are not noted, so a stale commit will not be seen", "err", err)
		}
	}
	return nil, true
}

// ticket is the message that the session works on, for others to read; empty if it works
// on none.
func (s *Server) ticket() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.conversation.turnFor); n > 0 {
		return "message " + string(s.conversation.turnFor[n-1])
	}
	return ""
}

// edited says that a call has done what it does, or with no name that all have.
func (s *Server) edited(event hook.Event) {
	l := &s.leases
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case event.Name == hook.StopEvent:
		clear(l.underWay)
	case event.Name == hook.PostToolUse:
		delete(l.underWay, event.ToolUseID)
	}
	if len(l.trees) > 0 {
		select {
		case l.due <- struct{}{}:
		default: // it is known already
		}
	}
}

// tellOverlaps adds to a decision what was edited twice while nobody could say so.
func (s *Server) tellOverlaps(d hook.Decision) hook.Decision {
	s.leases.mu.Lock()
	defer s.leases.mu.Unlock()
	if len(s.leases.overlaps) == 0 {
		return d
	}
	if d.Context == "" {
		d.Context = "c3po:"
	}
	d.Context += " " + hook.OverlapWords(s.leases.overlaps, time.Now())
	s.leases.overlaps = nil
	return d
}

// tidyLeases ends the leases of files that are committed or unchanged again, and takes
// those that are owed.
func (s *Server) tidyLeases(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.leases.due:
		}
		for _, tree := range s.leases.all() {
			s.settleOwed(ctx, tree)
			s.releaseUnchanged(ctx, tree)
		}
		s.renewLeases(ctx)
		select {
		case <-ctx.Done():
			return
		case <-time.After(tidyEvery):
		}
	}
}

func (l *leases) all() []*leasedTree {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Values(l.trees))
}

// files are those of a tree that fulfil something.
func (l *leases) files(tree *leasedTree, are func(path string) bool, of []string) c3po.LeaseFiles {
	files := tree.at
	for _, path := range of {
		if are(path) && len(files.Paths) < c3po.MaxLeaseFiles {
			files.Paths = append(files.Paths, path)
		}
	}
	return files
}

// settleOwed asks for the leases of files that were edited while the coordinator was away.
func (s *Server) settleOwed(ctx context.Context, tree *leasedTree) {
	l := &s.leases
	l.mu.Lock()
	owed := l.files(tree, func(string) bool { return true }, slices.Sorted(maps.Keys(tree.owed)))
	l.mu.Unlock()
	if len(owed.Paths) == 0 || !s.isSettled() || s.to().Lost() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, tidyTimeout)
	defer cancel()
	for _, path := range owed.Paths {
		one := owed
		one.Paths = []string{path}
		held, answered := s.lease(ctx, one)
		if !answered {
			return
		}
		if held != nil {
			l.mu.Lock()
			l.overlaps = append(l.overlaps, *held)
			delete(tree.owed, path)
			l.mu.Unlock()
		}
	}
}

// releaseUnchanged ends leases of files that no call may still write to.
func (s *Server) releaseUnchanged(ctx context.Context, tree *leasedTree) {
	l := &s.leases
	l.mu.Lock()
	busy := map[string]bool{}
	for _, files := range l.underWay {
		for _, file := range files {
			busy[file] = true
		}
	}
	mine := l.files(tree, func(path string) bool { return !busy[tree.at.Tree+"\x00"+path] }, slices.Sorted(maps.Keys(tree.numbers)))
	before := maps.Clone(tree.numbers)
	l.mu.Unlock()
	if len(mine.Paths) == 0 || !s.isSettled() || s.to().Lost() {
		return
	}
	same, err := tree.checkout.Unchanged(mine.Paths)
	if err != nil || len(same) == 0 {
		return
	}
	l.mu.Lock()
	same = slices.DeleteFunc(same, func(path string) bool { // a call has begun meanwhile
		return tree.numbers[path] != before[path] || l.isUnderWay(tree.at.Tree+"\x00"+path)
	})
	for _, path := range same {
		delete(tree.numbers, path)
	}
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, tidyTimeout)
	defer cancel()
	_, err = s.to().LeaseRelease(ctx, c3po.LeaseReleaseInput{Repository: mine.Repository, Branch: mine.Branch, Tree: mine.Tree, Paths: same})
	if err == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, path := range same { // the next look tries again
		if tree.numbers[path] == 0 {
			tree.numbers[path] = before[path]
		}
	}
}

func (l *leases) isUnderWay(file string) bool {
	for _, files := range l.underWay {
		if slices.Contains(files, file) {
			return true
		}
	}
	return false
}

// renewLeases says that a session works which holds leases and edits nothing now.
func (s *Server) renewLeases(ctx context.Context) {
	l := &s.leases
	l.mu.Lock()
	var at c3po.LeaseFiles
	for _, tree := range l.trees {
		if len(tree.numbers) > 0 && time.Since(l.renewed) >= renewEvery {
			at = tree.at
		}
	}
	l.mu.Unlock()
	if at.Tree == "" || !s.isSettled() || s.to().Lost() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, tidyTimeout)
	defer cancel()
	if _, err := s.to().LeaseTake(ctx, c3po.LeaseTakeInput{Repository: at.Repository, Tree: at.Tree}); err == nil {
		l.mu.Lock()
		l.renewed = time.Now()
		l.mu.Unlock()
	}
}

// commitTimeout is how long a commit waits for the coordinator. Without an answer it goes on.
const commitTimeout = 2 * time.Second

// checkCommit answers git's hook with the leases that stand against a commit, as JSON; with
// nothing if nobody can tell.
func (s *Server) checkCommit(ctx context.Context, event hook.Event) string {
	var in c3po.LeaseCheckInput
	if json.Unmarshal(event.Input, &in) != nil || !s.isSettled() {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	found, err := s.to().LeaseCheck(ctx, in)
	if err != nil {
		return ""
	}
	text, err := json.Marshal(found)
	if err != nil {
		return ""
	}
	return string(text)
}
