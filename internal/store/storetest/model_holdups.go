package storetest

import (
	"cmp"
	"context"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// SetQuota implements store.Store.
func (m *Model) SetQuota(_ context.Context, name c3po.Space, step store.QuotaStep) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now := m.space(name), m.now()
	a := sp.agents[step.Agent]
	switch {
	case a == nil:
		return store.RefuseNoAgent(step.Agent)
	case sp.superseded(step.Agent, step.Run):
		return store.RefuseSuperseded(step.Agent)
	}
	a.quota = nil
	if step.For > 0 {
		a.quota = &c3po.OutOfQuota{Until: now.Add(step.For), Since: now, Exact: step.Exact, Evidence: step.Evidence}
	}
	return nil
}

// outOfQuota is what is said of it now.
func (a *agent) outOfQuota(now time.Time) *c3po.OutOfQuota {
	if a.quota == nil || !a.quota.Until.After(now) {
		return nil
	}
	quota := *a.quota
	return &quota
}

// HoldUp implements store.Store.
func (m *Model) HoldUp(_ context.Context, name c3po.Space, step store.HoldUpStep) (store.HeldUp, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now := m.space(name), m.now()
	if sp.superseded(step.Agent, step.Run) {
		return store.HeldUp{}, store.RefuseSuperseded(step.Agent)
	}
	msg := sp.messages[step.ID]
	if msg == nil || !msg.isWith(step.Agent) {
		return store.HeldUp{}, nil
	}
	claim := msg.facts.Claim
	if step.Why == store.GoesOn {
		held := !msg.facts.Stalled.IsZero() || claim != nil && claim.Released
		msg.facts.Stalled = time.Time{}
		if claim != nil {
			claim.Released = false
		}
		return store.HeldUp{Changed: held}, nil
	}
	expects := msg.view.ExpectsReply
	news := expects && !msg.heldUp[step.Why]
	released := claim != nil && msg.view.ToAgent.Queue() != "" && msg.state == c3po.StatePending && !claim.Released
	stalled := step.Why == store.Stalled && expects && msg.facts.Stalled.IsZero()
	told := news && step.To != ""
	if told && sp.agents[step.To] == nil {
		return store.HeldUp{}, store.RefuseNoAgent(step.To)
	}
	if released {
		sp.event(c3po.EventReleased, msg.view.ToAgent, msg.view.ID, now)
		claim.Released, sp.released = true, sp.books.Seq
	}
	if told {
		notice := sp.accept(store.Draft{
			From: c3po.System, To: step.To, Kind: c3po.KindNotice, Thread: msg.view.Thread, Priority: c3po.Normal, Text: step.Notice,
		}, c3po.EventAccepted, cmp.Or(msg.view.Ticket, msg.view.ID), step.Durability, now)
		notice.facts.Expires = sp.books.Lived + seconds(sp.limits.MessageLife)
	}
	if news {
		if msg.heldUp == nil {
			msg.heldUp = map[store.HoldUpReason]bool{}
		}
		msg.heldUp[step.Why] = true
	}
	if stalled {
		msg.facts.Stalled = now
	}
	return store.HeldUp{Changed: news || released || stalled, Told: told}, nil
}

// isWith says that an agent still has to deal with a message.
func (msg *message) isWith(id c3po.AgentID) bool {
	switch {
	case !msg.facts.Cancelled.IsZero() || len(msg.facts.Answers) > 0 || msg.state != c3po.StatePending && msg.state != c3po.StateAcked:
		return false
	case msg.view.ToAgent.Queue() != "":
		return msg.facts.Claim != nil && msg.facts.Claim.By == id
	}
	return msg.view.ToAgent == id
}
