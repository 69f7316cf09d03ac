package hub

import (
	"context"
	"errors"
	"slices"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// Reply answers a message, which also acks it.
func (a *Actor) Reply(ctx context.Context, in c3po.ReplyInput) (c3po.Message, error) {
	if err := a.enter(ctx); err != nil {
		return c3po.Message{}, err
	}
	status := in.Status
	switch status {
	case "":
		status = c3po.ReplySuccess
	case c3po.ReplySuccess, c3po.ReplyError, c3po.ReplyHandedOver:
	default:
		return c3po.Message{}, refuse("%q is not a status: success, error or handed_over", in.Status)
	}
	if err := a.checkHandover(ctx, status, in.HandedTo); err != nil {
		return c3po.Message{}, err
	}
	metadata, err := checkMetadata(in.Metadata, a.hub.limits.MetadataBytes)
	if err != nil {
		return c3po.Message{}, err
	}
	id, err := a.ownForm(ctx, in.MessageID)
	if err != nil {
		return c3po.Message{}, err
	}
	as := a
	if _, to, _ := id.Split(); to != a.id {
		place, err := a.successor(ctx, to)
		if err != nil {
			return c3po.Message{}, err
		}
		if place != nil {
			as = place
		}
	}
	return as.answer(ctx, id, in.Response, store.ReplyStep{
		Draft: store.Draft{From: as.id, Status: status, ExpectsReply: in.ExpectsReply, HandedTo: in.HandedTo, ContentType: in.ContentType, Metadata: metadata, Key: in.ClientKey},
		Run:   as.caller.Run,
	})
}

// ownForm is the message that a ticket is in the caller's inbox, if it was handed
// over to it: the id that who asked knows it by is as good there.
func (a *Actor) ownForm(ctx context.Context, id c3po.MessageID) (c3po.MessageID, error) {
	if err := checkID(id); err != nil {
		return "", err
	}
	form := id
	for range ticketMoves {
		if _, to, _ := form.Split(); to == a.id {
			return form, nil
		}
		entry, err := a.hub.store.Message(ctx, a.caller.Space, form)
		if err != nil {
			return "", err
		}
		if entry == nil {
			break
		}
		moved := slices.IndexFunc(entry.Facts.Answers, func(answer c3po.Answered) bool { return answer.MovedTo != "" })
		if moved < 0 {
			break
		}
		form = entry.Facts.Answers[moved].MovedTo
	}
	return id, nil
}

func (a *Actor) checkHandover(ctx context.Context, status string, to c3po.AgentID) error {
	switch {
	case status != c3po.ReplyHandedOver && to != "":
		return refuse("handed_to goes with status handed_over only")
	case status == c3po.ReplyHandedOver && to == "":
		return c3po.Errorf(c3po.InvalidRequest, "handed_over needs handed_to").Suggest("Name the agent that takes the task on.")
	case to == "":
		return nil
	}
	records, err := a.hub.store.Agents(ctx, a.caller.Space, []c3po.AgentID{to})
	if err != nil {
		return err
	}
	if len(records) == 0 {
		return a.noAgent(ctx, to)
	}
	return nil
}

// answer is what replies of agents and of the person have in common.
func (a *Actor) answer(ctx context.Context, id c3po.MessageID, response string, step store.ReplyStep) (c3po.Message, error) {
	stored, err := a.storeAnswer(ctx, id, response, step)
	if err != nil {
		a.countRejected(err)
		return stored.Message, err
	}
	stored.Message.Warning = a.warning(ctx, stored)
	return stored.Message, nil
}

// replyToRenamed answers somebody who has another name by now.
func (a *Actor) replyToRenamed(ctx context.Context, step store.ReplyStep, refusal error) (store.Stored, error) {
	asker, _, _ := step.Answers.Split()
	for range maxRenamings {
		to, _, err := a.hub.store.Renamed(ctx, a.caller.Space, asker)
		if err != nil {
			return store.Stored{}, err
		}
		if to == "" || to == step.ReplyTo {
			break
		}
		step.ReplyTo = to
		stored, err := a.hub.store.Reply(ctx, a.caller.Space, step)
		if !errors.Is(err, c3po.AgentNotFound) {
			return stored, err
		}
	}
	return store.Stored{}, refusal
}

func (a *Actor) storeAnswer(ctx context.Context, id c3po.MessageID, response string, step store.ReplyStep) (store.Stored, error) {
	if room := id.Room(); room != "" {
		return store.Stored{}, refuse("'%s' was said in the room '%s', where nobody expects a reply", id, room).
			Suggest("Say something in the room with room_post, or write to its sender with send_message.")
	}
	if err := checkID(id); err != nil {
		return store.Stored{}, err
	}
	if err := checkGiven("response", response); err != nil {
		return store.Stored{}, err
	}
	if err := checkText("response", response, a.hub.limits.Characters); err != nil {
		return store.Stored{}, err
	}
	if err := checkLabels(label{"client_key", step.Key, maxKeyBytes}, label{"content_type", step.ContentType, maxContentTypeBytes}); err != nil {
		return store.Stored{}, err
	}
	if from, _, _ := id.Split(); from == c3po.System {
		return store.Stored{}, c3po.Errorf(c3po.InvalidRequest, "nobody reads an answer to '%s'", c3po.System).
			Suggest("Ack it with ack_messages once you have dealt with it.")
	}
	durability, err := a.hub.store.Durability(ctx)
	if err != nil {
		return store.Stored{}, err
	}
	step.Kind, step.Priority, step.Text = c3po.KindReply, c3po.Normal, response
	if id, err = a.idInOwnInbox(ctx, id); err != nil {
		return store.Stored{}, err
	}
	step.Answers, step.Durability = id, durability
	stored, err := a.payingForMessage(step.Draft, func(unpaid bool) (store.Stored, error) {
		step.Unpaid = unpaid
		stored, err := a.hub.store.Reply(ctx, a.caller.Space, step)
		if errors.Is(err, c3po.AgentNotFound) {
			stored, err = a.replyToRenamed(ctx, step, err)
		}
		return stored, err
	})
	if err != nil {
		asker, _, _ := id.Split()
		a.announceSpent(ctx, stored.Spent, asker, err)
		return store.Stored{}, a.dropIfSuperseded(err)
	}
	a.recordAccepted(ctx, c3po.EventAnswered, stored, durability)
	if stored.Acked {
		a.hub.meter.Acked(1)
		a.tell(ctx, c3po.EventAcked, "", id)
	}
	return stored, nil
}
