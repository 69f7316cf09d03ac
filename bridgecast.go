package c3po

import (
	"context"
	"slices"
)

// BridgeBroadcast is the argument of broadcast_message.
type BridgeBroadcast struct {
	AgentIDs []string `json:"agentIds,omitempty" jsonschema:"The agents to send to, at most 10, each with a ticket of its own; all agents if left out, without tickets"`
	Payload  Payload  `json:"payload" jsonschema:"The message, at most 50000 characters"`
}

// A BridgeCast is the ticket of one agent, or why it has none.
type BridgeCast struct {
	AgentID  string `json:"agentId"`
	TicketID string `json:"ticketId,omitempty"`
	Status   string `json:"status"`
	Message  string `json:"message,omitempty"`
	Warning  string `json:"warning,omitempty"`
}

// BridgeBroadcasted says what became of a broadcast.
type BridgeBroadcasted struct {
	Tickets []BridgeCast `json:"tickets"`
	Warning string       `json:"warning,omitempty"`
	Live    []AgentID    `json:"live,omitempty"` // of a broadcast to all: who was online; the others see it when they return
}

// castMost is how many agents one call sends to: what an agent may send in a minute.
const castMost = 10

// bridgeBroadcast sends to each agent that is named. One that cannot be reached
// keeps none of the others from being sent to.
func bridgeBroadcast(svc Service, ctx context.Context, in BridgeBroadcast) (BridgeBroadcasted, error) {
	out := BridgeBroadcasted{Tickets: []BridgeCast{}}
	if len(in.AgentIDs) == 0 {
		receipt, err := svc.Broadcast(ctx, BroadcastInput{Message: in.Payload.Text, ContentType: in.Payload.contentType()})
		out.Live, out.Warning = receipt.Live, receipt.Warning
		return out, err
	}
	if len(in.AgentIDs) > castMost {
		return out, Errorf(InvalidRequest, "agentIds names %d agents; at most %d", len(in.AgentIDs), castMost).
			Suggest("Leave agentIds out to reach all, or send in parts.")
	}
	for i, target := range in.AgentIDs {
		if slices.Contains(in.AgentIDs[:i], target) {
			continue
		}
		ticket, err := Broker{svc}.Send(ctx, target, BridgeSend{Payload: in.Payload})
		cast := BridgeCast{AgentID: target, TicketID: ticket.TicketID, Status: ticket.Status, Warning: ticket.Warning}
		if err != nil {
			if ctx.Err() != nil {
				return out, ctx.Err()
			}
			cast.Status, cast.Message = "error", AsError(err).Message
		}
		out.Tickets = append(out.Tickets, cast)
	}
	return out, nil
}

// BridgeSubscribe is the argument of subscribe_updates.
type BridgeSubscribe struct {
	After   string  `json:"after,omitempty" jsonschema:"Only events after this place: the after of an earlier answer"`
	AgentID AgentID `json:"agentId,omitempty" jsonschema:"Only events about this agent, or a message from or to it"`
	Limit   int     `json:"limit,omitempty" jsonschema:"How many at the most"`
}

// BridgeUpdates are the latest events, and where to go on.
type BridgeUpdates struct {
	Events         []BridgeEvent `json:"events"`
	After          string        `json:"after"`
	StreamEndpoint string        `json:"streamEndpoint"` // the same as a stream of server-sent events
}

// A BridgeEvent is an event, with the ticketId that the sender of its ticket chose.
type BridgeEvent struct {
	TicketID string `json:"ticketId,omitempty"`
	Event
}

// TicketIDs finds the ticketIds that senders chose, each once.
type TicketIDs struct {
	Service Service
	known   map[MessageID]string
}

// Of is the ticketId of a message; empty if nobody chose one, or it is forgotten.
func (t *TicketIDs) Of(ctx context.Context, id MessageID) string {
	if id == "" || id.Room() != "" {
		return ""
	}
	name, known := t.known[id]
	if !known {
		if trace, err := t.Service.Trace(ctx, MessageInput{MessageID: id}); err == nil {
			name = ChosenTicketID(trace.Thread)
		}
		if t.known == nil {
			t.known = map[MessageID]string{}
		}
		t.known[id] = name
	}
	return name
}

// bridgeUpdates answers at once: an MCP client that is not a person's acts on no
// notification, so a subscription is a place to go on from.
func bridgeUpdates(svc Service, ctx context.Context, in BridgeSubscribe) (BridgeUpdates, error) {
	page, err := svc.TailLog(ctx, LogInput{After: in.After, Agent: in.AgentID, Limit: in.Limit})
	out := BridgeUpdates{Events: []BridgeEvent{}, After: page.At, StreamEndpoint: "/api/events"}
	names := TicketIDs{Service: svc}
	for _, event := range page.Events {
		out.Events = append(out.Events, BridgeEvent{names.Of(ctx, event.ID), event})
	}
	return out, err
}
