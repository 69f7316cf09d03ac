package hub

import (
	"context"
	"log/slog"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// A spaceHub is the hub in one space, independent of the caller.
type spaceHub struct {
	hub   *Hub
	space c3po.Space
}

// tell logs a change of state, in the words of the event log. Bodies have no
// place in it. Whoever wants to know hears of mail that ended.
func (s spaceHub) tell(ctx context.Context, kind c3po.EventKind, agent c3po.AgentID, id c3po.MessageID) {
	s.hub.log.LogAttrs(ctx, slog.LevelInfo, "changed", slog.String("kind", string(kind)), slog.String("space", string(s.space)),
		slog.String("agent", string(agent)), slog.String("message_id", string(id)))
	if ends := kind == c3po.EventAcked || kind == c3po.EventDead || kind == c3po.EventCancelled; ends && s.hub.ended != nil {
		s.hub.ended(s.space, kind, id)
	}
}

// record reads one agent.
func (s spaceHub) record(ctx context.Context, id c3po.AgentID) (store.Record, error) {
	records, err := s.hub.store.Agents(ctx, s.space, []c3po.AgentID{id})
	if err != nil {
		return store.Record{}, err
	}
	if len(records) == 0 {
		return store.Record{}, store.RefuseNoAgent(id)
	}
	return records[0], nil
}
