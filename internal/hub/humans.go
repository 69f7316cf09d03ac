package hub

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

const (
	maxChoiceBytes = 200
	// minDeadline leaves a person the time to look.
	minDeadline = time.Second
)

// EscalateToHuman puts a question into the person's mailbox. The caller is then
// shown as waiting for its person, and nobody else wakes it.
func (a *Actor) EscalateToHuman(ctx context.Context, in c3po.EscalateInput) (c3po.Escalation, error) {
	if err := a.enter(ctx); err != nil {
		return c3po.Escalation{}, err
	}
	draft, err := a.outbox.question(in)
	if err != nil {
		return c3po.Escalation{}, err
	}
	durability, err := a.hub.store.Durability(ctx)
	if err != nil {
		return c3po.Escalation{}, err
	}
	stored, err := a.payingForMessage(draft, func(refusal error) (store.Stored, error) {
		draft.Barred = refusal
		return a.hub.store.Send(ctx, a.space, store.SendStep{
			Draft: draft, Run: a.caller.Run, Durability: durability, Mailbox: true, PauseFrom: c3po.PausedForHuman,
		})
	})
	if err != nil {
		a.outbox.countRejected(err)
		return c3po.Escalation{}, a.dropIfSuperseded(err)
	}
	done := c3po.Escalation{
		Success: true, MessageID: stored.Message.ID, Paused: c3po.PausedForHuman,
		Message: "A person was asked. The answer comes as a reply to this message; wait_for_message with its message_id waits for it. " +
			"Until then only a person wakes you; other mail is kept. If the question is settled another way, withdraw it with cancel.",
	}
	if draft.Within > 0 {
		done.Deadline = stored.Message.Timestamp.Add(draft.Within)
	}
	fault := a.complete(ctx, func() {
		a.recordAccepted(ctx, c3po.EventAccepted, stored, durability)
		if draft.Within > 0 && !stored.Repeat {
			a.hub.deadlines.Add(a.space, stored.Message.ID, draft.Within)
		}
		a.hub.notices.Ask(a.space)
	})
	done.Message = sentences(done.Message, fault)
	return done, nil
}

// question checks everything about a question that needs no store.
func (o outbox) question(in c3po.EscalateInput) (store.Draft, error) {
	draft := store.Draft{
		From: o.id, To: c3po.Human, Kind: c3po.KindEscalation, Priority: c3po.Normal,
		ExpectsReply: true, Text: in.Reason, Choices: in.Choices, Key: in.ClientKey,
	}
	if err := checkGiven("reason", in.Reason); err != nil {
		return draft, err
	}
	if err := checkText("reason", in.Reason, o.hub.limits.Characters); err != nil {
		return draft, err
	}
	if in.Question != "" {
		if err := checkGiven("question", in.Question); err != nil {
			return draft, err
		}
		if err := checkText("question", in.Question, o.hub.limits.Characters); err != nil {
			return draft, err
		}
		draft.Text, draft.Context = in.Question, in.Reason
	}
	if err := checkLabels(label{"client_key", in.ClientKey, maxKeyBytes}); err != nil {
		return draft, err
	}
	if err := checkChoices(in.Choices); err != nil {
		return draft, err
	}
	if in.Deadline != "" {
		within, err := c3po.ParseDuration(in.Deadline)
		if err != nil {
			return draft, err
		}
		if within < minDeadline || within > c3po.MaxQuestionDeadline {
			return draft, refuse("deadline is %q; it must be between 1s and 30d", in.Deadline)
		}
		draft.Within = within
	}
	return draft, nil
}

// lettersOf reduces a text to its lower-case letters, so that no other spelling of a word
// that we keep for ourselves passes.
func lettersOf(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

// verdictWords are what a request for permission offers, and what may be taken for it.
var verdictWords = []string{lettersOf(c3po.AllowOnce), "allow", lettersOf(c3po.Deny)}

// readsLikeVerdict says that a person may take a choice for the verdict on a request for
// permission, whichever letters it is written in and whatever follows it.
func readsLikeVerdict(choice string) bool {
	words := strings.Fields(choice)
	begin := strings.Join(words[:min(len(words), 2)], " ")
	return sanitise.ReadsLike(begin, verdictWords[0]) || slices.ContainsFunc(verdictWords, func(ours string) bool { return sanitise.ReadsLike(choice, ours) })
}

func checkChoices(choices []string) error {
	if len(choices) > c3po.MaxChoices {
		return c3po.Errorf(c3po.InvalidRequest, "%d choices are more than %d", len(choices), c3po.MaxChoices).Suggest("Give fewer; a question can also be answered in the person's own words.")
	}
	for i, choice := range choices {
		if err := checkGiven("choice", choice); err != nil {
			return err
		}
		if err := checkLabels(label{"choice", choice, maxChoiceBytes}); err != nil {
			return err
		}
		if slices.Contains(choices[:i], choice) {
			return refuse("the choice %q is there twice", choice)
		}
		if readsLikeVerdict(choice) {
			return refuse("%q is what c3po itself offers for a tool that asks for permission", choice).
				Suggest("Call the choice something else, such as 'yes, deploy it': an answer to your question allows no tool.")
		}
	}
	return nil
}

// HumanList reads the questions that wait for the person.
func (a *Actor) HumanList(ctx context.Context, in c3po.GetMessagesInput) (c3po.MessageList, error) {
	if err := a.person(); err != nil {
		return c3po.MessageList{}, err
	}
	page, err := a.inbox.page(ctx, c3po.Human, "", in.Cursor, in.Limit, 0)
	if err != nil {
		return c3po.MessageList{}, err
	}
	a.actAs(binding{id: c3po.Human})
	return messageList(page, showQuestion), nil
}

// showQuestion is show for the person, who is told how long they have.
func showQuestion(entry store.Entry, now time.Time) c3po.Message {
	m := show(entry, now)
	m.Deadline = entry.Facts.Deadline
	return m
}

// HumanShow shows one question to the person, also one that has been answered.
func (a *Actor) HumanShow(ctx context.Context, in c3po.MessageInput) (c3po.Question, error) {
	if err := a.person(); err != nil {
		return c3po.Question{}, err
	}
	a.actAs(binding{id: c3po.Human})
	entry, err := a.findQuestion(ctx, in.MessageID)
	if err != nil {
		return c3po.Question{}, err
	}
	now, err := a.hub.store.Now(ctx)
	if err != nil {
		return c3po.Question{}, err
	}
	ticket, err := a.ticket(ctx, *entry, now)
	if err != nil {
		return c3po.Question{}, err
	}
	q := c3po.Question{Message: showQuestion(*entry, now), State: ticket.State, Told: []c3po.Told{}}
	for _, n := range entry.Facts.Notices {
		q.Told = append(q.Told, c3po.Told{Channel: n.Channel, Late: n.Late, At: n.Sent, Tries: n.Tries})
	}
	answers, err := a.hub.store.Answers(ctx, a.space, in.MessageID)
	if err != nil {
		return c3po.Question{}, err
	}
	if len(answers) > 0 && !answers[0].Corrupt {
		reply := disclosed(answers[0])
		q.Reply = &reply
	}
	return q, nil
}

// findQuestion finds a message that was sent to the person.
func (s spaceHub) findQuestion(ctx context.Context, id c3po.MessageID) (*store.Entry, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	entry, err := s.hub.store.Message(ctx, s.space, id)
	switch {
	case err != nil:
		return nil, err
	case entry == nil:
		return nil, store.RefuseNoMessage(id)
	case entry.Message.ToAgent != c3po.Human:
		return nil, store.RefuseNotYours(id)
	case entry.Corrupt:
		return nil, c3po.Errorf(c3po.Internal, "the question %s is damaged in the store", id).Suggest("Ask '%s' what it wanted to know.", entry.Message.FromAgent)
	}
	return entry, nil
}

// HumanAnswer answers a question as the person, after which the asker goes on
// unless it has asked something else as well.
func (a *Actor) HumanAnswer(ctx context.Context, in c3po.AnswerInput) (c3po.Message, error) {
	if err := a.person(); err != nil {
		return c3po.Message{}, err
	}
	a.actAs(binding{id: c3po.Human})
	if in.Choice != "" && in.Response != "" {
		return c3po.Message{}, refuse("give response or choice, not both")
	}
	entry, err := a.findQuestion(ctx, in.MessageID)
	if err != nil {
		return c3po.Message{}, err
	}
	if in.Choice != "" {
		if in.Response, err = chosen(entry.Message.Choices, in.Choice); err != nil {
			return c3po.Message{}, err
		}
	}
	draft := store.Draft{From: c3po.Human, Status: c3po.ReplySuccess, Key: in.ClientKey}
	if entry.Message.Kind == c3po.KindApproval {
		if draft, err = a.judge(ctx, *entry, in.Response, in.Choice != ""); err != nil {
			return c3po.Message{}, err
		}
	}
	answer, err := a.outbox.answer(ctx, in.MessageID, in.Response, store.ReplyStep{Draft: draft, ResumeTo: true})
	if approval, ok := entry.Message.Approval(); ok && err == nil {
		a.decided = verdictOn(approval, in.Choice != "" && in.Response == c3po.AllowOnce).Decision()
	}
	return answer, err
}

// chosen is the choice that is meant by its words, or else by its number.
func chosen(choices []string, choice string) (string, error) {
	if slices.Contains(choices, choice) {
		return choice, nil
	}
	if n, isNumber := c3po.ChoiceNumber(choice); isNumber && n >= 1 && n <= len(choices) {
		return choices[n-1], nil
	}
	if len(choices) == 0 {
		return "", c3po.Errorf(c3po.InvalidRequest, "the question has no choices").Suggest("Answer it in your own words.")
	}
	return "", c3po.Errorf(c3po.InvalidRequest, "%.80q is none of the choices", choice).
		Suggest("Choose a number from 1 to %d, or answer in your own words.", len(choices))
}
