package hub

import (
	"context"

	"github.com/c3po-dev/c3po"
)

// EscalateToHuman puts a question into the person's mailbox. The caller is then
// shown as waiting for its person; nothing is forced on it.
func (a *Actor) EscalateToHuman(ctx context.Context, in c3po.EscalateInput) (c3po.Escalation, error) {
	if err := a.enter(ctx); err != nil {
		return c3po.Escalation{}, err
	}
	if err := checkGiven("reason", in.Reason); err != nil {
		return c3po.Escalation{}, err
	}
	if err := checkText("reason", in.Reason, a.hub.limits.Characters); err != nil {
		return c3po.Escalation{}, err
	}
	if err := checkLabels(label{"client_key", in.ClientKey, mostKey}); err != nil {
		return c3po.Escalation{}, err
	}
	durability, err := a.hub.store.Durability(ctx)
	if err != nil {
		return c3po.Escalation{}, err
	}
	stored, err := a.hub.store.Send(ctx, a.caller.Space, SendStep{
		Draft: Draft{
			From: a.id, To: c3po.Human, Kind: c3po.KindEscalation, Priority: c3po.Normal,
			ExpectsReply: true, Text: in.Reason, Key: in.ClientKey,
		},
		Run: a.caller.Run, Durability: durability, Mailbox: true, PauseFrom: c3po.PausedForHuman,
	})
	if err != nil {
		a.rejected(err)
		return c3po.Escalation{}, a.failed(err)
	}
	a.stored(ctx, c3po.EventAccepted, stored, durability)
	return c3po.Escalation{
		Success: true, MessageID: stored.Message.ID, Paused: c3po.PausedForHuman,
		Message: "A person was asked. The answer comes as a reply to this message; wait_for_message with its message_id waits for it.",
	}, nil
}

// HumanList reads the questions that wait for the person.
func (a *Actor) HumanList(ctx context.Context, in c3po.GetMessagesInput) (c3po.MessageList, error) {
	if err := a.person(); err != nil {
		return c3po.MessageList{}, err
	}
	page, err := a.inboxPage(ctx, c3po.Human, "", in.Cursor, in.Limit, 0)
	if err != nil {
		return c3po.MessageList{}, err
	}
	a.actAs(binding{id: c3po.Human})
	return page.list(show), nil
}

// HumanAnswer answers a question as the person, after which the asker is no
// longer shown as waiting for one.
func (a *Actor) HumanAnswer(ctx context.Context, in c3po.AnswerInput) (c3po.Message, error) {
	if err := a.person(); err != nil {
		return c3po.Message{}, err
	}
	a.actAs(binding{id: c3po.Human})
	return a.answer(ctx, in.MessageID, in.Response, ReplyStep{
		Draft:    Draft{From: c3po.Human, Status: c3po.ReplySuccess, Key: in.ClientKey},
		ResumeTo: true,
	})
}

// Pause tells everybody that an agent, or all of them, should not act.
func (a *Actor) Pause(ctx context.Context, in c3po.PauseInput) (c3po.PauseResult, error) {
	id, err := a.pausable(in)
	if err != nil {
		return c3po.PauseResult{}, err
	}
	why := in.Reason
	if why == "" {
		why = "paused by a person"
	}
	if why == c3po.PausedForHuman {
		return c3po.PauseResult{}, refuse("%q is what agents that asked a person are shown with", why)
	}
	return a.setPaused(ctx, in, id, why)
}

// Resume ends a pause.
func (a *Actor) Resume(ctx context.Context, in c3po.PauseInput) (c3po.PauseResult, error) {
	id, err := a.pausable(in)
	if err != nil {
		return c3po.PauseResult{}, err
	}
	return a.setPaused(ctx, in, id, "")
}

// pausable checks the input; an empty id stands for the whole space.
func (a *Actor) pausable(in c3po.PauseInput) (c3po.AgentID, error) {
	if err := a.person(); err != nil {
		return "", err
	}
	if in.All == (in.AgentID != "") {
		return "", c3po.Errorf(c3po.InvalidRequest, "give either agent_id or all").Suggest("Name one agent, or set all.")
	}
	if err := checkLabels(label{"reason", in.Reason, mostReason}); err != nil {
		return "", err
	}
	if in.All {
		return "", nil
	}
	return c3po.ParseAgentID(in.AgentID)
}

func (a *Actor) setPaused(ctx context.Context, in c3po.PauseInput, id c3po.AgentID, why string) (c3po.PauseResult, error) {
	if err := a.hub.store.SetPaused(ctx, a.caller.Space, id, why); err != nil {
		return c3po.PauseResult{}, err
	}
	a.hub.marks.touched(a.caller.Space, 0)
	kind := c3po.EventPaused
	if why == "" {
		kind = c3po.EventResumed
	}
	a.tell(ctx, kind, id, "")
	if in.All {
		return c3po.PauseResult{All: true, Paused: paused(why)}, nil
	}
	// An agent that was resumed may still be held by the pause of the space.
	record, err := a.record(ctx, id)
	if err != nil {
		return c3po.PauseResult{}, err
	}
	return c3po.PauseResult{AgentID: id, Paused: paused(record.Paused)}, nil
}
