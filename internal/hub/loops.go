package hub

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// reaction is how soon after an agent is given a message its next message counts as a
// reaction to it. This finds loops of agents that start a new thread each time. Only the
// first message counts, so that an agent that hands work out to many does not draw on one
// budget.
const reaction = time.Minute

// chainOf is the chain whose budget pays for what follows from an entry.
func chainOf(entry store.Entry) string { return cmp.Or(entry.Facts.Chain, entry.Message.Thread) }

// reactsTo remembers what the caller may react to next. Answers to its own
// questions and what people write start nothing.
func (box *inbox) reactsTo(entry store.Entry) {
	m := entry.Message
	switch {
	case m.FromAgent == c3po.Human:
		box.cause = &cause{}
	case m.Kind == c3po.KindMessage && m.FromAgent != c3po.System:
		box.cause = &cause{chain: chainOf(entry), at: time.Now()}
	}
}

// A cause is what an agent was given last.
type cause struct {
	chain string
	at    time.Time
}

// announceSpent tells both sides and the person, once, that a budget is spent. The
// message was refused whatever happens here, so what fails is logged: the next
// refused message tries again.
func (o outbox) announceSpent(ctx context.Context, s *store.Spent, to c3po.AgentID, refusal error) {
	if s == nil || !s.Untold {
		return
	}
	if err := o.tellSpent(ctx, *s, to, c3po.AsError(refusal)); err != nil {
		o.hub.log.ErrorContext(ctx, "nobody was told of a spent budget", "space", o.space, "agent", o.id, "err", err)
	}
}

func (o outbox) tellSpent(ctx context.Context, s store.Spent, to c3po.AgentID, refusal *c3po.Error) error {
	durability, err := o.hub.store.Durability(ctx)
	if err != nil {
		return err
	}
	chain, _ := strings.CutPrefix(s.Account, "t:")
	if s.Whose != store.SpentChain {
		chain = ""
	}
	say := func(to c3po.AgentID, kind c3po.Kind, text string) (store.Stored, error) {
		digest := sha256.Sum256([]byte(text))
		return o.hub.store.Send(ctx, o.space, store.SendStep{
			Draft: store.Draft{
				From: c3po.System, To: to, Kind: kind, Thread: chain, Priority: c3po.Normal, Text: text,
				// Several coordinators can try; the key makes it one message. The text is part of the
				// key because it differs once an agent in it is renamed.
				Key: fmt.Sprintf("%s %s %d %x", s.Account, to, s.Since.UnixMilli(), digest[:8]),
			},
			Durability: durability, Mailbox: to == c3po.Human,
		})
	}
	cost, err := o.hub.store.ChainCost(ctx, o.space, chain)
	if err != nil {
		return err
	}
	stored, err := say(c3po.Human, c3po.KindEscalation, o.questionOfSpent(s, chain, to, cost))
	if err != nil {
		return err
	}
	o.recordAccepted(ctx, c3po.EventAccepted, stored, durability)
	o.hub.notices.Ask(o.space)
	for _, side := range []c3po.AgentID{o.id, to} {
		if side.Queue() != "" {
			continue
		}
		_, err := say(side, c3po.KindNotice, fmt.Sprintf(
			"Between '%s' and '%s': %s. A person has been asked. Nothing more can be sent there for now; go on with other work.", o.id, to, refusal.Message))
		if err != nil && !errors.Is(err, c3po.AgentNotFound) && !errors.Is(err, c3po.InboxFull) {
			return err
		}
	}
	o.hub.log.WarnContext(ctx, "budget spent", "space", o.space, "agent", o.id, "to", to, "whose", s.Whose, "what", s.What)
	return o.hub.store.Told(ctx, o.space, s.Account, stored.Message.ID)
}

// questionOfSpent is what the person reads.
func (o outbox) questionOfSpent(s store.Spent, chain string, to c3po.AgentID, cost *c3po.Cost) string {
	if s.Whose != store.SpentChain {
		return fmt.Sprintf("'%s' has sent more to '%s' than %s may in an hour, and is held back until the hour is over. "+
			"`c3po pause %s` stops it for longer.", o.id, to, map[string]string{store.SpentPair: "a pair", store.SpentAgent: "an agent"}[s.Whose], o.id)
	}
	var handlers []string
	for _, id := range s.Handlers {
		handlers = append(handlers, string(id))
	}
	known := ""
	if cost != nil {
		known = fmt.Sprintf(" It has cost %s, as far as its agents report.", cost.Usage)
	}
	return fmt.Sprintf("A conversation has used its budget and is paused.%s Lately it went: %s. `c3po thread %s` shows it; "+
		"to let it go on: c3po thread resume %s", known, strings.Join(handlers, " → "), chain, chain)
}

// ThreadResume lets a conversation go on whose budget is spent.
func (a *Actor) ThreadResume(ctx context.Context, in c3po.ThreadResumeInput) (c3po.ThreadResumed, error) {
	if err := a.person(); err != nil {
		return c3po.ThreadResumed{}, err
	}
	if err := checkGiven("thread", in.Thread); err != nil {
		return c3po.ThreadResumed{}, err
	}
	if err := checkLabels(label{"thread", in.Thread, maxThreadBytes}); err != nil {
		return c3po.ThreadResumed{}, err
	}
	chain := in.Thread
	if id, err := c3po.ParseMessageID(in.Thread); err == nil {
		entry, err := a.hub.store.Message(ctx, a.space, id)
		if err != nil {
			return c3po.ThreadResumed{}, err
		}
		if entry != nil {
			chain = chainOf(*entry)
		}
	}
	resumed, err := a.hub.store.ResumeChain(ctx, a.space, chain)
	if err != nil {
		return c3po.ThreadResumed{}, err
	}
	if resumed.Acked {
		a.hub.marks.Touch(a.space, 0)
		a.hub.meter.Acked(1)
		a.tell(ctx, c3po.EventAcked, "", resumed.Question)
	}
	return c3po.ThreadResumed{Thread: chain, Resumed: resumed.Done}, nil
}
