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

// retiredLook is how long a retired agent is left alone before it is looked
// whether any of its mail is left.
const retiredLook = 24 * time.Hour

type retiree struct {
	id   c3po.AgentID
	look int64 // in lived seconds
}

// Retire implements store.Store.
func (m *Model) Retire(_ context.Context, name c3po.Space, id c3po.AgentID, silent time.Duration, empty bool) (store.RetireOutcome, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now := m.space(name), m.now()
	a := sp.agents[id]
	if a == nil {
		return store.RetireUnknown, nil
	}
	if sp.online(a, now) || sp.attached(a, now) {
		a.lastKnown = sp.books.Lived
		return store.RetireKept, nil
	}
	lastKnown := a.lastKnown
	if a.node != "" {
		lastKnown = sp.books.Lived // its node died; until now it may have been there
	}
	if sp.books.Lived-lastKnown < seconds(silent) {
		a.lastKnown, a.node = lastKnown, ""
		return store.RetireKept, nil
	}
	if empty && len(sp.pending(id)) > 0 {
		return store.RetireMail, nil
	}
	if len(a.rooms) > 0 {
		return store.RetireRooms, nil
	}
	maps.DeleteFunc(sp.servedPosts, func(key servedPostKey, _ store.PostServedNote) bool { return key.agent == id })
	for _, r := range sp.rooms {
		delete(r.invited, id)
		if r.creator == id {
			r.creator = ""
		}
	}
	if sp.sessions[a.session] == id {
		delete(sp.sessions, a.session)
	}
	a.endWork()
	delete(sp.agents, id)
	sp.books.Agents--
	sp.retired = append(sp.retired, retiree{id, sp.books.Lived + seconds(retiredLook)})
	sp.event(c3po.EventRetired, id, "", now)
	return store.RetireDone, nil
}

// Silent implements store.Store.
func (m *Model) Silent(_ context.Context, name c3po.Space, silent time.Duration, limit int) ([]store.Silence, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	var found []store.Silence
	for _, a := range sp.sortedAgents(func(a, b *agent) int {
		return cmp.Or(cmp.Compare(a.lastKnown, b.lastKnown), cmp.Compare(a.id, b.id))
	}) {
		if quiet := sp.books.Lived - a.lastKnown; quiet >= seconds(silent) && len(found) < limit {
			found = append(found, store.Silence{ID: a.id, For: time.Duration(quiet) * time.Second})
		}
	}
	return found, nil
}

// Retired implements store.Store.
func (m *Model) Retired(_ context.Context, name c3po.Space, skip, limit int) ([]c3po.AgentID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ids []c3po.AgentID
	for _, r := range m.space(name).sortedRetired() {
		ids = append(ids, r.id)
	}
	ids = ids[min(len(ids), skip):]
	return ids[:min(len(ids), limit)], nil
}

func (sp *space) sortedRetired() []*retiree {
	var all []*retiree
	for i := range sp.retired {
		all = append(all, &sp.retired[i])
	}
	slices.SortFunc(all, func(a, b *retiree) int { return cmp.Or(cmp.Compare(a.look, b.look), cmp.Compare(a.id, b.id)) })
	return all
}

// trimRetired forgets who has left no mail behind; the others are looked at
// again later.
func (sp *space) trimRetired(limit int) (forgotten int) {
	looked := 0
	gone := map[c3po.AgentID]bool{}
	for _, r := range sp.sortedRetired() {
		if looked == limit || r.look > sp.books.Lived {
			break
		}
		looked++
		if len(sp.find(func(msg *message) bool { return msg.view.ToAgent == r.id }, bySeq)) > 0 {
			r.look = sp.books.Lived + seconds(retiredLook)
			continue
		}
		gone[r.id] = true
		delete(sp.marks, r.id)
		forgotten++
	}
	sp.retired = slices.DeleteFunc(sp.retired, func(r retiree) bool { return gone[r.id] })
	return forgotten
}
