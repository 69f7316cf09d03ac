package storetest

import (
	"context"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// answered takes an open question of an agent away; without another one it no
// longer waits for a person.
func (sp *space) answered(id c3po.AgentID, question c3po.MessageID, now time.Time) {
	asker := sp.agents[id]
	if asker == nil {
		return
	}
	asker.asks = slices.DeleteFunc(asker.asks, func(ask c3po.MessageID) bool { return ask == question })
	if len(asker.asks) == 0 && asker.paused == c3po.PausedForHuman {
		sp.pause(asker.id, &asker.paused, "", now)
	}
}

// ClaimNotice implements store.Store.
func (m *Model) ClaimNotice(_ context.Context, name c3po.Space, n store.Notice) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	msg := m.space(name).messages[n.ID]
	if msg == nil || msg.state != c3po.StatePending {
		return false, nil
	}
	fact := msg.notice(n)
	if fact == nil {
		msg.facts.Notices = append(msg.facts.Notices, store.NoticeFact{Notice: n})
		slices.SortFunc(msg.facts.Notices, store.NoticeFact.Compare)
		fact = msg.notice(n)
	}
	if !fact.Sent.IsZero() || fact.Until.After(now) || fact.Tries >= store.NoticeTries {
		return false, nil
	}
	fact.Until = now.Add(min(store.NoticePause<<fact.Tries, store.MaxNoticePause))
	fact.Tries++
	return true, nil
}

// NoticeSent implements store.Store.
func (m *Model) NoticeSent(_ context.Context, name c3po.Space, n store.Notice) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if msg := m.space(name).messages[n.ID]; msg != nil {
		if fact := msg.notice(n); fact != nil && fact.Sent.IsZero() {
			fact.Sent = m.now()
		}
	}
	return nil
}

func (msg *message) notice(n store.Notice) *store.NoticeFact {
	for i := range msg.facts.Notices {
		if msg.facts.Notices[i].Notice == n {
			return &msg.facts.Notices[i]
		}
	}
	return nil
}
