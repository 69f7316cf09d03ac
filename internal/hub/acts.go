package hub

import (
	"cmp"
	"context"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// describeAct adds to an answer of the person what it answers and with which words, and what it
// decides if that is an approval: all of it is signed. What does not wait for an answer cannot be signed for, least of all a
// question that is yet to come under an id that somebody guessed.
func (s spaceHub) describeAct(ctx context.Context, act *c3po.Act) error {
	if !isAnswer(act.Operation) {
		return nil
	}
	in, err := c3po.DecodeOpen[c3po.AnswerInput](act.Arguments)
	if err != nil {
		return err
	}
	entry, err := s.findQuestion(ctx, in.MessageID)
	switch {
	case err != nil:
		return err
	case len(entry.Facts.Answers) > 0:
		return store.RefuseAnswered(in.MessageID)
	case !entry.Facts.Cancelled.IsZero():
		return store.RefuseCancelled(in.MessageID)
	}
	if in.Choice != "" {
		if in.Choice, err = chosen(entry.Message.Choices, in.Choice); err != nil {
			return err
		}
	}
	act.Asker, act.Kind, act.Question = entry.Message.FromAgent, entry.Message.Kind, entry.Message.Text()
	act.Answer = cmp.Or(in.Choice, in.Response)
	if approval, ok := entry.Message.Approval(); ok && act.Operation == "human_answer" {
		verdict := verdictOn(approval, in.Choice != "" && in.Choice == c3po.AllowOnce)
		act.Verdict = &verdict
	}
	return nil
}
