package c3po

import (
	"bytes"
	"context"
	"encoding/json"
	"time"
)

// This file holds the shapes of the agent-to-agent bridge, as its document
// prints them, and its tools. broker.go says what they mean.

// A Payload is a text, or any other JSON value, which travels as it is.
type Payload struct {
	Text string // of a JSON value, the value
	JSON bool
}

const jsonContent = "application/json"

// MarshalJSON writes a text as a string and everything else as itself.
func (p Payload) MarshalJSON() ([]byte, error) {
	if p.JSON {
		return []byte(p.Text), nil
	}
	return json.Marshal(p.Text)
}

// UnmarshalJSON takes a string as a text.
func (p *Payload) UnmarshalJSON(data []byte) error {
	*p = Payload{}
	if data[0] == '"' || string(data) == "null" {
		return json.Unmarshal(data, &p.Text)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return err
	}
	p.Text, p.JSON = compact.String(), true
	return nil
}

func payloadOf(m Message) *Payload {
	text := m.Text()
	return &Payload{Text: text, JSON: m.ContentType == jsonContent && json.Valid([]byte(text))}
}

func (p Payload) contentType() string {
	if p.JSON {
		return jsonContent
	}
	return ""
}

// Expires is when an agent that does not call again is no longer online, given how
// long that is without a declared interval.
func (a Agent) Expires(window time.Duration) time.Time {
	if a.Heartbeat > 0 {
		window = OnlineBeats * time.Duration(a.Heartbeat) * time.Second
	}
	return a.LastSeen.Add(window)
}

// BridgeRegister is the argument of /agents/register and of the tool
// register_agent.
type BridgeRegister struct {
	AgentID   string          `json:"agentId,omitempty" jsonschema:"Your handle; the id you act as if left out"`
	Type      string          `json:"type,omitempty" jsonschema:"Kind of client, for example codex"`
	Metadata  json.RawMessage `json:"metadata,omitempty" jsonschema:"A JSON object of at most 4 KiB; cwd and capabilities in it are shown to others"`
	Heartbeat int             `json:"heartbeatIntervalMs,omitempty" jsonschema:"Milliseconds between heartbeats, if the agent sends any"`
}

// BridgeRegistered says until when the agent is online if nothing more is heard
// of it.
type BridgeRegistered struct {
	AgentID   AgentID   `json:"agentId"`
	Status    string    `json:"status"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// BridgeSend is the argument of /agents/{id}/send.
type BridgeSend struct {
	TicketID    string          `json:"ticketId,omitempty"`
	Payload     Payload         `json:"payload"`
	Metadata    json.RawMessage `json:"metadata,omitempty"`
	ExpectReply *bool           `json:"expectReply,omitempty"`
	TimeoutMS   *int            `json:"timeoutMs,omitempty"`
}

// BridgeSendTool is the argument of the tool send_message.
type BridgeSendTool struct {
	AgentID       string          `json:"agentId" jsonschema:"The agent to send to"`
	Payload       Payload         `json:"payload" jsonschema:"The message, at most 50000 characters"`
	TimeoutMS     int             `json:"timeoutMs,omitempty" jsonschema:"Milliseconds within which the answer should come, 30000 if left out"`
	AwaitResponse *bool           `json:"awaitResponse,omitempty" jsonschema:"Whether to wait for the answer in this call; true if left out"`
	Metadata      json.RawMessage `json:"metadata,omitempty" jsonschema:"A JSON object of at most 4 KiB that travels with the message"`
	ClientKey     string          `json:"client_key,omitempty" jsonschema:"Idempotency key: the same key never sends twice"`
}

// BridgeAwait is the argument of await_reply.
type BridgeAwait struct {
	TicketID  string `json:"ticketId" jsonschema:"The ticket"`
	TimeoutMS int    `json:"timeoutMs,omitempty" jsonschema:"Milliseconds to wait, 30000 if left out"`
}

// BridgeReply is the argument of /replies and of the tool post_reply.
type BridgeReply struct {
	TicketID string          `json:"ticketId" jsonschema:"The ticket you answer"`
	Payload  Payload         `json:"payload" jsonschema:"Your answer, at most 50000 characters"`
	Metadata json.RawMessage `json:"metadata,omitempty" jsonschema:"A JSON object of at most 4 KiB that travels with the answer; status error in it says that it failed"`
}

// BridgeTicketInput names a ticket.
type BridgeTicketInput struct {
	TicketID string `json:"ticketId" jsonschema:"The ticket"`
}

// A BridgeTicket is a ticket as the bridge shows it: with its answer, or with
// where to wait for one, or with why there is none.
type BridgeTicket struct {
	TicketID     string          `json:"ticketId"`
	Payload      *Payload        `json:"payload,omitempty"`
	Status       string          `json:"status"`
	LatencyMS    *int64          `json:"latencyMs,omitempty"`
	Metadata     json.RawMessage `json:"metadata,omitempty"` // of the answer
	WaitEndpoint string          `json:"waitEndpoint,omitempty"`
	Message      string          `json:"message,omitempty"`
	Warning      string          `json:"warning,omitempty"` // something is nearly full, or a budget nearly spent
	Suggestion   string          `json:"suggestion,omitempty"`
	RetryAfterMS int             `json:"retryAfterMs,omitempty"` // the coordinator stops: ask again after this
	Deadline     time.Time       `json:"-"`                      // when the answer should be there, if anybody said so
}

// BridgeAgentsInput selects and pages.
type BridgeAgentsInput struct {
	Type   string `json:"type,omitempty" jsonschema:"Only agents of this kind of client"`
	Status Status `json:"status,omitempty" jsonschema:"Only agents that are online or offline"`
	Cursor string `json:"cursor,omitempty" jsonschema:"Where to go on: the next of an earlier answer"`
	Limit  int    `json:"limit,omitempty" jsonschema:"How many at the most"`
}

// A BridgeAgent is an agent as the bridge lists it.
type BridgeAgent struct {
	AgentID       AgentID         `json:"agentId"`
	Type          string          `json:"type"`
	Status        Status          `json:"status"`
	LastHeartbeat time.Time       `json:"lastHeartbeat"`
	Metadata      json.RawMessage `json:"metadata"`
}

// A BridgeAgentList is one page of agents in the order they registered.
type BridgeAgentList struct {
	Agents []BridgeAgent `json:"agents"`
	Next   string        `json:"next,omitempty"`
}

// Rows is the part that is answered as a bare array.
func (l *BridgeAgentList) Rows() any { return &l.Agents }

// Cursor is where the next page starts.
func (l *BridgeAgentList) Cursor() *string { return &l.Next }

// A BridgeCoWorker is an agent in one line.
type BridgeCoWorker struct {
	AgentID AgentID `json:"agentId"`
	Type    string  `json:"type"`
	Cwd     string  `json:"cwd"`
}

// A BridgeCoWorkerList is one page of co-workers.
type BridgeCoWorkerList struct {
	CoWorkers []BridgeCoWorker `json:"co_workers"`
	Next      string           `json:"next,omitempty"`
}

// Rows is the part that is answered as a bare array.
func (l *BridgeCoWorkerList) Rows() any { return &l.CoWorkers }

// Cursor is where the next page starts.
func (l *BridgeCoWorkerList) Cursor() *string { return &l.Next }

// The tools of the bridge.

// bridgeRegister registers nobody else: who may have an id is not for another
// agent to say.
func bridgeRegister(svc Service, ctx context.Context, in BridgeRegister) (BridgeRegistered, error) {
	if in.AgentID != "" {
		self, err := svc.WhoAmI(ctx, None{})
		if err != nil {
			return BridgeRegistered{}, err
		}
		if AgentID(in.AgentID) != self.ID && in.AgentID != self.ID.Name() {
			return BridgeRegistered{}, Errorf(Forbidden, "you are '%s', not '%s'", self.ID, clip(in.AgentID)).
				Suggest("Leave agentId out. Another agent registers itself, with `bridge-register --agent %s`.", clip(in.AgentID))
		}
	}
	return Broker{svc}.Register(ctx, in, DefaultLimits().OnlineWindow)
}

func bridgeSend(svc Service, ctx context.Context, in BridgeSendTool) (BridgeTicket, error) {
	b := Broker{svc}
	wait, err := waitOf(in.TimeoutMS)
	if err != nil {
		return BridgeTicket{}, err
	}
	send := BridgeSend{Payload: in.Payload, Metadata: in.Metadata}
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
		ticket.Message = "The ticket was sent, but waiting for its answer failed: " + AsError(err).Message
		ticket.Suggestion = "Call await_reply with its ticketId."
		return ticket, nil
	}
	return answered, err
}

func awaitReply(svc Service, ctx context.Context, in BridgeAwait) (BridgeTicket, error) {
	wait, err := waitOf(in.TimeoutMS)
	if err != nil {
		return BridgeTicket{}, err
	}
	return Broker{svc}.Await(ctx, in.TicketID, wait)
}

func waitOf(milliseconds int) (time.Duration, error) {
	most := int(DefaultLimits().WaitMost / time.Millisecond)
	switch {
	case milliseconds < 0 || milliseconds > most:
		return 0, Errorf(InvalidRequest, "timeoutMs is %d; it must be between 1 and %d", milliseconds, most).Suggest("For example 30000 for half a minute.")
	case milliseconds == 0:
		return bridgeWait, nil
	default:
		return time.Duration(milliseconds) * time.Millisecond, nil
	}
}

func postReply(svc Service, ctx context.Context, in BridgeReply) (BridgeTicket, error) {
	reply, err := Broker{svc}.Reply(ctx, in)
	return BridgeTicket{TicketID: in.TicketID, Status: string(TicketResponded), Warning: reply.Warning}, err
}

func cancelTicket(svc Service, ctx context.Context, in BridgeTicketInput) (BridgeTicket, error) {
	return Broker{svc}.Cancel(ctx, in.TicketID)
}

func bridgeAgents(svc Service, ctx context.Context, in BridgeAgentsInput) (BridgeAgentList, error) {
	return Broker{svc}.Agents(ctx, in)
}

func bridgeCoWorkers(svc Service, ctx context.Context, in BridgeAgentsInput) (BridgeCoWorkerList, error) {
	list, err := svc.ListAgents(ctx, ListAgentsInput{Cursor: in.Cursor, Limit: in.Limit, Status: in.Status, Type: in.Type})
	out := BridgeCoWorkerList{CoWorkers: []BridgeCoWorker{}, Next: list.Next}
	for _, agent := range list.Agents {
		out.CoWorkers = append(out.CoWorkers, BridgeCoWorker{AgentID: agent.ID, Type: agent.Type, Cwd: agent.Cwd})
	}
	return out, err
}
