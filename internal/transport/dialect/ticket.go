package dialect

import (
	"context"
	"encoding/json"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// defaultWait is how long a tool waits for an answer unless it is told.
const defaultWait = 30 * time.Second

// Send is the argument of /agents/{id}/send.
type Send struct {
	TicketID    string          `json:"ticketId,omitempty" form:"^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$" jsonschema:"A name of your own for the ticket; the same name never sends twice"`
	Payload     Payload         `json:"payload" jsonschema:"The message: a text, or any other JSON value, which travels as it is"`
	Metadata    json.RawMessage `json:"metadata,omitempty" jsonschema:"A JSON object of at most 4 KiB that travels with the message"`
	ExpectReply *bool           `json:"expectReply,omitempty" jsonschema:"Whether you expect an answer; true if left out"`
	TimeoutMS   *int            `json:"timeoutMs,omitempty" range:"1" jsonschema:"Milliseconds within which the answer should come"`
}

// SendTool is the argument of the tool send_message.
type SendTool struct {
	AgentID       string          `json:"agentId" jsonschema:"The agent to send to"`
	Payload       Payload         `json:"payload" jsonschema:"The message, at most 50000 characters"`
	TimeoutMS     int             `json:"timeoutMs,omitempty" jsonschema:"Milliseconds within which the answer should come, 30000 if left out"`
	AwaitResponse *bool           `json:"awaitResponse,omitempty" jsonschema:"Whether to wait for the answer in this call; true if left out"`
	Metadata      json.RawMessage `json:"metadata,omitempty" jsonschema:"A JSON object of at most 4 KiB that travels with the message"`
	ClientKey     string          `json:"client_key,omitempty" jsonschema:"Idempotency key: the same key never sends twice"`
}

// Await is the argument of await_reply.
type Await struct {
	TicketID  string `json:"ticketId" jsonschema:"The ticket"`
	TimeoutMS int    `json:"timeoutMs,omitempty" jsonschema:"Milliseconds to wait, 30000 if left out"`
}

// Reply is the argument of /replies and of the tool post_reply.
type Reply struct {
	TicketID string          `json:"ticketId" jsonschema:"The ticket you answer"`
	Payload  Payload         `json:"payload" jsonschema:"Your answer, at most 50000 characters"`
	Metadata json.RawMessage `json:"metadata,omitempty" jsonschema:"A JSON object of at most 4 KiB that travels with the answer; status error in it says that it failed"`
}

// TicketInput names a ticket.
type TicketInput struct {
	TicketID string `json:"ticketId" jsonschema:"The ticket"`
}

// A Ticket is a ticket as the bridge shows it: with its answer, or with
// where to wait for one, or with why there is none.
type Ticket struct {
	TicketID     string          `json:"ticketId"`            // as the caller has called it
	Payload      *Payload        `json:"payload,omitempty"`   // the answer
	Status       string          `json:"status"`              // pending, delivered, responded, timed_out or cancelled; of a wait that brought nothing also timeout, retry, or what has become of the agent
	LatencyMS    *int64          `json:"latencyMs,omitempty"` // from the question to its answer
	Metadata     json.RawMessage `json:"metadata,omitempty"`  // of the answer
	WaitEndpoint string          `json:"waitEndpoint,omitempty"`
	Message      string          `json:"message,omitempty"` // why there is no answer
	Warning      string          `json:"warning,omitempty"` // something is nearly full, or a budget nearly spent
	Suggestion   string          `json:"suggestion,omitempty"`
	RetryAfterMS int             `json:"retryAfterMs,omitempty"` // the coordinator stops: ask again after this
	Deadline     time.Time       `json:"-"`                      // when the answer should be there, if anybody said so
}

func sendAndAwait(svc c3po.Service, ctx context.Context, in SendTool) (Ticket, error) {
	b := Broker{svc}
	wait, err := waitOf(in.TimeoutMS)
	if err != nil {
		return Ticket{}, err
	}
	send := Send{Payload: in.Payload, Metadata: in.Metadata}
	if in.TimeoutMS > 0 {
		send.TimeoutMS = &in.TimeoutMS
	}
	ticket, err := b.open(ctx, in.AgentID, send, in.ClientKey)
	if err != nil || in.AwaitResponse != nil && !*in.AwaitResponse {
		return ticket, err
	}
	answered, err := b.Await(ctx, ticket.TicketID, wait)
	answered.Warning = ticket.Warning
	if err != nil && ctx.Err() == nil {
		// The ticket is open whatever happens here.
		ticket.Message = "The ticket was sent, but waiting for its answer failed: " + c3po.AsError(err).Message
		ticket.Suggestion = "Call await_reply with its ticketId."
		return ticket, nil
	}
	return answered, err
}

func awaitReply(svc c3po.Service, ctx context.Context, in Await) (Ticket, error) {
	wait, err := waitOf(in.TimeoutMS)
	if err != nil {
		return Ticket{}, err
	}
	return Broker{svc}.Await(ctx, in.TicketID, wait)
}

func waitOf(milliseconds int) (time.Duration, error) {
	most := int(c3po.DefaultLimits().MaxWait / time.Millisecond)
	switch {
	case milliseconds < 0 || milliseconds > most:
		return 0, c3po.Errorf(c3po.InvalidRequest, "timeoutMs is %d; it must be between 1 and %d", milliseconds, most).Suggest("For example 30000 for half a minute.")
	case milliseconds == 0:
		return defaultWait, nil
	default:
		return time.Duration(milliseconds) * time.Millisecond, nil
	}
}

func postReply(svc c3po.Service, ctx context.Context, in Reply) (Ticket, error) {
	reply, err := Broker{svc}.Reply(ctx, in)
	return Ticket{TicketID: in.TicketID, Status: string(c3po.TicketResponded), Warning: reply.Warning}, err
}

func cancelTicket(svc c3po.Service, ctx context.Context, in TicketInput) (Ticket, error) {
	return Broker{svc}.Cancel(ctx, in.TicketID)
}

// asUnanswered is a ticket that was waited for in vain.
func (t Ticket) asUnanswered(outcome c3po.WaitOutcome) Ticket {
	t.Status, t.Message, t.Suggestion, t.RetryAfterMS = outcome.Status, outcome.Message, outcome.Suggestion, outcome.RetryAfterMS
	if outcome.Status == c3po.WaitTimeout {
		t.Suggestion = "The ticket stays open: call await_reply again, or ask list_agents whether the agent is online."
	}
	return t
}
