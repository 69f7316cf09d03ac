package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// FlowIdle is how long the account of a chain, a pair or an agent is kept after
// its last message. It is longer than the hour a budget is for.
const FlowIdle = 2 * time.Hour

// CostLife is how long it is known what a chain has cost, after the last report.
const CostLife = 7 * 24 * time.Hour

// MaxUsageRuns is how many runs are told apart that report what one message has cost.
// The oldest are then added up.
const MaxUsageRuns = 8

// UsageStep reports what a run has used for a message since it was given it.
type UsageStep struct {
	Agent  c3po.AgentID // who says so of itself
	Run    string       // SUPERSEDED if another run holds Agent; empty passes
	Client string       // what counts
	ID     c3po.MessageID
	Usage  c3po.Usage
	Shared bool
}

// RunUsage is what one run has used for a message.
type RunUsage struct {
	Run    string
	Client string
	Usage  c3po.Usage
	Shared bool
}

// Whose budget is spent.
const (
	SpentChain = "chain" // of messages that followed from one another: it is paused
	SpentPair  = "pair"
	SpentAgent = "agent"
	SpentText  = "text" // the same text too often; no notice is needed
)

// Spent says which budget refused a message.
type Spent struct {
	Whose    string
	What     string // messages, bytes, hops, paused or repeated
	Account  string // by which Told names it
	Untold   bool   // no notice was sent yet
	Question c3po.MessageID
	Since    time.Time      // when its hour began: one account may be spent more than once
	Handlers []c3po.AgentID // who wrote in the chain, the last ones
}

type flowStore interface {
	// Told notes that a person was asked about a spent account, and where.
	Told(ctx context.Context, space c3po.Space, account string, question c3po.MessageID) error
	// ResumeChain gives a paused chain a new budget, and acks the question that the
	// person was asked about it. It works when the store is full.
	ResumeChain(ctx context.Context, space c3po.Space, chain string) (Resumed, error)
	// Use records what a run has used for a message in its agent's mailbox, or one of a
	// queue that the agent has claimed, and adds what is new to the message's chain. Each
	// number of a run only grows, so a repeat adds nothing. A chain whose ChainTokens of an
	// hour are used is paused as a spent one. It reports false, and changes nothing, for
	// any other message, and if nothing is new.
	Use(ctx context.Context, space c3po.Space, step UsageStep) (bool, error)
	// ChainCost is what a chain has cost; nil if nobody has said so.
	ChainCost(ctx context.Context, space c3po.Space, chain string) (*c3po.Cost, error)
}

// Resumed is what became of a chain that was told to go on.
type Resumed struct {
	Done     bool           // it was paused
	Question c3po.MessageID // that the person was asked about it, if one was
	Acked    bool           // the question, by this
}

// TextDigest is the same for the same text of one sender to one recipient; empty
// for a draft that is not to be compared.
func TextDigest(from, to c3po.AgentID, d Draft) string {
	if d.Distinct {
		return ""
	}
	whole := make([]byte, 0, len(from)+len(to)+len(d.Text)+len(d.Context)+3)
	for _, field := range [...]string{string(from), "\x00", string(to), "\x00", d.Text, "\x00", d.Context} {
		whole = append(whole, field...)
	}
	for _, file := range d.Attachments {
		whole = append(append(whole, 0), file.ID...) // the same words about another file are news
	}
	sum := sha256.Sum256(whole)
	return hex.EncodeToString(sum[:6])
}

// RefuseSpent is BUDGET_SPENT; limits say what the budget was.
func RefuseSpent(s Spent, l c3po.Limits) *c3po.Error {
	const wait = "Do something else; the user has been asked whether it may go on."
	switch {
	case s.Whose == SpentText:
		return c3po.Errorf(c3po.BudgetSpent, "the same text was sent there %d times within %s", l.SameTexts, InWords(l.SameTextWindow)).
			Suggest("It is already stored: do not send it again. If it matters, say something new.")
	case s.Whose == SpentChain && s.What == "paused":
		return c3po.Errorf(c3po.BudgetSpent, "this conversation is paused: it has used its budget").Suggest(wait)
	case s.Whose == SpentChain && s.What == "hops":
		return c3po.Errorf(c3po.BudgetSpent, "this conversation has gone on for %d messages without a person, and is paused", l.ChainHops).Suggest(wait)
	case s.Whose == SpentChain && s.What == "bytes":
		return c3po.Errorf(c3po.BudgetSpent, "this conversation has used its %d bytes an hour, and is paused", l.ChainBytes).Suggest(wait)
	case s.Whose == SpentChain:
		return c3po.Errorf(c3po.BudgetSpent, "this conversation has used its %d messages an hour, and is paused", l.ChainMessages).Suggest(wait)
	}
	messages, bytes, whose := l.PairMessages, l.PairBytes, "you and this agent have used your"
	if s.Whose == SpentAgent {
		messages, bytes, whose = l.AgentMessages, l.AgentBytes, "you have used your"
	}
	const later = "Wait until the hour is over; the person has been told."
	if s.What == "bytes" {
		return c3po.Errorf(c3po.BudgetSpent, "%s %d bytes an hour", whose, bytes).Suggest(later)
	}
	return c3po.Errorf(c3po.BudgetSpent, "%s %d messages an hour", whose, messages).Suggest(later)
}

func InWords(d time.Duration) string {
	if d >= time.Minute && d%time.Minute == 0 {
		return fmt.Sprintf("%d minutes", d/time.Minute)
	}
	return d.String()
}
