package node

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// A FreshStore is the store plus what this node knows sooner about agents: that they have
// called here or wait here no longer, which the store hears later, that they wait here
// whatever its clock says, and that their processes are watched here.
// All records are read through it, so no reader has to remember.
type FreshStore struct {
	store.Store
	calls    *LastCalls
	presence *Presence
	watches  func(space c3po.Space, id c3po.AgentID, pid int, start int64) bool
}

// NewFreshStore corrects what a store says by the calls and waits made here and the processes watched here.
func NewFreshStore(kept store.Store, calls *LastCalls, presence *Presence, watches func(c3po.Space, c3po.AgentID, int, int64) bool) FreshStore {
	return FreshStore{Store: kept, calls: calls, presence: presence, watches: watches}
}

// Correct corrects a record. What an agent that has ended its session called was
// before that.
func (s FreshStore) Correct(space c3po.Space, r store.Record) store.Record {
	r.Watched = r.Profile.PID > 0 && s.watches(space, r.ID, r.Profile.PID, r.Profile.PIDStart)
	if !r.Attached && !r.Online {
		// For a session that has ended, its host may wait.
		if state, since, waits := s.presence.here(space, r.ID); waits && r.Left == (state == c3po.SessionClosed) {
			r.Attached, r.Online, r.Node, r.State, r.StateAt = true, !r.Left, s.presence.node, state, since.UTC()
		}
	}
	if r.Left {
		return r
	}
	if r.State != "" && r.Node == s.presence.node {
		if left, over := s.presence.left(space, r.ID); over {
			r.State, r.StateAt = "", left.UTC()
		}
	}
	if last := s.calls.last(agentKey{space, r.ID}); last.After(r.Seen) {
		r.Seen = last.UTC()
		r.Online = r.Online || time.Since(last) < store.OnlineFor(s.calls.limits, r.Profile.Heartbeat)
	}
	return r
}

func (s FreshStore) all(space c3po.Space, records []store.Record) []store.Record {
	for i, r := range records {
		records[i] = s.Correct(space, r)
	}
	return records
}

// Agents implements Store.
func (s FreshStore) Agents(ctx context.Context, space c3po.Space, ids []c3po.AgentID) ([]store.Record, error) {
	records, err := s.Store.Agents(ctx, space, ids)
	return s.all(space, records), err
}

// AgentPage implements Store.
func (s FreshStore) AgentPage(ctx context.Context, space c3po.Space, after int64, limit int) ([]store.Record, error) {
	records, err := s.Store.AgentPage(ctx, space, after, limit)
	return s.all(space, records), err
}

// Send implements Store.
func (s FreshStore) Send(ctx context.Context, space c3po.Space, step store.SendStep) (store.Stored, error) {
	stored, err := s.Store.Send(ctx, space, step)
	stored.Recipient = s.Correct(space, stored.Recipient)
	return stored, err
}
