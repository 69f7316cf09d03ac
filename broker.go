package c3po

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"time"
)

// A Broker speaks the dialect of the agent-to-agent bridge for whom its service
// acts. A ticket is a message; its name is the ticketId its sender chose, else
// the message's id, and it is always called as the caller has called it.
type Broker struct{ Service Service }

// bridgeWait is how long a tool waits for an answer unless it is told.
const bridgeWait = 30 * time.Second

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
	return Errorf(InvalidRequest, "%q is not a ticketId", clip(name)).
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
	return Errorf(TicketNotFound, "there is no ticket '%s'", clip(name)).
		Suggest("Copy the ticketId whole. One that has ended is forgotten after a while (ticket_life, 30 minutes); `c3po thread` still shows what was said.")
}

// RefuseTicketName is INVALID_REQUEST for a name that several open tickets have.
func RefuseTicketName(name string, open []string) *Error {
	return Errorf(InvalidRequest, "%d open tickets are called '%s'", len(open), clip(name)).Suggest("Use the id of one: %s.", strings.Join(open, ", "))
}

// inBridgeWords calls what a refusal speaks of as this dialect does.
func inBridgeWords(err error) error {
	var refusal *Error
	if !errors.As(err, &refusal) {
		return err
	}
	words := strings.NewReplacer("client_key", "ticketId", "deadline_ms", "timeoutMs", "message is missing", "payload is missing",
		"message is empty", "payload is empty", "message has", "payload has", "response is", "payload is", "response has", "payload has")
	named := *refusal
	named.Message, named.Suggestion = words.Replace(refusal.Message), words.Replace(refusal.Suggestion)
	return &named
}

// RefuseNotRegistered is AGENT_NOT_FOUND in the bridge's words; the advice stays.
func RefuseNotRegistered(target string, err error) error {
	if !errors.Is(err, AgentNotFound) {
		return err
	}
	return Errorf(AgentNotFound, "agent not registered: '%s'", clip(target)).
		Suggest("%s It registers with `bridge-register --agent %s`.", AsError(err).Suggestion, clip(target))
}

// Register stores what the caller says of itself. Whoever registers again has
// reconnected; what was known of it is replaced.
func (b Broker) Register(ctx context.Context, in BridgeRegister, onlineFor time.Duration) (BridgeRegistered, error) {
	about, err := bridgeMetadata(in.Metadata)
	if err != nil {
		return BridgeRegistered{}, err
	}
	if in.Heartbeat < 0 {
		return BridgeRegistered{}, Errorf(InvalidRequest, "heartbeatIntervalMs cannot be negative").Suggest("Leave it out, or give milliseconds.")
	}
	if about.Capabilities == nil {
		about.Capabilities = []string{} // those of the record before are replaced as well
	}
	if len(in.Metadata) == 0 {
		in.Metadata = json.RawMessage("{}")
	}
	beat := seconds(in.Heartbeat)
	self, err := b.Service.RegisterAgent(ctx, RegisterInput{
		Type: in.Type, Metadata: in.Metadata, Cwd: about.Cwd, Capabilities: about.Capabilities, HeartbeatInterval: &beat,
	})
	if err != nil {
		return BridgeRegistered{}, err
	}
	return BridgeRegistered{AgentID: self.ID, Status: "registered", ExpiresAt: self.Expires(onlineFor)}, nil
}

// described are the parts of an agent's metadata that we know by themselves.
type described struct {
	Cwd          string   `json:"cwd,omitempty"`
	Capabilities []string `json:"capabilities,omitempty"`
}

func bridgeMetadata(metadata json.RawMessage) (described, error) {
	var about described
	if len(metadata) == 0 {
		return about, nil
	}
	if err := json.Unmarshal(metadata, &about); err != nil {
		return about, Errorf(InvalidRequest, "metadata is not an object, or cwd in it is not a text, or capabilities are not a list of texts").
			Suggest(`For example {"cwd": "/home/user/project-a", "capabilities": ["review", "tests"]}.`)
	}
	return about, nil
}

// Send opens a ticket and does not wait.
func (b Broker) Send(ctx context.Context, target string, in BridgeSend) (BridgeTicket, error) {
	return b.open(ctx, target, in, "")
}

// open takes a key for a ticket that has no name of its own.
func (b Broker) open(ctx context.Context, target string, in BridgeSend, key string) (BridgeTicket, error) {
	if in.TicketID != "" {
		if !ticketForm.MatchString(in.TicketID) {
			return BridgeTicket{}, Errorf(InvalidRequest, "%q cannot be a ticketId of yours", clip(in.TicketID)).
				Suggest("Use 1-128 of A-Z a-z 0-9 _ . - starting with a letter or digit, for example a UUID; or leave it out.")
		}
		key = in.TicketID
	}
	within := 0
	if in.TimeoutMS != nil {
		if within = *in.TimeoutMS; within < 1 {
			return BridgeTicket{}, Errorf(InvalidRequest, "timeoutMs is %d; it must be at least 1", within).Suggest("Leave it out if there is no deadline.")
		}
	}
	receipt, err := b.Service.SendMessage(ctx, SendInput{
		Target: target, Message: in.Payload.Text, ContentType: in.Payload.contentType(), Metadata: in.Metadata,
		// The thread of a ticket with a name is called by it, so that whoever has a
		// part in it finds it by that name.
		ExpectsReply: in.ExpectReply, ClientKey: key, Thread: in.TicketID, DeadlineMS: within,
	})
	if err != nil {
		return BridgeTicket{}, inBridgeWords(RefuseNotRegistered(target, err))
	}
	ticket := BridgeTicket{TicketID: in.TicketID, Status: string(TicketPending), Warning: receipt.Warning}
	if ticket.TicketID == "" {
		ticket.TicketID = string(receipt.ID)
	}
	if receipt.Status != StatePending {
		// It was sent before, and has come further.
		asked, err := b.kept(ctx, string(receipt.ID))
		if errors.Is(err, TicketNotFound) {
			return BridgeTicket{}, Errorf(KeyConflict, "the ticketId '%s' was used before, and its ticket has ended", clip(ticket.TicketID)).
				Suggest("Choose a new ticketId: the same one never sends twice.")
		}
		if err != nil {
			ticket.Message = "The ticket was sent before. How far it has come cannot be read now: " + AsError(err).Message
			return ticket, nil
		}
		ticket.Status = string(asked.State)
	}
	return ticket, nil
}

// FindTicket gives the message that is called so: by its id, or by the name its
// sender gave it.
func (b Broker) FindTicket(ctx context.Context, name string) (MessageID, error) {
	if err := CheckTicketID(name); err != nil {
		return "", err
	}
	if id, err := ParseMessageID(name); err == nil {
		return id, nil
	}
	thread, err := b.Service.GetThread(ctx, ThreadInput{Thread: name})
	if errors.Is(err, InvalidRequest) {
		return "", RefuseNoTicket(name)
	}
	if err != nil {
		return "", err
	}
	return b.pickTicket(name, thread.Messages)
}

// pickTicket chooses among tickets of one name, which several agents may have
// chosen: of those the caller has a part in the one that is open, and if there is
// none the last.
func (b Broker) pickTicket(name string, messages []Message) (MessageID, error) {
	acting, _ := b.Service.(interface{ ID() AgentID })
	answered := map[MessageID]bool{}
	for _, m := range messages {
		if m.Kind == KindReply {
			answered[m.MessageID] = true
		}
	}
	var first, own MessageID
	var open []string
	for _, m := range messages {
		if m.Kind == KindReply {
			continue
		}
		first = cmp.Or(first, m.ID)
		if acting == nil || m.FromAgent != acting.ID() && m.ToAgent != acting.ID() {
			continue
		}
		if !answered[m.ID] {
			open = append(open, string(m.ID))
		}
		own = m.ID
	}
	switch {
	case len(open) > 1:
		return "", RefuseTicketName(name, open)
	case len(open) == 1:
		return MessageID(open[0]), nil
	case own != "":
		return own, nil
	case first != "":
		return first, nil
	default:
		return "", RefuseNoTicket(name)
	}
}

// kept finds a ticket that has not ended too long ago.
func (b Broker) kept(ctx context.Context, name string) (Ticket, error) {
	id, err := b.FindTicket(ctx, name)
	if err != nil {
		return Ticket{}, err
	}
	list, err := b.Service.Tickets(ctx, TicketsInput{MessageID: id})
	if errors.Is(err, InvalidRequest) {
		return Ticket{}, RefuseNoTicket(name)
	}
	if err != nil {
		return Ticket{}, err
	}
	ticket := list.Tickets[0]
	if ticket.KeptUntil.IsZero() {
		return ticket, nil
	}
	pong, err := b.Service.Ping(ctx, None{})
	if err != nil {
		return Ticket{}, err
	}
	if !pong.Timestamp.Before(ticket.KeptUntil) {
		return Ticket{}, RefuseNoTicket(name)
	}
	return ticket, nil
}

// Await gives the first answer to a ticket of the caller's, and waits for it.
// An answer that was given so is acked: the bridge knows no other way to say
// that it was taken, and it can be asked for again.
func (b Broker) Await(ctx context.Context, name string, wait time.Duration) (BridgeTicket, error) {
	asked, err := b.kept(ctx, name)
	if err != nil {
		return BridgeTicket{}, err
	}
	ticket := BridgeTicket{TicketID: name, Deadline: asked.Deadline}
	switch {
	case asked.State == TicketCancelled:
		return ticket.unanswered(WaitOutcome{Status: string(asked.State), Message: "The ticket was cancelled."}), nil
	case wait <= 0 && asked.State != TicketResponded:
		return ticket.unanswered(WaitOutcome{Status: WaitTimeout, Message: "There is no answer yet."}), nil
	}
	got, err := b.Service.WaitForMessage(ctx, WaitInput{MessageID: asked.ID, Timeout: max(1, seconds(int(wait/time.Millisecond)))})
	if err != nil {
		return BridgeTicket{}, err
	}
	if got.Outcome != nil {
		return ticket.unanswered(*got.Outcome), nil
	}
	if !got.ExpectsReply {
		// It stays in the inbox if this fails, and nothing is lost by that.
		_, _ = b.Service.AckMessages(ctx, AckInput{MessageIDs: []MessageID{got.ID}})
	}
	latency := got.Timestamp.Sub(asked.CreatedAt).Milliseconds()
	ticket.Payload, ticket.Status, ticket.LatencyMS, ticket.Metadata = payloadOf(got.Message), string(TicketResponded), &latency, got.Metadata
	if ticket.Metadata == nil && got.Status != ReplySuccess {
		ticket.Metadata, err = json.Marshal(map[string]string{"status": got.Status})
	}
	return ticket, err
}

// unanswered is a ticket that was waited for in vain.
func (t BridgeTicket) unanswered(outcome WaitOutcome) BridgeTicket {
	t.Status, t.Message, t.Suggestion, t.RetryAfterMS = outcome.Status, outcome.Message, outcome.Suggestion, outcome.RetryAfterMS
	if outcome.Status == WaitTimeout {
		t.Suggestion = "The ticket stays open: call await_reply again, or ask list_agents whether the agent is online."
	}
	return t
}

// Reply answers a ticket. The same answer to the same ticket is one answer.
func (b Broker) Reply(ctx context.Context, in BridgeReply) (Message, error) {
	status, err := bridgeStatus(in.Metadata)
	if err != nil {
		return Message{}, err
	}
	asked, err := b.kept(ctx, in.TicketID)
	if err != nil {
		return Message{}, err
	}
	what := sha256.Sum256([]byte(string(asked.ID) + "\x00" + in.Payload.contentType() + "\x00" + in.Payload.Text + "\x00" + string(in.Metadata)))
	reply, err := b.Service.Reply(ctx, ReplyInput{
		MessageID: asked.ID, Response: in.Payload.Text, Status: status, ContentType: in.Payload.contentType(), Metadata: in.Metadata,
		ClientKey: "bridge-" + hex.EncodeToString(what[:16]),
	})
	return reply, inBridgeWords(err)
}

// Cancel withdraws a ticket of the caller's that is still open.
func (b Broker) Cancel(ctx context.Context, name string) (BridgeTicket, error) {
	asked, err := b.kept(ctx, name)
	if err != nil {
		return BridgeTicket{}, err
	}
	done, err := b.Service.Cancel(ctx, MessageInput{MessageID: asked.ID})
	if err != nil {
		return BridgeTicket{}, err
	}
	ticket := BridgeTicket{TicketID: name, Status: string(asked.State), Message: done.Message}
	switch done.Outcome {
	case CancelDone, CancelAlready:
		ticket.Status = string(TicketCancelled)
	case CancelAnswered:
		ticket.Status = string(TicketResponded)
	case CancelUnknown, CancelNotYours:
		return BridgeTicket{}, RefuseNoTicket(name)
	}
	return ticket, nil
}

// bridgeStatus is the status of an answer whose metadata may hold one. The
// bridge leaves the words open; those that say that it failed are known.
func bridgeStatus(metadata json.RawMessage) (string, error) {
	var about struct {
		Status any `json:"status"`
	}
	if len(metadata) > 0 {
		if err := json.Unmarshal(metadata, &about); err != nil {
			return "", Errorf(InvalidRequest, "metadata is not a JSON object").Suggest(`For example {"status": "completed"}.`)
		}
	}
	switch about.Status {
	case ReplyError, "failed":
		return ReplyError, nil
	default:
		return ReplySuccess, nil
	}
}

// Agents lists who is there.
func (b Broker) Agents(ctx context.Context, in BridgeAgentsInput) (BridgeAgentList, error) {
	list, err := b.Service.ListAgents(ctx, ListAgentsInput{Cursor: in.Cursor, Limit: in.Limit, Status: in.Status, Type: in.Type})
	if err != nil {
		return BridgeAgentList{}, err
	}
	out := BridgeAgentList{Agents: []BridgeAgent{}, Next: list.Next}
	for _, agent := range list.Agents {
		about, err := aboutAgent(agent)
		if err != nil {
			return BridgeAgentList{}, err
		}
		out.Agents = append(out.Agents, BridgeAgent{
			AgentID: agent.ID, Type: agent.Type, Status: agent.Status, LastHeartbeat: agent.LastSeen, Metadata: about,
		})
	}
	return out, nil
}

// aboutAgent is the metadata of an agent, with what it said elsewhere than there.
func aboutAgent(agent Agent) (json.RawMessage, error) {
	about := map[string]json.RawMessage{}
	if len(agent.Metadata) > 0 {
		if err := json.Unmarshal(agent.Metadata, &about); err != nil {
			return nil, err
		}
	}
	elsewhere, err := json.Marshal(described{Cwd: agent.Cwd, Capabilities: agent.Capabilities})
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(elsewhere, &about); err != nil {
		return nil, err
	}
	return json.Marshal(about)
}

// seconds are milliseconds, rounded up.
func seconds(milliseconds int) int { return (milliseconds + 999) / 1000 }
