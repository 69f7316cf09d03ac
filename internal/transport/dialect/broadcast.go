package dialect

import (
	"context"
	"slices"

	"github.com/c3po-dev/c3po/c3po"
)

// Broadcast is the argument of broadcast_message.
type Broadcast struct {
	AgentIDs []string `json:"agentIds,omitempty" jsonschema:"The agents to send to, at most 10, with a ticket for each; all agents if left out, without tickets"`
	Payload  Payload  `json:"payload" jsonschema:"The message, at most 50000 characters"`
}

// A Cast is the ticket of one agent, or why it has none.
type Cast struct {
	AgentID  string `json:"agentId"`
	TicketID string `json:"ticketId,omitempty"`
	Status   string `json:"status"`            // of the ticket; error if there is none
	Message  string `json:"message,omitempty"` // why there is none
	Warning  string `json:"warning,omitempty"`
}

// Broadcasted says what became of a broadcast.
type Broadcasted struct {
	Tickets []Cast         `json:"tickets"`
	Warning string         `json:"warning,omitempty"` // a budget is nearly spent
	Live    []c3po.AgentID `json:"live,omitempty"`    // of a broadcast to all: who was online; the others see it when they return
}

// maxBroadcastAgents is how many agents one call sends to: what an agent may send in a minute.
const maxBroadcastAgents = 10

// broadcast sends to each agent that is named. One that cannot be reached does not stop
// the others.
func broadcast(svc c3po.Service, ctx context.Context, in Broadcast) (Broadcasted, error) {
	out := Broadcasted{Tickets: []Cast{}}
	if len(in.AgentIDs) == 0 {
		receipt, err := svc.Broadcast(ctx, c3po.BroadcastInput{Message: in.Payload.Text, ContentType: in.Payload.contentType()})
		out.Live, out.Warning = receipt.Live, receipt.Warning
		return out, err
	}
	if len(in.AgentIDs) > maxBroadcastAgents {
		return out, c3po.Errorf(c3po.InvalidRequest, "agentIds names %d agents; at most %d", len(in.AgentIDs), maxBroadcastAgents).
			Suggest("Leave agentIds out to reach all, or send in parts.")
	}
	for i, target := range in.AgentIDs {
		if slices.Contains(in.AgentIDs[:i], target) {
			continue
		}
		ticket, err := Broker{svc}.Send(ctx, target, Send{Payload: in.Payload})
		cast := Cast{AgentID: target, TicketID: ticket.TicketID, Status: ticket.Status, Warning: ticket.Warning}
		if err != nil {
			if ctx.Err() != nil {
				return out, ctx.Err()
			}
			cast.Status, cast.Message = "error", c3po.AsError(err).Message
		}
		out.Tickets = append(out.Tickets, cast)
	}
	return out, nil
}
