package c3po

import (
	"cmp"
	"regexp"
	"strings"
	"time"
)

// TicketState is how far a question has come. It is derived from the facts of
// its message whenever somebody looks.
type TicketState string

// The states of a ticket.
const (
	TicketPending   TicketState = "pending"   // nobody has read it yet
	TicketDelivered TicketState = "delivered" // a session was given its text, or acked it
	TicketResponded TicketState = "responded" // an answer is stored
	TicketTimedOut  TicketState = "timed_out" // its deadline, or its life, passed unanswered; an answer still makes it responded
	TicketCancelled TicketState = "cancelled" // who asked has withdrawn it
)

// Open says that an answer may still come and is still wanted.
func (s TicketState) Open() bool { return s == TicketPending || s == TicketDelivered }

// A Ticket is a message whose sender expects an answer; its id is the id of the
// message, also after somebody has handed it over.
type Ticket struct {
	ID          MessageID   `json:"id"`
	FromAgent   AgentID     `json:"from_agent"`
	ToAgent     AgentID     `json:"to_agent"` // who was asked, or has it by now
	Thread      string      `json:"thread"`
	State       TicketState `json:"state"`
	CreatedAt   time.Time   `json:"created_at"`
	DeliveredAt time.Time   `json:"delivered_at,omitzero"`
	RespondedAt time.Time   `json:"responded_at,omitzero"`
	StalledAt   time.Time   `json:"stalled_at,omitzero"` // since when the agent that has it makes no step; it may go on
	SilentAt    time.Time   `json:"silent_at,omitzero"`  // the asked agent had read it and ended its turn without an answer; one may still come
	TimedOutAt  time.Time   `json:"timed_out_at,omitzero"`
	CancelledAt time.Time   `json:"cancelled_at,omitzero"`
	Deadline    time.Time   `json:"deadline,omitzero"`
	KeptUntil   time.Time   `json:"kept_until,omitzero"` // of one that has ended: how long the bridge dialect answers for it
	Replies     []Answered  `json:"replies"`             // in order; the first that hands nothing over is the answer
	Seq         int64       `json:"seq"`
}

// Which tickets a list shows.
const (
	TicketsAsked    = "asked"    // by the caller
	TicketsReceived = "received" // by the caller, to be answered
	TicketsAll      = "all"      // for those who may see everything
	TicketsOpen     = "open"
	TicketsClosed   = "closed"
)

// TicketsInput selects and pages.
type TicketsInput struct {
	MessageID MessageID `json:"message_id,omitempty" jsonschema:"Only this ticket"`
	ClientKey string    `json:"client_key,omitempty" jsonschema:"Only the ticket you sent with this client_key"`
	Which     string    `json:"which,omitempty" jsonschema:"asked by you, received by you, or all; both of yours if left out" enum:"asked,received,all"`
	State     string    `json:"state,omitempty" jsonschema:"open or closed; both if left out" enum:"open,closed"`
	Cursor    string    `json:"cursor,omitempty" jsonschema:"Where to go on: the next of an earlier answer"`
	Limit     int       `json:"limit,omitempty" jsonschema:"How many at the most"`
}

// A TicketList is one page of tickets, the newest first.
type TicketList struct {
	Tickets []Ticket `json:"tickets"`
	Next    string   `json:"next,omitempty"`
}

// Rows is the part that REST answers as a bare array.
func (l *TicketList) Rows() any { return &l.Tickets }

// Cursor is where the next page starts.
func (l *TicketList) Cursor() *string { return &l.Next }

// CancelOutcome says what became of a cancel.
type CancelOutcome string

// The outcomes of a cancel. Only the first has changed anything.
const (
	CancelDone     CancelOutcome = "cancelled"
	CancelAlready  CancelOutcome = "already"   // it was cancelled before
	CancelAnswered CancelOutcome = "responded" // the answer is there
	CancelEnded    CancelOutcome = "ended"     // it expired, or was acked and expects no answer
	CancelUnknown  CancelOutcome = "unknown"   // there is no such message, or no longer
	CancelNotYours CancelOutcome = "not_yours" // somebody else sent it
)

// CancelResult says what became of a message that was to be cancelled, and
// what its recipient knows of it.
type CancelResult struct {
	MessageID MessageID     `json:"message_id"`
	Outcome   CancelOutcome `json:"outcome"`
	Told      bool          `json:"told"` // its reader was sent a notice: it had the text already
	Message   string        `json:"message"`
}

var ticketForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$`)

// CheckTicketID checks the form of what a ticket is called: the id of a
// message, or a name of the caller's own.
func CheckTicketID(name string) error {
	if ticketForm.MatchString(name) {
		return nil
	}
	if _, err := ParseMessageID(name); err == nil {
		return nil
	}
	return Errorf(InvalidRequest, "%q is not a ticketId", Clip(name)).
		Suggest("A ticketId is what the send answered, or one of your own: 1-128 of A-Z a-z 0-9 _ . - starting with a letter or digit.")
}

// TicketName is what a ticket is called in the bridge dialect: the ticketId its
// sender chose, which is also the name of its thread, else the message's id.
func (t Ticket) TicketName() string { return cmp.Or(ChosenTicketID(t.Thread), string(t.ID)) }

// ChosenTicketID is the ticketId that a thread is called by; empty if nobody chose one.
func ChosenTicketID(thread string) string {
	if _, err := ParseMessageID(thread); err == nil || !ticketForm.MatchString(thread) {
		return ""
	}
	return thread
}

// RefuseNoTicket is TICKET_NOT_FOUND.
func RefuseNoTicket(name string) *Error {
	return Errorf(TicketNotFound, "there is no ticket '%s'", Clip(name)).
		Suggest("Copy the ticketId whole. One that has ended is forgotten after a while (ticket_life, 30 minutes); `c3po thread` still shows what was said.")
}

// RefuseTicketName is INVALID_REQUEST for a name that several open tickets have.
func RefuseTicketName(name string, open []string) *Error {
	return Errorf(InvalidRequest, "%d open tickets are called '%s'", len(open), Clip(name)).Suggest("Use the id of one: %s.", strings.Join(open, ", "))
}
