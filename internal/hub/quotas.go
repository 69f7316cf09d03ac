package hub

import (
	"context"
	"fmt"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// warnAt is how full, in per cent, something is when senders are warned.
const warnAt = 80

// What a warning can be of.
const (
	WarnInbox  = "inbox"  // of the recipient
	WarnSender = "sender" // the sender's share of it
	WarnSpace  = "space"
	WarnMemory = "memory" // of the engine
	WarnBudget = "budget" // of a conversation, a pair, an agent, or the sends of a minute
)

// warning says what is about to be full after a send; empty if nothing is. What
// it says is counted.
func (s spaceHub) warning(ctx context.Context, stored store.Stored) string {
	if stored.Fill == nil {
		return ""
	}
	var said []string
	warn := func(of string, used int, whose, sentence string) {
		if used < warnAt {
			return
		}
		s.hub.meter.Warned(of)
		said = append(said, fmt.Sprintf(sentence, whose, used))
	}
	l, fill, to := s.hub.limits, stored.Fill, stored.Message.ToAgent
	inbox := max(store.Percent(int64(fill.Messages), int64(l.InboxMessages)), store.Percent(int64(fill.Bytes), int64(l.InboxBytes)))
	warn(WarnInbox, inbox, string(to), "the inbox of '%s' is %d %% full")
	// An answer does not count against a sender's share.
	if share := int64(l.SenderShare); share > 1 && to != c3po.Human && inbox < warnAt && stored.Message.Kind != c3po.KindReply {
		own := max(store.Percent(int64(fill.OwnMessages)*share, int64(l.InboxMessages)), store.Percent(int64(fill.OwnBytes)*share, int64(l.InboxBytes)))
		warn(WarnSender, own, string(to), "your share of the inbox of '%s' is %d %% full")
	}
	warn(WarnSpace, store.Percent(fill.SpaceBytes, int64(l.SpaceBytes)), string(s.space), "space '%s' is %d %% full of unacked mail")
	// The message is stored, so an engine that does not report its memory is no failure.
	if memory, err := s.hub.store.Memory(ctx); err == nil {
		warn(WarnMemory, memory.Percent(), "Redis", "the memory of %s is %d %% full")
	}
	full := ""
	if len(said) > 0 {
		full = sentences(append(said, "What is full refuses; acking what was dealt with makes room")...)
	}
	return sentences(full, s.spending(fill.Spending, to))
}

// spending says which budget is almost spent.
func (s spaceHub) spending(used store.Spending, to c3po.AgentID) string {
	l := s.hub.limits
	of := func(used, most int) int { return store.Percent(int64(used), int64(most)) }
	var said []string
	warn := func(percent int, sentence func() string) {
		if percent >= warnAt {
			s.hub.meter.Warned(WarnBudget)
			said = append(said, sentence())
		}
	}
	chain := max(of(used.ChainMessages, l.ChainMessages), of(used.ChainBytes, l.ChainBytes), of(used.ChainHops, l.ChainHops))
	warn(chain, func() string {
		return fmt.Sprintf("this conversation has used %d %% of its budget; when that is spent it is paused until a person resumes it", chain)
	})
	tokens := store.Percent(used.ChainTokens, int64(l.ChainTokens))
	warn(tokens, func() string {
		return fmt.Sprintf("answers in this conversation have used %d %% of its tokens of an hour; when those are spent it is paused until a person resumes it", tokens)
	})
	pair := max(of(used.PairMessages, l.PairMessages), of(used.PairBytes, l.PairBytes))
	warn(pair, func() string { return fmt.Sprintf("you and '%s' have used %d %% of the budget of an hour", to, pair) })
	own := max(of(used.AgentMessages, l.AgentMessages), of(used.AgentBytes, l.AgentBytes))
	warn(own, func() string { return fmt.Sprintf("you have used %d %% of your budget of an hour", own) })
	minute := of(used.Sent, l.SendsPerMinute)
	warn(minute, func() string { return fmt.Sprintf("you have sent %d %% of what you may in a minute", minute) })
	warn(of(used.SameTexts, l.SameTexts), func() string {
		return fmt.Sprintf("'%s' has this text %d times by now; once more within %s is refused unless it answers", to, used.SameTexts, store.InWords(l.SameTextWindow))
	})
	return sentences(said...)
}
