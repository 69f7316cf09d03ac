package storetest

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// Agents implements store.Store.
func (m *Model) Agents(_ context.Context, name c3po.Space, ids []c3po.AgentID) ([]store.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now := m.space(name), m.now()
	var found []store.Record
	for _, id := range ids {
		if sp.agents[id] != nil {
			found = append(found, sp.record(id, now))
		}
	}
	return found, nil
}

// AgentPage implements store.Store.
func (m *Model) AgentPage(_ context.Context, name c3po.Space, after int64, limit int) ([]store.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now := m.space(name), m.now()
	var found []store.Record
	for _, a := range sp.sortedAgents(func(a, b *agent) int { return cmp.Compare(a.regSeq, b.regSeq) }) {
		if a.regSeq > after && len(found) < limit {
			found = append(found, sp.record(a.id, now))
		}
	}
	return found, nil
}

// Named implements store.Store.
func (m *Model) Named(_ context.Context, name c3po.Space, bare string, limit int) ([]c3po.AgentID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []c3po.AgentID
	for _, a := range m.space(name).sortedAgents(byName) {
		if a.id.Name() == bare && len(found) < limit {
			found = append(found, a.id)
		}
	}
	return found, nil
}

// Neighbours implements store.Store.
func (m *Model) Neighbours(_ context.Context, name c3po.Space, bare string, limit int) ([]c3po.AgentID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var before, after []c3po.AgentID
	for _, a := range m.space(name).sortedAgents(byName) {
		if a.id.Name() < bare {
			before = append(before, a.id)
		} else {
			after = append(after, a.id)
		}
	}
	before = before[max(0, len(before)-limit/2):]
	after = after[:min(len(after), limit-len(before))]
	return append(before, after...), nil
}

// Recent implements store.Store.
func (m *Model) Recent(_ context.Context, name c3po.Space, limit int) ([]c3po.AgentID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []c3po.AgentID
	for _, a := range m.space(name).sortedAgents(func(a, b *agent) int { return b.seen.Compare(a.seen) }) {
		if len(found) < limit {
			found = append(found, a.id)
		}
	}
	return found, nil
}

// OnlineCount implements store.Store.
func (m *Model) OnlineCount(_ context.Context, name c3po.Space) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now, count := m.space(name), m.now(), 0
	for _, a := range sp.agents {
		if sp.online(a, now) {
			count++
		}
	}
	return count, nil
}

func (sp *space) sortedAgents(order func(a, b *agent) int) []*agent {
	return slices.SortedFunc(maps.Values(sp.agents), func(a, b *agent) int {
		return cmp.Or(order(a, b), byName(a, b))
	})
}

func byName(a, b *agent) int {
	return cmp.Or(cmp.Compare(a.id.Name(), b.id.Name()), cmp.Compare(a.id, b.id))
}
