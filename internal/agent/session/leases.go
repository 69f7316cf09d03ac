package session

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/text/envelope"
)

const (
	// tidyEvery is how often it is looked which files are unchanged again, at most.
	tidyEvery = time.Second
	// tidyTimeout bounds one call that ends leases, or takes those that are owed.
	tidyTimeout = 5 * time.Second
	// renewEvery is how often a session that works on other things says so.
	renewEvery = 5 * time.Minute
	// maxTaskRunes is what a model reads of what the holder of a file works on.
	maxTaskRunes = 120
)

// leases are what a session holds of the files it edits. The coordinator knows better; this
// is what the session looks after.
type leases struct {
	mu       sync.Mutex
	trees    map[string]*leasedTree // by the folder of the working tree
	underWay map[string][]string    // calls that may still write, and their files
	pace     pace                   // of the coordinator
	begun    time.Time              // when the last of these began
	renewed  time.Time              // when the coordinator last heard of them
	overlaps []c3po.Lease           // of others, to tell the session
	unleased []string               // files that were edited without a lease because of full, to tell the session
	full     string                 // why no more leases are given; empty once one was given
	due      chan struct{}          // there may be something to tidy up
}

// A leasedTree is a working tree in which the session edits.
type leasedTree struct {
	checkout paths.Checkout
	at       c3po.LeaseFiles   // without paths
	numbers  map[string]int64  // of the files it holds
	owed     map[string]bool   // edited while nobody could say who holds them
	past     []c3po.LeaseFiles // held while the repository had another name, to be ended
}

// beforeEdit takes the leases of the files that a tool is about to change, or refuses the
// change because another session holds one. A coordinator that does not answer, and a
// repository that has no leases, stop nothing.
func (s *Server) beforeEdit(ctx context.Context, event hook.Event) string {
	if s.off() {
		return "{}"
	}
	for _, files := range s.leasable(event) {
		s.want() // OpenCode may start us after its first prompt
		for paths := range slices.Chunk(files.Paths, c3po.MaxLeaseFiles) {
			part := files
			part.Paths = paths
			s.leases.begins(event.Call(), part)
			if held := s.takeLeases(ctx, part); held != nil {
				s.leases.isNotMade(part)
				s.leases.ends(event.Call()) // what it has taken of other files is not needed
				return s.dialect.Refuse(hook.HeldWords(*held, envelope.Carried(held.Task, maxTaskRunes), time.Now()))
			}
		}
	}
	return "{}"
}

// begins remembers that a call may write to files from now on, and owes their leases until
// it has them: whether an answer comes in time or later, nothing is forgotten.
func (l *leases) begins(use string, files c3po.LeaseFiles) {
	l.mu.Lock()
	defer l.mu.Unlock()
	tree := l.trees[files.Tree]
	l.begun = time.Now()
	for _, path := range files.Paths {
		l.underWay[use] = append(l.underWay[use], files.Tree+"\x00"+path)
		tree.owed[path] = true
	}
}

// isNotMade says that files are not edited after all: another holds one of them.
func (l *leases) isNotMade(files c3po.LeaseFiles) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, path := range files.Paths {
		delete(l.trees[files.Tree].owed, path)
	}
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
		if files := byTree[at.Tree]; !slices.Contains(files.Paths, path) {
			files.Paths = append(files.Paths, path)
		}
	}
	var all []c3po.LeaseFiles
	for _, tree := range slices.Sorted(maps.Keys(byTree)) {
		all = append(all, *byTree[tree])
	}
	return all
}

// keep remembers a working tree, on the branch it is on now. A remote that was added gives
// the repository another name; the leases under the one before are to be ended.
func (l *leases) keep(checkout paths.Checkout, at c3po.LeaseFiles) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if tree := l.trees[at.Tree]; tree != nil {
		if tree.at.Repository != at.Repository && len(tree.numbers) > 0 {
			was := tree.at
			was.Paths = slices.Sorted(maps.Keys(tree.numbers))
			tree.past, tree.numbers = append(tree.past, was), map[string]int64{}
			for _, path := range was.Paths {
				tree.owed[path] = true // the change is still there, under the new name
			}
		}
		tree.onto(at.Branch)
		tree.at = at
		return
	}
	l.trees[at.Tree] = &leasedTree{checkout: checkout, at: at, numbers: map[string]int64{}, owed: map[string]bool{}}
}

// onto says which branch is checked out. The changes of the working tree have come along, so
// their leases are asked for there. It is called with the lock held.
func (t *leasedTree) onto(branch string) {
	if branch == "" || branch == t.at.Branch {
		return // during a rebase a lease stays where it is
	}
	t.at.Branch = branch
	for path := range t.numbers {
		t.owed[path] = true
	}
}

// lease asks the coordinator for leases. It says whose lease stands against it, and whether
// there was an answer.
func (s *Server) lease(ctx context.Context, files c3po.LeaseFiles) (held *c3po.Lease, answered bool) {
	taken, err := s.to().LeaseTake(ctx, c3po.LeaseTakeInput{Repository: files.Repository, Branch: files.Branch, Tree: files.Tree, Paths: files.Paths, Task: s.ticket()})
	if errors.Is(err, c3po.StoreFull) {
		s.leases.refused(files.Paths, c3po.AsError(err).Message)
	}
	if err != nil || taken.Held == nil && len(taken.Numbers) != len(files.Paths) {
		s.log.InfoContext(ctx, "an edit has no lease", "err", err)
		return nil, false
	}
	if taken.Held != nil {
		return taken.Held, true
	}
	s.leases.mu.Lock()
	defer s.leases.mu.Unlock()
	s.leases.renewed, s.leases.full = time.Now(), ""
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

// refused remembers files for which there was no lease left. The session hears of it once
// while that lasts.
func (l *leases) refused(paths []string, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.full == "" {
		l.full, l.unleased = why, slices.Clone(paths)
	}
}

// ticket is the message that the session works on, for others to read; empty if it works
// on none.
func (s *Server) ticket() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.conversation.turnFor); n > 0 {
		return c3po.LeaseForMessage + string(s.conversation.turnFor[n-1])
	}
	return ""
}

// edited says that a call has done what it does, or never will, or that all have. Whoever
// denies a call at the terminal may end the turn by it, of which no hook tells: the next
// prompt does.
func (s *Server) edited(event hook.Event) {
	switch event.Name {
	case hook.StopEvent, hook.StopFailure, hook.UserPromptSubmit, hook.SessionStart, hook.SessionEnd:
		s.leases.rest()
	case hook.PreToolUse:
	default:
		s.leases.ends(event.Call())
	}
}

// ends says that a call writes no more.
func (l *leases) ends(call string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.underWay, call)
	l.tidySoon()
}

// rest says that no call is under way.
func (l *leases) rest() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.underWay)
	l.tidySoon()
}

// sawIdle says that the client itself says that it has been idle for so long: of a turn
// that ended because the person denied a call, no hook tells.
func (l *leases) sawIdle(since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.underWay) > 0 && since.After(l.begun) {
		clear(l.underWay)
		l.tidySoon()
	}
}

// tidySoon is called with the lock held.
func (l *leases) tidySoon() {
	if len(l.trees) == 0 {
		return
	}
	select {
	case l.due <- struct{}{}:
	default: // it is known already
	}
}

// tellOverlaps adds to a decision what was edited twice while nobody could say so, and what
// is edited without a lease.
func (s *Server) tellOverlaps(d hook.Decision) hook.Decision {
	l := &s.leases
	l.mu.Lock()
	defer l.mu.Unlock()
	tell := func(words string) {
		if d.Context == "" {
			d.Context = "c3po:"
		}
		d.Context += " " + words
	}
	if len(l.overlaps) > 0 {
		tell(hook.OverlapWords(l.overlaps, time.Now()))
	}
	if len(l.unleased) > 0 && l.full != "" {
		tell(hook.UnleasedWords(l.unleased, l.full))
	}
	l.overlaps, l.unleased = nil, nil
	return d
}

// checkCommit answers git's hook with the leases that stand against a commit, as JSON; with
// nothing if nobody can tell.
func (s *Server) checkCommit(ctx context.Context, event hook.Event) string {
	var in c3po.LeaseCheckInput
	if json.Unmarshal(event.Input, &in) != nil || !s.isSettled() {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeouts.Commit)
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
