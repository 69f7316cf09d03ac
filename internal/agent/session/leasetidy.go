package session

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// tidyLeases ends the leases of files that are committed or unchanged again, and takes
// those that are owed, or that are on another branch by now.
func (s *Server) tidyLeases(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.leases.due:
		}
		for _, tree := range s.leases.all() {
			s.endPast(ctx, tree)
			s.followBranch(tree)
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

// followBranch looks which branch is checked out by now.
func (s *Server) followBranch(tree *leasedTree) {
	branch := tree.checkout.Branch()
	s.leases.mu.Lock()
	defer s.leases.mu.Unlock()
	tree.onto(branch)
}

// endPast ends what the session holds under a name that the repository had before.
func (s *Server) endPast(ctx context.Context, tree *leasedTree) {
	l := &s.leases
	l.mu.Lock()
	past := tree.past
	tree.past = nil
	l.mu.Unlock()
	for i, files := range past {
		if !s.release(ctx, files) {
			l.mu.Lock()
			tree.past = append(tree.past, past[i:]...)
			l.mu.Unlock()
			return
		}
	}
}

// release ends leases, however many there are, and says whether all of it was done.
func (s *Server) release(ctx context.Context, files c3po.LeaseFiles) bool {
	if !s.isSettled() || s.to().Lost() {
		return false
	}
	for paths := range slices.Chunk(files.Paths, c3po.MaxLeaseFiles) {
		limited, cancel := context.WithTimeout(ctx, tidyTimeout)
		_, err := s.to().LeaseRelease(limited, c3po.LeaseReleaseInput{Repository: files.Repository, Branch: files.Branch, Tree: files.Tree, Paths: paths})
		cancel()
		if err != nil {
			return false
		}
	}
	return true
}

// settleOwed asks for the leases of files that were edited while the coordinator was away.
func (s *Server) settleOwed(ctx context.Context, tree *leasedTree) {
	l := &s.leases
	l.mu.Lock()
	owed := tree.at
	owed.Paths = slices.Sorted(maps.Keys(tree.owed))
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
			l.overlap(held)
			delete(tree.owed, path)
			l.mu.Unlock()
		}
	}
}

// needless are those of some files that need no lease any more: they are unchanged, or all of
// them because the working tree is gone or leases were switched off there.
func needless(checkout paths.Checkout, files []string) ([]string, error) {
	if _, on := checkout.Leases(); !on || checkout.Gone() {
		return files, nil
	}
	return checkout.Unchanged(files)
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
	mine := tree.at
	for _, path := range slices.Sorted(maps.Keys(tree.numbers)) {
		if !busy[mine.Tree+"\x00"+path] {
			mine.Paths = append(mine.Paths, path)
		}
	}
	before := maps.Clone(tree.numbers)
	l.mu.Unlock()
	if len(mine.Paths) == 0 || !s.isSettled() || s.to().Lost() {
		return
	}
	same, err := needless(tree.checkout, mine.Paths)
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
	mine.Paths = same
	if s.release(ctx, mine) {
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
