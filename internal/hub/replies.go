package hub

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/c3po-dev/c3po/c3po"
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
	if err := a.outbox.checkHandover(ctx, status, in.HandedTo); err != nil {
		return c3po.Message{}, err
	}
	metadata, err := checkMetadata(in.Metadata, a.hub.limits.MetadataBytes)
	if err != nil {
		return c3po.Message{}, err
	}
	id, err := a.outbox.ownForm(ctx, in.MessageID)
	if err != nil {
		return c3po.Message{}, err
	}
	added := id
	if ticket, err := a.outbox.ticketOf(ctx, id); err != nil {
		return c3po.Message{}, err
	} else if ticket != "" {
		id = ticket
	}
	as := &a.identity
	if _, to, _ := id.Split(); to != a.id {
		place, err := a.successor(ctx, to)
		if err != nil {
			return c3po.Message{}, err
		}
		if place != nil {
			as = place
		}
	}
	files, err := newOutbox(as).attached(ctx, in.Attach)
	if err != nil {
		return c3po.Message{}, err
	}
	reply, err := newOutbox(as).answer(ctx, id, in.Response, store.ReplyStep{
		Draft: store.Draft{
			From: as.id, Status: status, ExpectsReply: in.ExpectsReply, HandedTo: in.HandedTo, ContentType: in.ContentType, Metadata: a.outbox.putAnswerInTrace(ctx, metadata), Key: in.ClientKey,
			GoesBackTo: a.outbox.leading(), Attachments: files,
		},
		Run: as.caller.Run,
	})
	if err == nil && added != id {
		// The reply has acked the ticket; what was added to it is answered with it.
		if _, failed := a.AckMessages(ctx, c3po.AckInput{MessageIDs: []c3po.MessageID{added}}); failed != nil {
			reply.Warning = sentences(reply.Warning, a.doneBut(ctx, "The message that was added to it stays in your inbox", failed))
		}
	}
	if err != nil || in.HandedTo == "" {
		return reply, err
	}
	if err := as.handLeases(ctx, id, in.HandedTo); err != nil {
		// The answer is stored, so this is no refusal.
		return c3po.Message{}, c3po.Because(err, c3po.UnknownOutcome, "the message was handed over, but perhaps not the leases for it").
			Suggest("Repeat the call: nothing is done twice.")
	}
	return reply, nil
}

// ownForm is the id that a ticket has in the caller's inbox, if it was handed over: a
// caller may also use the id that the asker knows.
func (o outbox) ownForm(ctx context.Context, id c3po.MessageID) (c3po.MessageID, error) {
	if err := checkID(id); err != nil {
		return "", err
	}
	form := id
	for range ticketMoves {
		if _, to, _ := form.Split(); to == o.id {
			return form, nil
		}
		entry, err := o.hub.store.Message(ctx, o.space, form)
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

func (o outbox) checkHandover(ctx context.Context, status string, to c3po.AgentID) error {
	switch {
	case status != c3po.ReplyHandedOver && to != "":
		return refuse("handed_to goes with status handed_over only")
	case status == c3po.ReplyHandedOver && to == "":
		return c3po.Errorf(c3po.InvalidRequest, "handed_over needs handed_to").Suggest("Name the agent that takes the task on.")
	case to == "":
		return nil
	}
	records, err := o.hub.store.Agents(ctx, o.space, []c3po.AgentID{to})
	if err != nil {
		return err
	}
	if len(records) == 0 {
		return o.people.noAgent(ctx, to)
	}
	return nil
}

// answer is what replies of agents and of the person have in common.
func (o outbox) answer(ctx context.Context, id c3po.MessageID, response string, step store.ReplyStep) (c3po.Message, error) {
	if step.From == c3po.Human {
		var err error
		if ctx, err = o.proveOwn(ctx, "human_answer", c3po.AnswerInput{MessageID: id, Response: response}); err != nil {
			return c3po.Message{}, err
		}
		step.Proof = c3po.ProofOf(ctx)
	}
	stored, err := o.storeAnswer(ctx, id, response, step)
	if err != nil {
		o.countRejected(err)
		return stored.Message, err
	}
	var warning string
	fault := o.complete(ctx, func() { warning = o.warning(ctx, stored) })
	stored.Message.Warning = sentences(warning, fault)
	return stored.Message, nil
}

// proveOwn asks for the proof of what a person writes, whichever door it came through, if
// it was not given with the operation.
func (o outbox) proveOwn(ctx context.Context, operation string, in any) (context.Context, error) {
	if c3po.ProofOf(ctx) != nil {
		return ctx, nil
	}
	arguments, err := json.Marshal(in)
	if err != nil {
		return ctx, err
	}
	return o.hub.proved(ctx, o.caller, c3po.Act{Operation: operation, As: c3po.Human, Arguments: arguments}, o.describeAct)
}

// replyToRenamed answers somebody who has another name by now.
func (s spaceHub) replyToRenamed(ctx context.Context, step store.ReplyStep, refusal error) (store.Stored, error) {
	asker, _, _ := step.Answers.Split()
	for range maxRenamings {
		to, _, err := s.hub.store.Renamed(ctx, s.space, asker)
		if err != nil {
			return store.Stored{}, err
		}
		if to == "" || to == step.ReplyTo {
			break
		}
		step.ReplyTo = to
		stored, err := s.hub.store.Reply(ctx, s.space, step)
		if !errors.Is(err, c3po.AgentNotFound) {
			return stored, err
		}
	}
	return store.Stored{}, refusal
}

func (o outbox) storeAnswer(ctx context.Context, id c3po.MessageID, response string, step store.ReplyStep) (store.Stored, error) {
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
	if err := checkText("response", response, o.hub.limits.Characters); err != nil {
		return store.Stored{}, err
	}
	if err := checkLabels(label{"client_key", step.Key, maxKeyBytes}, label{"content_type", step.ContentType, maxContentTypeBytes}); err != nil {
		return store.Stored{}, err
	}
	if from, _, _ := id.Split(); from == c3po.System {
		return store.Stored{}, c3po.Errorf(c3po.InvalidRequest, "nobody reads an answer to '%s'", c3po.System).
			Suggest("Ack it with ack_messages once you have dealt with it.")
	}
	durability, err := o.hub.store.Durability(ctx)
	if err != nil {
		return store.Stored{}, err
	}
	step.Kind, step.Priority, step.Text = c3po.KindReply, c3po.Normal, response
	if id, err = o.idInOwnInbox(ctx, id); err != nil {
		return store.Stored{}, err
	}
	step.Answers, step.Durability = id, durability
	stored, err := o.payingForMessage(step.Draft, func(refusal error) (store.Stored, error) {
		step.Barred = refusal
		stored, err := o.hub.store.Reply(ctx, o.space, step)
		if errors.Is(err, c3po.AgentNotFound) {
			stored, err = o.replyToRenamed(ctx, step, err)
		}
		return stored, err
	})
	if err != nil {
		asker, _, _ := id.Split()
		o.announceSpent(ctx, stored.Spent, asker, err)
		return store.Stored{}, o.dropIfSuperseded(err)
	}
	o.complete(ctx, func() {
		o.recordAccepted(ctx, c3po.EventAnswered, stored, durability)
		if stored.Acked {
			o.hub.meter.Acked(1)
			o.tell(ctx, c3po.EventAcked, "", id)
		}
		o.hub.bindings.endWork(o.key(), id)
	})
	return stored, nil
}
