package console

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

// shortID is the beginning of what ends a message's id.
var shortID = regexp.MustCompile(`^[0-9a-f]{1,8}$`)

const (
	MaxIDsSearched  = 1000 // of each list
	maxIDsSuggested = 5
)

// MessageID is the message that a name stands for: its whole id, the beginning of
// the id's last part if only one message has it, or the ticketId its sender chose.
func MessageID(ctx context.Context, svc c3po.Service, name string) (c3po.MessageID, error) {
	name = strings.TrimSpace(name)
	if strings.Contains(name, "::") {
		id, err := c3po.ParseMessageID(name)
		return id, Misspelled(err)
	}
	if short := strings.ToLower(strings.Trim(name, "\"'`.,;:")); shortID.MatchString(short) {
		name = short // as it is copied from a sentence
		switch found, err := messagesEnding(ctx, svc, name); {
		case err != nil:
			return "", err
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return "", ambiguous(name, found)
		}
	}
	id, err := dialect.Broker{Service: svc}.FindTicket(ctx, name)
	if notReadable(err) {
		return "", c3po.Errorf(c3po.InvalidRequest, "no message that you can see has an id like %q", name).
			Suggest("`c3po inbox` and `c3po tickets` show ids; the last part is enough.")
	}
	return id, err
}

func ambiguous(name string, found []c3po.MessageID) error {
	var ids []string
	for _, id := range found[:min(len(found), maxIDsSuggested)] {
		ids = append(ids, string(id))
	}
	return c3po.Errorf(c3po.InvalidRequest, "%d messages have an id like %q", len(found), name).
		Suggest("Type more of it: %s.", strings.Join(ids, ", "))
}

// ThreadID is the conversation that a name stands for. What begins the last part of one
// message's id is that message; anything else is left to the coordinator, since whoever
// starts a conversation may choose its name.
func ThreadID(ctx context.Context, svc c3po.Service, name string) (string, error) {
	if !shortID.MatchString(name) {
		return name, nil
	}
	switch found, err := messagesEnding(ctx, svc, name); {
	case err != nil:
		return "", err
	case len(found) == 0:
		return name, nil
	case len(found) == 1:
		return string(found[0]), nil
	default:
		return "", ambiguous(name, found)
	}
}

// messagesEnding are the messages a caller can see whose id's last part begins so:
// in its inbox and among its tickets, for a person among their questions and all
// tickets. What fails for another reason than that the caller may not read it fails here
// too: nobody knows then which messages there are, and the next look would wait as long.
func messagesEnding(ctx context.Context, svc c3po.Service, begin string) (found []c3po.MessageID, err error) {
	add := func(id c3po.MessageID) {
		_, last, _ := strings.Cut(string(id), "::")
		if _, last, _ = strings.Cut(last, "::"); strings.HasPrefix(last, begin) && !slices.Contains(found, id) {
			found = append(found, id)
		}
	}
	which := ""
	list, err := svc.Peek(ctx, c3po.GetMessagesInput{Limit: MaxIDsSearched})
	if notReadable(err) { // a person has no inbox, but questions
		which = c3po.TicketsAll
		list, err = svc.HumanList(ctx, c3po.GetMessagesInput{Limit: MaxIDsSearched})
	}
	if err != nil && !notReadable(err) {
		return nil, err
	}
	for _, m := range list.Messages {
		add(m.ID)
	}
	tickets, err := svc.Tickets(ctx, c3po.TicketsInput{Which: which, Limit: MaxIDsSearched})
	if err != nil && !notReadable(err) {
		return nil, err
	}
	for _, t := range tickets.Tickets {
		add(t.ID)
		for _, reply := range t.Replies {
			add(reply.ID)
		}
	}
	return found, nil
}

// notReadable says that there is nothing to read for this caller, as against that nobody
// could look.
func notReadable(err error) bool {
	return slices.ContainsFunc([]c3po.Code{c3po.InvalidRequest, c3po.Unauthorized, c3po.Forbidden, c3po.AgentNotFound, c3po.TicketNotFound},
		func(code c3po.Code) bool { return errors.Is(err, code) })
}

func MessageIDs(ctx context.Context, svc c3po.Service, names []string) (ids []c3po.MessageID, err error) {
	for _, name := range names {
		id, err := MessageID(ctx, svc, name)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// OfMessage calls an operation on the message that the first argument names.
func OfMessage[Out any](do func(c3po.Service, context.Context, c3po.MessageInput) (Out, error)) func(context.Context, *client.Client, []string) (Out, error) {
	return func(ctx context.Context, svc *client.Client, args []string) (out Out, err error) {
		id, err := MessageID(ctx, svc, args[0])
		if err != nil {
			return out, err
		}
		return do(svc, ctx, c3po.MessageInput{MessageID: id})
	}
}

// LastAsked is the newest message that expects a reply among those that its agent was
// served, and how many newer ones nobody has read.
func LastAsked(ctx context.Context, svc c3po.Service) (last c3po.Message, unread int, err error) {
	list, err := svc.Peek(ctx, c3po.GetMessagesInput{Limit: MaxIDsSearched})
	if err != nil {
		return last, 0, err
	}
	asked := slices.DeleteFunc(list.Messages, func(m c3po.Message) bool { return !m.ExpectsReply })
	for _, m := range asked {
		if m.Redelivered && !m.Timestamp.Before(last.Timestamp) {
			last = m
		}
	}
	for _, m := range asked {
		if !m.Redelivered && !m.Timestamp.Before(last.Timestamp) {
			unread++
		}
	}
	switch {
	case last.ID != "":
		return last, unread, nil
	case unread > 0:
		return last, unread, c3po.Errorf(c3po.InvalidRequest, "you have read no message that expects a reply; %d unread", unread).
			Suggest("Read first with `c3po inbox`, or name the message: c3po reply ID TEXT")
	default:
		return last, 0, c3po.Errorf(c3po.InvalidRequest, "no message in your inbox expects a reply").
			Suggest("`c3po inbox` shows what is there.")
	}
}
