package storetest

import (
	"context"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// fill is what the inbox of an agent, one sender's share of it and the space hold.
func (sp *space) fill(to, from c3po.AgentID) *store.Fill {
	held := store.Fill{SpaceBytes: sp.books.PendingBytes}
	for _, msg := range sp.pending(to) {
		held.Messages++
		held.Bytes += msg.facts.Bytes
		if msg.view.FromAgent == from {
			held.OwnMessages++
			held.OwnBytes += msg.facts.Bytes
		}
	}
	return &held
}

// roomFor checks the inbox, and the sender's share of it if the share is guarded.
func (sp *space) roomFor(d store.Draft, bytes int, guarded bool) error {
	held := sp.fill(d.To, d.From)
	messages, most, share := sp.limits.Inbox(d.From)
	switch {
	case held.Messages+1 > messages:
		return store.RefuseInboxFull(d.To, store.FullOfMessages)
	case held.Bytes+bytes > most:
		return store.RefuseInboxFull(d.To, store.FullOfBytes)
	case guarded && held.OwnMessages+1 > messages/share:
		return store.RefuseInboxFull(d.To, store.FullOfSender)
	case guarded && held.OwnBytes+bytes > most/share:
		return store.RefuseInboxFull(d.To, store.FullOfSenderSize)
	}
	return nil
}

// crowded says that the space has no room for so many more bytes. People and the
// system always find some.
func (sp *space) crowded(from, to c3po.AgentID, more int) bool {
	if sp.limits.SpaceBytes == 0 || more <= 0 || from == c3po.Human || from == c3po.System || to == c3po.Human {
		return false
	}
	return sp.books.PendingBytes+int64(more) > int64(sp.limits.SpaceBytes)
}

// InboxBytes implements store.Store.
func (m *Model) InboxBytes(_ context.Context, name c3po.Space, id c3po.AgentID) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return int64(m.space(name).fill(id, "").Bytes), nil
}
