package storetest

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

func (sp *space) inQueue(id, queue c3po.AgentID) bool {
	a := sp.agents[id]
	return a != nil && slices.Contains(c3po.QueuesOf(a.profile.Capabilities), queue)
}

// sign is the last sign of life of an agent, moved so that the same window says of all
// agents whether they are online.
func (sp *space) sign(a *agent) time.Time {
	return a.seen.Add(store.OnlineFor(sp.limits, a.profile.Heartbeat) - sp.limits.OnlineWindow)
}

// held says whether the newest claim of a message still holds.
func (sp *space) held(msg *message, now time.Time) bool {
	claim := msg.facts.Claim
	if claim == nil || claim.Released {
		return false
	}
	a := sp.agents[claim.By]
	switch {
	case a == nil || !a.goneAt.IsZero():
		return false
	case sp.attached(a, now):
		return true
	case a.node == "" && sp.sign(a).After(claim.At):
		return now.Sub(sp.sign(a)) < sp.limits.ClaimLease
	default:
		return now.Sub(claim.At) < sp.limits.ClaimLease
	}
}

// forMember says whether a member is shown a message of its queue.
func (sp *space) forMember(msg *message, id c3po.AgentID, now time.Time) bool {
	if msg.view.FromAgent == id {
		return false
	}
	return !sp.held(msg, now) || msg.facts.Claim.By == id
}

// unfit says why an agent may not end a message of a queue; empty if it may.
func (sp *space) unfit(msg *message, id c3po.AgentID) store.AckOutcome {
	claim := msg.facts.Claim
	free := claim == nil || claim.Released && claim.By != id
	switch {
	case !free && claim.By != id:
		return store.AckStale
	case free && (!sp.inQueue(id, msg.view.ToAgent) || msg.view.FromAgent == id):
		return store.AckNotYours
	default:
		return ""
	}
}

// Claim implements store.Store.
func (m *Model) Claim(_ context.Context, name c3po.Space, step store.ClaimStep) (store.Claimed, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now := m.space(name), m.now()
	if sp.superseded(step.Agent, step.Run) {
		return store.Claimed{}, store.RefuseSuperseded(step.Agent)
	}
	if !sp.inQueue(step.Agent, step.Queue) {
		return store.Claimed{}, store.RefuseNotMember(step.Queue, step.Agent)
	}
	mail := sp.pending(step.Queue)
	if sp.record(step.Agent, now).Paused != "" {
		if step.ID != "" {
			return store.Claimed{}, store.RefusePaused(step.Agent)
		}
		return store.Claimed{Count: len(mail), Now: now}, nil
	}
	chosen, err := sp.choose(mail, step, now)
	if err != nil {
		return store.Claimed{}, err
	}
	out := store.Claimed{Count: len(mail), Now: now}
	if chosen == nil {
		return out, nil
	}
	if !sp.held(chosen, now) || chosen.facts.Claim.By != step.Agent {
		chosen.facts.Claim, chosen.facts.Stalled = &c3po.Claim{By: step.Agent, At: now}, time.Time{}
		sp.event(c3po.EventClaimed, "", chosen.view.ID, now)
	}
	entry := sp.entry(chosen)
	entry.Facts.Notified = nil
	out.Entry = &entry
	return out, nil
}

func (sp *space) choose(mail []*message, step store.ClaimStep, now time.Time) (*message, error) {
	if step.ID == "" {
		for _, msg := range mail {
			inHand := sp.held(msg, now) && sp.wasGiven(msg, step)
			if sp.forMember(msg, step.Agent, now) && !inHand {
				return msg, nil
			}
		}
		return nil, nil
	}
	switch msg := sp.messages[step.ID]; {
	case msg == nil:
		return nil, store.RefuseNoMessage(step.ID)
	case msg.state != c3po.StatePending:
		return nil, store.RefuseEnded(step.ID, msg.state)
	case msg.view.FromAgent == step.Agent:
		return nil, store.RefuseNotMember(step.Queue, step.Agent)
	case !sp.forMember(msg, step.Agent, now):
		return nil, store.RefuseHeld(step.ID, msg.facts.Claim.By)
	default:
		return msg, nil
	}
}

func (sp *space) wasGiven(msg *message, step store.ClaimStep) bool {
	from := sp.place(step.MinSeq)
	return msg.isAmong(step.Given) || slices.ContainsFunc(msg.facts.Served, func(f store.ServedFact) bool {
		return f.Reader == step.Reader && !f.Before && !(step.Positioned && f.Cursor > from)
	})
}

// AckClaimed implements store.Store.
func (m *Model) AckClaimed(_ context.Context, name c3po.Space, queue, agent c3po.AgentID, run string, ids []c3po.MessageID) ([]store.AckOutcome, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now := m.space(name), m.now()
	if sp.superseded(agent, run) {
		return nil, store.RefuseSuperseded(agent)
	}
	outcomes := make([]store.AckOutcome, len(ids))
	for i, id := range ids {
		msg := sp.messages[id]
		outcomes[i] = sp.ownership(id, queue)
		if outcomes[i] != store.AckAlready {
			continue
		}
		if refused := sp.unfit(msg, agent); refused != "" {
			outcomes[i] = refused
		} else if msg.state == c3po.StatePending {
			sp.ack(msg, now)
			outcomes[i] = store.AckDone
		}
	}
	return outcomes, nil
}

// Members implements store.Store.
func (m *Model) Members(_ context.Context, name c3po.Space, queue c3po.AgentID, limit int) ([]c3po.AgentID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	var members []c3po.AgentID
	for _, id := range slices.Sorted(maps.Keys(sp.agents)) {
		if sp.inQueue(id, queue) && len(members) < limit {
			members = append(members, id)
		}
	}
	return members, nil
}

// Queues implements store.Store.
func (m *Model) Queues(_ context.Context, name c3po.Space) ([]c3po.AgentID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.space(name).queues)), nil
}
