package storetest

import (
	"cmp"
	"context"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// Reply implements store.Store.
func (m *Model) Reply(_ context.Context, name c3po.Space, step store.ReplyStep) (store.Stored, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now := m.space(name), m.now()
	_, owner, _ := step.Answers.Split()
	if owner != step.From && owner.Queue() == "" {
		if sp.superseded(step.From, step.Run) {
			return store.Stored{}, store.RefuseSuperseded(step.From)
		}
		if sp.lookup(step.Answers) == nil {
			return store.Stored{}, store.RefuseNoMessage(step.Answers)
		}
		return store.Stored{}, store.RefuseNotYours(step.Answers)
	}
	stored, err := sp.reply(step, now)
	return stored, store.NothingStored(step.Key, err)
}

func (sp *space) reply(step store.ReplyStep, now time.Time) (store.Stored, error) {
	question := sp.messages[step.Answers]
	asker, owner, _ := step.Answers.Split()
	asker = cmp.Or(step.ReplyTo, asker)
	print := store.Fingerprint(step.Draft, step.Answers)
	key, first, err := sp.repeated(step.Draft, asker, print, now)
	if err != nil {
		return store.Stored{}, err
	}
	if first != nil {
		return sp.repeat(first, asker, now), nil
	}
	if sp.superseded(step.From, step.Run) {
		return store.Stored{}, store.RefuseSuperseded(step.From)
	}
	if step.Barred != nil {
		return store.Stored{}, step.Barred
	}
	if err := sp.attachable(step.Draft); err != nil {
		return store.Stored{}, err
	}
	if question == nil {
		return store.Stored{}, store.RefuseNoMessage(step.Answers)
	}
	if !question.facts.Cancelled.IsZero() {
		return store.Stored{}, store.RefuseCancelled(step.Answers)
	}
	if step.ResumeTo && len(question.facts.Answers) > 0 {
		return store.Stored{}, store.RefuseAnswered(step.Answers)
	}
	if owner.Queue() != "" {
		switch sp.unfit(question, step.From) {
		case store.AckStale:
			return store.Stored{}, store.RefuseHeld(step.Answers, question.facts.Claim.By)
		case store.AckNotYours:
			return store.Stored{}, store.RefuseNotMember(owner, step.From)
		}
	}
	answer := step.Draft
	answer.To, answer.Thread, answer.Kind = cmp.Or(step.ReplyTo, question.view.FromAgent), question.view.Thread, c3po.KindReply
	answer.GoesBackTo = cmp.Or(question.leads(), step.GoesBackTo)
	if answer.To == c3po.Human || step.From == c3po.Human {
		answer.GoesBackTo = nil
	}
	mailbox := answer.To == c3po.Human
	if !mailbox && sp.agents[answer.To] == nil {
		return store.Stored{}, store.RefuseNoAgent(answer.To)
	}
	if err := sp.roomFor(answer, answer.Bytes(), false); err != nil {
		return store.Stored{}, err
	}
	moved, err := sp.handOver(question, step)
	if err != nil {
		return store.Stored{}, err
	}
	more := answer.Bytes()
	if moved != nil {
		more += question.facts.Bytes
	}
	if question.state == c3po.StatePending {
		more -= question.facts.Bytes
	}
	if sp.crowded(answer.From, answer.To, more) {
		return store.Stored{}, store.RefuseSpaceFull(sp.limits.SpaceBytes)
	}
	digest := ""
	if question.view.Kind == c3po.KindReply {
		digest = store.TextDigest(answer.From, answer.To, answer)
	}
	chain := cmp.Or(question.facts.Chain, question.view.Thread)
	bill, spent := sp.reckon(answer, chain, digest, now)
	if spent != nil {
		return store.Stored{Spent: spent}, store.RefuseSpent(*spent, sp.limits)
	}
	if question.view.ExpectsReply && moved == nil {
		bill.forgetTexts()
	}
	ticket := cmp.Or(question.view.Ticket, step.Answers)

	wakes := answer.To
	if question.view.Kind == c3po.KindReply && !question.view.ExpectsReply && !answer.ExpectsReply {
		wakes = ""
	}
	msg := sp.acceptFor(wakes, answer, answer.Bytes(), c3po.EventAnswered, ticket, step.Durability, now)
	sp.attach(msg)
	fill := sp.fill(answer.To, answer.From)
	fill.Spending = bill.spending()
	msg.facts.KeyBytes = answer.KeyBytes()
	if !mailbox {
		msg.facts.Expires = sp.books.Lived + seconds(sp.limits.MessageLife)
	}
	sp.keys[key] = keyFor(print, msg, sp.books.Lived)
	msg.facts.Chain = question.facts.Chain
	sp.charge(bill, msg.view.ID, now)
	msg.facts.AskedBy = question.facts.AskedBy
	answered := c3po.Answered{ID: msg.view.ID, At: now}
	if moved != nil {
		answered.MovedTo = moved(ticket, now)
	}
	question.facts.Answers = append(question.facts.Answers, answered)
	if owner.Queue() != "" && (question.facts.Claim == nil || question.facts.Claim.Released) {
		question.facts.Claim = &c3po.Claim{By: step.From, At: now}
	}
	acked := question.state == c3po.StatePending
	if acked {
		sp.ack(question, now)
	}
	if step.ResumeTo {
		sp.answered(answer.To, step.Answers, now)
	}
	stored := sp.stored(msg, now)
	fill.SpaceBytes = sp.books.PendingBytes
	stored.Acked, stored.MovedTo, stored.Fill = acked, answered.MovedTo, fill
	return stored, nil
}

// leads is the person's word that an answer to the message goes back to; nil if there is none.
func (m *message) leads() *c3po.Word {
	if m.view.FromAgent != c3po.Human || m.view.Ticket != "" {
		return m.view.GoesBackTo
	}
	word := &c3po.Word{ID: m.view.ID, At: m.view.Timestamp}
	if m.view.Proof != nil {
		word.Passkey = m.view.Proof.Passkey
	}
	return word
}

// Ack implements store.Store.
func (m *Model) Ack(_ context.Context, name c3po.Space, owner c3po.AgentID, run string, ids []c3po.MessageID) ([]store.AckOutcome, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now := m.space(name), m.now()
	if sp.superseded(owner, run) {
		return nil, store.RefuseSuperseded(owner)
	}
	outcomes := sp.ofOthers(ids, owner)
	for i, id := range ids {
		msg := sp.messages[id]
		if outcomes[i] == "" {
			outcomes[i] = sp.ownership(id, owner)
		}
		if outcomes[i] == store.AckAlready && msg.state == c3po.StatePending {
			sp.ack(msg, now)
			outcomes[i] = store.AckDone
		}
	}
	return outcomes, nil
}

// Received implements store.Store.
func (m *Model) Received(_ context.Context, name c3po.Space, owner c3po.AgentID, reader, route string, ids []c3po.MessageID) ([]store.AckOutcome, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now := m.space(name), m.now()
	outcomes := sp.ofOthers(ids, owner)
	for i, id := range ids {
		msg := sp.messages[id]
		if outcomes[i] == "" {
			outcomes[i] = sp.ownership(id, owner)
		}
		if outcomes[i] != store.AckAlready {
			continue
		}
		sp.firstReader(msg, now)
		if msg.facts.Received == nil {
			msg.facts.Received = &store.ServedFact{Reader: reader, Route: route, First: now, Last: now, Times: 1}
		}
		if msg.view.Kind == c3po.KindReply && !msg.view.ExpectsReply && msg.state == c3po.StatePending {
			sp.ack(msg, now)
			outcomes[i] = store.AckDone
		}
	}
	return outcomes, nil
}

// ofOthers are the outcomes for messages of others, which come first: to end a
// message of one's own may make the store forget one of them.
func (sp *space) ofOthers(ids []c3po.MessageID, owner c3po.AgentID) []store.AckOutcome {
	outcomes := make([]store.AckOutcome, len(ids))
	for i, id := range ids {
		if _, to, _ := id.Split(); to != owner {
			outcomes[i] = sp.ownership(id, owner)
		}
	}
	return outcomes
}

// ownership is the outcome for a message as it stands: unknown, not the
// owner's, or already what it is. Who has it by a former name is not its owner.
func (sp *space) ownership(id c3po.MessageID, owner c3po.AgentID) store.AckOutcome {
	_, to, _ := id.Split()
	switch {
	case to != owner && sp.lookup(id) != nil:
		return store.AckNotYours
	case sp.messages[id] == nil:
		return store.AckUnknown
	default:
		return store.AckAlready
	}
}
