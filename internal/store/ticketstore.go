package store

import (
	"context"

	"github.com/c3po-dev/c3po/c3po"
)

// CancelStep withdraws a message.
type CancelStep struct {
	From       c3po.AgentID // who says so
	Former     c3po.AgentID // what From was called when it sent it; empty: the same
	Run        string       // SUPERSEDED if another run holds From; empty passes
	ID         c3po.MessageID
	Notice     string // what a recipient that has read it is told
	Durability c3po.Durability
	Holder     c3po.AgentID // the agent thought to hold a queue's message
}

// SilenceStep says that an agent has read a question and ended its turn without
// an answer.
type SilenceStep struct {
	Agent      c3po.AgentID // who says so of itself
	Run        string       // SUPERSEDED if another run holds Agent; empty passes
	ID         c3po.MessageID
	To         c3po.AgentID // the asker's name today; empty if nobody is notified
	Notice     string
	Durability c3po.Durability
}

// A HoldUpReason is why the agent that has a message does not go on with it.
type HoldUpReason string

// The reasons of a hold-up.
const (
	HeldUpByQuota HoldUpReason = "quota"   // it is out of quota
	Stalled       HoldUpReason = "stalled" // it has made no step for too long
	GoesOn        HoldUpReason = ""        // it goes on
)

// A HoldUpStep says that an agent does not go on with a message that it has, or goes on.
type HoldUpStep struct {
	Agent      c3po.AgentID // who says so of itself
	Run        string       // SUPERSEDED if another run holds Agent; empty passes
	ID         c3po.MessageID
	Why        HoldUpReason
	To         c3po.AgentID // the asker's name today; empty if nobody is notified
	Notice     string
	Durability c3po.Durability
}

// A HeldUp is what became of it.
type HeldUp struct {
	Changed bool // false: that was known, or the message is not one that the agent has to deal with
	Told    bool // the asker was sent the notice
}

// Cancelled is what became of it.
type Cancelled struct {
	Outcome c3po.CancelOutcome
	Told    bool           // the recipient was sent the notice
	MovedTo c3po.MessageID // with no Outcome: the ticket was handed over, this is where it is
	Held    bool           // with no Outcome: not the Holder has the role's message, but HeldBy
	HeldBy  c3po.AgentID   // empty: nobody
}

// A TicketMark is a ticket in the order tickets were opened.
type TicketMark struct {
	ID  c3po.MessageID
	Seq int64
	// Given is the id that its sender was given: with the name that its recipient had then.
	Given c3po.MessageID
}

type ticketStore interface {
	// Cancel ends a pending message as cancelled. One that was acked and still
	// expects an answer stays acked, but takes none any more. If its text is known
	// to have been read its recipient gets one notice; of a role's message, the agent
	// that claimed it last, if that is registered and is the Holder of the step. It works
	// when the store is full.
	Cancel(ctx context.Context, space c3po.Space, step CancelStep) (Cancelled, error)
	// Silence records that the agent leaves the question in its mailbox, or the one of
	// a role that it has claimed, unanswered, and puts one notice into the inbox of who
	// asked: AGENT_NOT_FOUND, and nothing changes, if To is not registered. It reports
	// false, and changes nothing, for a message that expects no answer, was answered,
	// handed on, cancelled or buried, or of which it was said before. It works when
	// the store is full.
	Silence(ctx context.Context, space c3po.Space, step SilenceStep) (bool, error)
	// HoldUp records that the agent does not go on with a message in its mailbox, or with one
	// of a role that it has claimed, or that it goes on. A message of a role is released:
	// other members are shown it anew and may claim it until its holder goes on. Who asked
	// hears of each reason once: AGENT_NOT_FOUND, and nothing changes, if To is not
	// registered. It works when the store is full.
	HoldUp(ctx context.Context, space c3po.Space, step HoldUpStep) (HeldUp, error)
	// Lapse writes the event that a ticket's deadline has passed unanswered, once;
	// it reports whether it did.
	Lapse(ctx context.Context, space c3po.Space, id c3po.MessageID) (bool, error)

	// Reads.

	// Overdue lists up to limit tickets whose deadline has passed and for which
	// Lapse was not called since.
	Overdue(ctx context.Context, space c3po.Space, limit int) ([]c3po.MessageID, error)
	// Tickets lists up to limit messages that expect an answer, whatever became of
	// them, the latest first; with before only those with a lower sequence.
	Tickets(ctx context.Context, space c3po.Space, before int64, limit int) ([]TicketMark, error)
	// OpenTickets lists up to limit of those without an answer that were not cancelled or
	// buried, and whose deadline did not lapse; a person's deadline is a reminder. One that
	// was handed over stays, whatever becomes of it there. It costs nothing more for those
	// that have ended.
	OpenTickets(ctx context.Context, space c3po.Space, before int64, limit int) ([]TicketMark, error)
	// Messages returns those of ids that are known, in that order.
	Messages(ctx context.Context, space c3po.Space, ids []c3po.MessageID) ([]Entry, error)
	// Keyed finds what an agent sent or replied under a client key; empty if the
	// key is unknown or its life is over.
	Keyed(ctx context.Context, space c3po.Space, from c3po.AgentID, key string) (c3po.MessageID, error)
}
