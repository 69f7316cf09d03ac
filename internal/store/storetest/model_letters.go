package storetest

import (
	"context"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// Revive implements store.Store.
func (m *Model) Revive(_ context.Context, name c3po.Space, id c3po.MessageID, step store.ReviveStep) (store.ReviveOutcome, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now := m.space(name), m.now()
	msg := sp.messages[id]
	switch {
	case msg == nil || msg.state != c3po.StateDead || step.Reason != "" && msg.reason != step.Reason:
		return store.ReviveLeft, nil
	case sp.agents[msg.view.ToAgent] == nil && msg.view.ToAgent != c3po.Human && msg.view.ToAgent.Queue() == "":
		return store.ReviveUnknown, nil
	case !sp.hasRoom(msg) || sp.crowded(msg.view.FromAgent, msg.view.ToAgent, msg.facts.Bytes):
		return store.ReviveFull, nil
	}
	sp.books.Dead--
	sp.books.Pending++
	sp.books.PendingBytes += int64(msg.facts.Bytes)
	sp.event(c3po.EventRedelivered, msg.view.ToAgent, id, now)
	msg.view.Seq, msg.listed = sp.books.Seq, id
	msg.state, msg.reason, msg.facts.Claim = c3po.StatePending, "", nil
	msg.facts.Stalled = time.Time{}
	msg.facts.Ended, msg.endSeq, msg.endedAt = time.Time{}, 0, 0
	for i := range msg.facts.Served {
		msg.facts.Served[i].Before = true
	}
	if msg.facts.Expires > 0 {
		msg.facts.Expires = sp.books.Lived + seconds(sp.limits.MessageLife)
	}
	due := msg.facts.Deadline
	msg.lapsed = !due.IsZero() && !due.After(now) && msg.view.ToAgent != c3po.Human
	sp.tellSender(msg, c3po.KindNotice, step.Notice, step.Durability, now)
	return store.ReviveDone, nil
}

// hasRoom says whether the inbox takes a letter back, whoever wrote it.
func (sp *space) hasRoom(letter *message) bool {
	count, size := 1, letter.facts.Bytes
	for _, msg := range sp.pending(letter.view.ToAgent) {
		count++
		size += msg.facts.Bytes
	}
	return count <= sp.limits.InboxMessages && size <= sp.limits.InboxBytes
}

// Purge implements store.Store.
func (m *Model) Purge(_ context.Context, name c3po.Space, id c3po.MessageID) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	msg := sp.messages[id]
	if msg == nil || msg.state != c3po.StateDead {
		return false, nil
	}
	sp.forget(msg)
	return true, nil
}

// owed are the letters an agent gets back when it returns.
func (sp *space) owed(id c3po.AgentID) []*message {
	return sp.find(func(msg *message) bool {
		return msg.view.ToAgent == id && msg.state == c3po.StateDead && msg.reason == c3po.ReasonRecipientRemoved
	}, byEnd)
}

// Owed implements store.Store.
func (m *Model) Owed(_ context.Context, name c3po.Space, id c3po.AgentID, limit int) ([]c3po.MessageID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ids []c3po.MessageID
	for _, msg := range m.space(name).owed(id) {
		if len(ids) < limit {
			ids = append(ids, msg.view.ID)
		}
	}
	return ids, nil
}

// OwedTo implements store.Store.
func (m *Model) OwedTo(_ context.Context, name c3po.Space, after c3po.AgentID, limit int) ([]c3po.AgentID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ids []c3po.AgentID
	for _, msg := range m.space(name).messages {
		if to := msg.view.ToAgent; msg.state == c3po.StateDead && msg.reason == c3po.ReasonRecipientRemoved && to > after {
			ids = append(ids, to)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return ids[:min(len(ids), limit)], nil
}
