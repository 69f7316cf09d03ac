package session

import (
	"context"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// patienceFactor is how much longer than usual an answer may take, lastFactor how much
// longer than the last one.
const patienceFactor, lastFactor = 8, 3

// A pace is how long the coordinator took to answer lately.
type pace struct {
	min, max time.Duration   // bound the patience of an edit
	took     []time.Duration // the last few that came in time
	last     time.Duration   // the last, in time or not
	silent   bool            // it has not answered since it was too late once
}

// patience is how long an edit waits for its lease. A coordinator that answers within a
// millisecond and then not at all delays an edit by a tenth of a second; one that is busy
// or far away is given the time it needs.
func (p *pace) patience() time.Duration {
	if p.silent {
		return p.min
	}
	if len(p.took) == 0 {
		return p.max // nobody knows yet
	}
	usual := slices.Sorted(slices.Values(p.took))[len(p.took)/2]
	return min(p.max, max(p.min, patienceFactor*usual, lastFactor*p.last))
}

// answeredIn takes in how long an answer took; it is called with the lock held. One that was too late has perhaps waited for
// the end of an outage, so it makes the next edit patient, and no more.
func (l *leases) answeredIn(took time.Duration, late bool) {
	const lately = 8
	p := &l.pace
	p.silent, p.last = false, took
	if !late {
		p.took = append(p.took, took)
		p.took = p.took[max(0, len(p.took)-lately):]
	}
}

// takeLeases says whose lease stands against an edit; nobody's if there is no answer in
// time. One that comes later counts all the same.
func (s *Server) takeLeases(ctx context.Context, files c3po.LeaseFiles) *c3po.Lease {
	l := &s.leases
	l.mu.Lock()
	patience := l.pace.patience()
	l.mu.Unlock()
	timeout := time.After(patience)
	if !s.awaitSettled(ctx, min(patience, s.beginsFor())) || s.to().Lost() {
		return nil
	}
	answer := make(chan *c3po.Lease, 1)
	late := false // under the lock of the leases
	go func() {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeouts.Lease)
		defer cancel()
		began := time.Now()
		held, _ := s.lease(limited, files)
		l.mu.Lock()
		defer l.mu.Unlock()
		if limited.Err() == nil {
			l.answeredIn(time.Since(began), late)
		}
		answer <- held
		if late && held != nil {
			l.overlap(held)
			delete(l.trees[files.Tree].owed, held.Path)
		}
	}()
	select {
	case held := <-answer:
		return held
	case <-timeout:
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case held := <-answer:
		return held
	default:
		late, l.pace.silent = true, true
		return nil
	}
}

// beginsFor is how long an edit waits for a session that has yet to come online: one that
// was wanted a while ago has tried.
func (s *Server) beginsFor() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wantedAt.IsZero() {
		return s.timeouts.Lease
	}
	return max(s.timeouts.MinLease, s.timeouts.Lease-time.Since(s.wantedAt))
}

// overlap remembers once that another session edits a file that this one has edited. It is
// called with the lock held.
func (l *leases) overlap(held *c3po.Lease) {
	same := func(o c3po.Lease) bool { return o.Number == held.Number && o.Path == held.Path }
	if !slices.ContainsFunc(l.overlaps, same) {
		l.overlaps = append(l.overlaps, *held)
	}
}
