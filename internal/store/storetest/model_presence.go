package storetest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// Attach implements store.Store.
func (m *Model) Attach(_ context.Context, name c3po.Space, id c3po.AgentID, node string, state c3po.SessionState) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	a := sp.agents[id]
	if a == nil {
		return store.RefuseNoAgent(id)
	}
	if state == "" && a.node != node {
		return nil // it waits elsewhere by now
	}
	if state == c3po.SessionClosed && a.goneAt.IsZero() {
		if sp.online(a, m.now()) {
			return store.RefuseNotClosed(id)
		}
		a.goneAt, a.cut = m.now(), false
	}
	gone := !a.goneAt.IsZero()
	if a.node == "" || !slices.Contains(state.Alike(), a.state) {
		a.stateAt = m.now()
	}
	a.state = state
	a.node, a.lastKnown = node, sp.books.Lived
	if closed := gone && (state == c3po.SessionClosed || state == ""); !closed {
		a.seen, a.goneAt = m.now(), time.Time{}
	}
	sp.leases[node] = m.now().Add(m.limits.NodeLease)
	return nil
}

// Detach implements store.Store.
func (m *Model) Detach(_ context.Context, name c3po.Space, id c3po.AgentID, node string, hungUp bool, ago time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	a := sp.agents[id]
	if a == nil {
		return store.RefuseNoAgent(id)
	}
	if a.node == node {
		a.node, a.lastKnown = "", sp.books.Lived
		if !a.goneAt.IsZero() {
			return nil // its session is closed, and its host was attached
		}
		if left := m.now().Add(-ago.Truncate(time.Millisecond)); left.After(a.seen) {
			a.seen = left
		}
		if hungUp {
			a.goneAt, a.cut = m.now(), true
			m.publish(name, c3po.Event{Agent: id})
		}
	}
	return nil
}

// RenewLease implements store.Store.
func (m *Model) RenewLease(_ context.Context, name c3po.Space, node string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.space(name).leases[node] = m.now().Add(m.limits.NodeLease)
	return nil
}

// EndLease implements store.Store.
func (m *Model) EndLease(_ context.Context, name c3po.Space, node string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	delete(sp.leases, node)
	for _, a := range sp.agents {
		if a.node == node && a.goneAt.IsZero() {
			a.node, a.lastKnown = "", sp.books.Lived
			if now := m.now(); now.After(a.seen) {
				a.seen = now
			}
		}
	}
	return nil
}

// WriteNotes implements store.Store.
func (m *Model) WriteNotes(_ context.Context, name c3po.Space, notes store.Notes) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now := m.space(name), m.now()
	for _, id := range notes.Seen {
		if a := sp.agents[id]; a != nil {
			sp.noteSeen(a, now, now)
		}
	}
	for _, note := range notes.Late {
		at := now.Add(-note.Ago.Truncate(time.Millisecond))
		if a := sp.agents[note.Agent]; a != nil && at.After(a.seen) {
			sp.noteSeen(a, at, now)
		}
	}
	for _, note := range notes.Served {
		if msg := sp.messages[note.ID]; msg != nil {
			sp.firstReader(msg, now)
			msg.noteServed(note)
		}
	}
	for _, note := range notes.ServedPosts {
		sp.noteServedPost(note)
	}
	for _, note := range notes.Notified {
		note.At = stamp(note.At)
		sp.mark(note.Agent, note.Reader, func(is *reader) {
			if note.Seq > is.told.Seq {
				is.told = note
				is.notes = append(is.notes, note)
			}
		})
	}
	for _, note := range notes.Given {
		sp.mark(note.Agent, note.Reader, func(is *reader) { is.given = max(is.given, note.Seq) })
	}
	return nil
}

// noteSeen: a note from before the agent unregistered must not bring it back; one
// that is too late to be from before must.
func (sp *space) noteSeen(a *agent, at, now time.Time) {
	sp.see(a, now)
	a.seen = at
	if at.Sub(a.goneAt) > store.NotesLate {
		a.comeBack()
	}
}

// A reader is how far one session has come in the mail of an agent.
type reader struct {
	told  store.NotifiedNote
	notes []store.NotifiedNote // all, the last being told
	given int64                // all unacked mail up to here
}

// mark changes what is kept of a reader. Of those that came furthest it is kept.
func (sp *space) mark(agent c3po.AgentID, name string, change func(*reader)) {
	marks := sp.marks[agent]
	if marks == nil {
		marks = map[string]*reader{}
		sp.marks[agent] = marks
	}
	if marks[name] == nil {
		marks[name] = &reader{}
	}
	change(marks[name])
	if len(marks) > store.MaxMarkedReaders {
		delete(marks, slices.MinFunc(slices.Collect(maps.Keys(marks)), func(a, b string) int {
			x, y := marks[a], marks[b]
			return cmp.Or(cmp.Compare(max(x.told.Seq, x.given), max(y.told.Seq, y.given)), x.told.At.Compare(y.told.At), cmp.Compare(a, b))
		}))
	}
}

// noteServed counts an answer once, however often its note is written: a note
// that is not later than the last one of its reader is a repeat.
func (msg *message) noteServed(note store.ServedNote) {
	at, first := stamp(note.At), stamp(note.At)
	if !note.First.IsZero() {
		first = stamp(note.First)
	}
	i := slices.IndexFunc(msg.facts.Served, func(f store.ServedFact) bool { return f.Reader == note.Reader })
	switch {
	case i < 0 && len(msg.facts.Served) < store.MaxServedReaders:
		msg.facts.Served = append(msg.facts.Served, store.ServedFact{
			Reader: note.Reader, Route: note.Route, First: first, Last: at, Times: max(1, note.Times), Cursor: note.Cursor,
		})
	case i >= 0 && at.After(msg.facts.Served[i].Last):
		msg.facts.Served[i].Route, msg.facts.Served[i].Cursor = note.Route, note.Cursor
		msg.facts.Served[i].Last, msg.facts.Served[i].Before = at, false
		msg.facts.Served[i].Times += max(1, note.Times)
	}
}
