package dialect

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// A Broker speaks the dialect of the agent-to-agent bridge for whom its service
// acts. A ticket is a message; its name is the ticketId its sender chose, else
// the message's id, and it is always called as the caller has called it.
type Broker struct{ Service c3po.Service }

// inTicketWords calls what a refusal speaks of as this dialect does.
func inTicketWords(err error) error {
	var refusal *c3po.Error
	if !errors.As(err, &refusal) {
		return err
	}
	words := strings.NewReplacer("client_key", "ticketId", "deadline_ms", "timeoutMs", "message is missing", "payload is missing",
		"message is empty", "payload is empty", "message has", "payload has", "response is", "payload is", "response has", "payload has")
	named := *refusal
	named.Message, named.Suggestion = words.Replace(refusal.Message), words.Replace(refusal.Suggestion)
	return &named
}

// Send opens a ticket and does not wait.
func (b Broker) Send(ctx context.Context, target string, in Send) (Ticket, error) {
	return b.open(ctx, target, in, "")
}

// open takes a key for a ticket that has no name of its own.
func (b Broker) open(ctx context.Context, target string, in Send, key string) (Ticket, error) {
	if in.TicketID != "" {
		if c3po.ChosenTicketID(in.TicketID) == "" {
			return Ticket{}, c3po.Errorf(c3po.InvalidRequest, "%q cannot be a ticketId", c3po.Clip(in.TicketID)).
				Suggest("Use 1-128 of A-Z a-z 0-9 _ . - starting with a letter or digit, for example a UUID; or leave it out.")
		}
		key = in.TicketID
	}
	within := 0
	if in.TimeoutMS != nil {
		if within = *in.TimeoutMS; within < 1 {
			return Ticket{}, c3po.Errorf(c3po.InvalidRequest, "timeoutMs is %d; it must be at least 1", within).Suggest("Leave it out if there is no deadline.")
		}
	}
	receipt, err := b.Service.SendMessage(ctx, c3po.SendInput{
		Target: target, Message: in.Payload.Text, ContentType: in.Payload.contentType(), Metadata: in.Metadata,
		// The thread of a ticket with a name is called by it, so that everyone with a
		// part in it finds it by that name.
		ExpectsReply: in.ExpectReply, ClientKey: key, Thread: in.TicketID, DeadlineMS: within,
	})
	if err != nil {
		return Ticket{}, inTicketWords(RefuseNotRegistered(target, err))
	}
	ticket := Ticket{TicketID: in.TicketID, Status: string(c3po.TicketPending), Warning: receipt.Warning}
	if ticket.TicketID == "" {
		ticket.TicketID = string(receipt.ID)
	}
	if receipt.Status != c3po.StatePending {
		// It was sent before, and has come further.
		asked, err := b.findTicket(ctx, string(receipt.ID))
		if errors.Is(err, c3po.TicketNotFound) {
			return Ticket{}, c3po.Errorf(c3po.KeyConflict, "the ticketId '%s' was used before, and its ticket has ended", c3po.Clip(ticket.TicketID)).
				Suggest("Choose a new ticketId: the same one never sends twice.")
		}
		if err != nil {
			ticket.Message = "The ticket was sent before. How far it has come cannot be read now: " + c3po.AsError(err).Message
			return ticket, nil
		}
		ticket.Status = string(asked.State)
	}
	return ticket, nil
}

// FindTicket gives the message that is called so: by its id, or by the name its
// sender gave it.
func (b Broker) FindTicket(ctx context.Context, name string) (c3po.MessageID, error) {
	if err := c3po.CheckTicketID(name); err != nil {
		return "", err
	}
	if id, err := c3po.ParseMessageID(name); err == nil {
		return id, nil
	}
	thread, err := b.Service.GetThread(ctx, c3po.ThreadInput{Thread: name})
	if errors.Is(err, c3po.InvalidRequest) {
		return "", c3po.RefuseNoTicket(name)
	}
	if err != nil {
		return "", err
	}
	return b.pickTicket(name, thread.Messages)
}

// pickTicket chooses among tickets of one name, which several agents may have chosen. Of
// those the caller has a part in, it takes an open one, else the last.
func (b Broker) pickTicket(name string, messages []c3po.Message) (c3po.MessageID, error) {
	acting, _ := b.Service.(interface{ ID() c3po.AgentID })
	answered := map[c3po.MessageID]bool{}
	for _, m := range messages {
		if m.Kind == c3po.KindReply {
			answered[m.MessageID] = true
		}
	}
	var first, own c3po.MessageID
	var open []string
	for _, m := range messages {
		if m.Kind == c3po.KindReply {
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
		return "", c3po.RefuseTicketName(name, open)
	case len(open) == 1:
		return c3po.MessageID(open[0]), nil
	case own != "":
		return own, nil
	case first != "":
		return first, nil
	default:
		return "", c3po.RefuseNoTicket(name)
	}
}

// findTicket finds a ticket that has not ended too long ago.
func (b Broker) findTicket(ctx context.Context, name string) (c3po.Ticket, error) {
	id, err := b.FindTicket(ctx, name)
	if err != nil {
		return c3po.Ticket{}, err
	}
	list, err := b.Service.Tickets(ctx, c3po.TicketsInput{MessageID: id})
	if errors.Is(err, c3po.InvalidRequest) {
		return c3po.Ticket{}, c3po.RefuseNoTicket(name)
	}
	if err != nil {
		return c3po.Ticket{}, err
	}
	ticket := list.Tickets[0]
	if ticket.KeptUntil.IsZero() {
		return ticket, nil
	}
	pong, err := b.Service.Ping(ctx, c3po.None{})
	if err != nil {
		return c3po.Ticket{}, err
	}
	if !pong.Timestamp.Before(ticket.KeptUntil) {
		return c3po.Ticket{}, c3po.RefuseNoTicket(name)
	}
	return ticket, nil
}

// Await gives the first answer to a ticket of the caller's, and waits for it.
// An answer that was given so is acked: the bridge knows no other way to say
// that it was taken, and it can be asked for again.
func (b Broker) Await(ctx context.Context, name string, wait time.Duration) (Ticket, error) {
	asked, err := b.findTicket(ctx, name)
	if err != nil {
		return Ticket{}, err
	}
	ticket := Ticket{TicketID: name, Deadline: asked.Deadline}
	acting, _ := b.Service.(interface{ ID() c3po.AgentID })
	switch {
	case wait <= 0 && acting != nil && acting.ID() != "" && acting.ID() != asked.FromAgent:
		return Ticket{}, c3po.Errorf(c3po.Forbidden, "ticket '%s' was not sent by you", c3po.Clip(name)).
			Suggest("Only its sender can wait for the answer to a ticket.")
	case asked.State == c3po.TicketCancelled:
		return ticket.asUnanswered(c3po.WaitOutcome{Status: string(asked.State), Message: "The ticket was cancelled."}), nil
	case wait <= 0 && asked.State != c3po.TicketResponded:
		return ticket.asUnanswered(c3po.WaitOutcome{Status: c3po.WaitTimeout, Message: "There is no answer yet."}), nil
	}
	got, err := b.Service.WaitForMessage(ctx, c3po.WaitInput{MessageID: asked.ID, Timeout: max(1, seconds(int(wait/time.Millisecond)))})
	if err != nil {
		return Ticket{}, err
	}
	if got.Outcome != nil {
		return ticket.asUnanswered(*got.Outcome), nil
	}
	if !got.ExpectsReply {
		// It stays in the inbox if this fails, and nothing is lost by that.
		_, _ = b.Service.AckMessages(ctx, c3po.AckInput{MessageIDs: []c3po.MessageID{got.ID}})
	}
	latency := got.Timestamp.Sub(asked.CreatedAt).Milliseconds()
	ticket.Payload, ticket.Status, ticket.LatencyMS, ticket.Metadata = payloadOf(got.Message), string(c3po.TicketResponded), &latency, got.Metadata
	if ticket.Metadata == nil && got.Status != c3po.ReplySuccess {
		ticket.Metadata, err = json.Marshal(map[string]string{"status": got.Status})
	}
	return ticket, err
}

// Reply answers a ticket. The same answer to the same ticket is one answer.
func (b Broker) Reply(ctx context.Context, in Reply) (c3po.Message, error) {
	status, err := replyStatus(in.Metadata)
	if err != nil {
		return c3po.Message{}, err
	}
	asked, err := b.findTicket(ctx, in.TicketID)
	if err != nil {
		return c3po.Message{}, err
	}
	what := sha256.Sum256([]byte(string(asked.ID) + "\x00" + in.Payload.contentType() + "\x00" + in.Payload.Text + "\x00" + string(in.Metadata)))
	reply, err := b.Service.Reply(ctx, c3po.ReplyInput{
		MessageID: asked.ID, Response: in.Payload.Text, Status: status, ContentType: in.Payload.contentType(), Metadata: in.Metadata,
		ClientKey: "bridge-" + hex.EncodeToString(what[:16]),
	})
	return reply, inTicketWords(err)
}

// Cancel withdraws a ticket of the caller's that is still open.
func (b Broker) Cancel(ctx context.Context, name string) (Ticket, error) {
	asked, err := b.findTicket(ctx, name)
	if err != nil {
		return Ticket{}, err
	}
	done, err := b.Service.Cancel(ctx, c3po.MessageInput{MessageID: asked.ID})
	if err != nil {
		return Ticket{}, err
	}
	ticket := Ticket{TicketID: name, Status: string(asked.State), Message: done.Message}
	switch done.Outcome {
	case c3po.CancelDone, c3po.CancelAlready:
		ticket.Status = string(c3po.TicketCancelled)
	case c3po.CancelAnswered:
		ticket.Status = string(c3po.TicketResponded)
	case c3po.CancelUnknown, c3po.CancelNotYours:
		return Ticket{}, c3po.RefuseNoTicket(name)
	}
	return ticket, nil
}

// replyStatus is the status of an answer whose metadata may hold one. The
// bridge leaves the words open; those that say that it failed are known.
func replyStatus(metadata json.RawMessage) (string, error) {
	var about struct {
		Status any `json:"status"`
	}
	if len(metadata) > 0 {
		if err := json.Unmarshal(metadata, &about); err != nil {
			return "", c3po.Errorf(c3po.InvalidRequest, "metadata is not a JSON object").Suggest(`For example {"status": "completed"}.`)
		}
	}
	switch about.Status {
	case c3po.ReplyError, "failed":
		return c3po.ReplyError, nil
	default:
		return c3po.ReplySuccess, nil
	}
}

// seconds are milliseconds, rounded up.
func seconds(milliseconds int) int { return (milliseconds + 999) / 1000 }
