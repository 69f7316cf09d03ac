package dialect

import (
	"context"

	"github.com/c3po-dev/c3po/c3po"
)

// Subscribe is the argument of subscribe_updates.
type Subscribe struct {
	After   string       `json:"after,omitempty" jsonschema:"Only events after this place: the after of an earlier answer"`
	AgentID c3po.AgentID `json:"agentId,omitempty" jsonschema:"Only events about this agent, or a message from or to it"`
	Limit   int          `json:"limit,omitempty" jsonschema:"How many at the most"`
}

// Updates are the latest events, and where to go on.
type Updates struct {
	Events         []Event `json:"events"`
	After          string  `json:"after"`          // where to go on
	StreamEndpoint string  `json:"streamEndpoint"` // the same as a stream of server-sent events
}

// An Event is an event, with the ticketId that the sender of its ticket chose.
type Event struct {
	TicketID string `json:"ticketId,omitempty"` // the ticketId that the sender of the ticket chose
	c3po.Event
}

// TicketIDs finds the ticketIds that senders chose, each once.
type TicketIDs struct {
	Service c3po.Service
	known   map[c3po.MessageID]string
}

// Of is the ticketId of a message; empty if its sender chose none, or it is forgotten.
func (t *TicketIDs) Of(ctx context.Context, id c3po.MessageID) string {
	if id == "" || id.Room() != "" {
		return ""
	}
	name, known := t.known[id]
	if !known {
		if trace, err := t.Service.Trace(ctx, c3po.MessageInput{MessageID: id}); err == nil {
			name = c3po.ChosenTicketID(trace.Thread)
		}
		if t.known == nil {
			t.known = map[c3po.MessageID]string{}
		}
		t.known[id] = name
	}
	return name
}

// latestUpdates answers at once: an MCP client that is not a person's acts on no
// notification, so a subscription is a place to go on from.
func latestUpdates(svc c3po.Service, ctx context.Context, in Subscribe) (Updates, error) {
	page, err := svc.TailLog(ctx, c3po.LogInput{After: in.After, Agent: in.AgentID, Limit: in.Limit})
	out := Updates{Events: []Event{}, After: page.At, StreamEndpoint: "/api/events"}
	names := TicketIDs{Service: svc}
	for _, event := range page.Events {
		out.Events = append(out.Events, Event{names.Of(ctx, event.ID), event})
	}
	return out, err
}
