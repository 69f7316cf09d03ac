package people

import (
	"context"
	"fmt"
	"math"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/person/top"
)

// Asked is what waits for the person: the questions that agents wait on, the most urgent
// first, and the messages that expect no answer.
type Asked struct {
	Questions, Notes []c3po.Message
}

// ReadAsked reads all of it: a question that came after a thousand notes is not hidden.
func ReadAsked(ctx context.Context, svc *client.Client) (Asked, error) {
	all, _, err := console.Pages(math.MaxInt, func(cursor string, most int) ([]c3po.Message, string, error) {
		page, err := svc.HumanList(ctx, c3po.GetMessagesInput{Cursor: cursor, Limit: most})
		return page.Messages, page.Next, err
	})
	if err != nil {
		return Asked{}, err
	}
	stuck, err := svc.Stuck(ctx, c3po.None{})
	if err != nil {
		return Asked{}, err
	}
	frees := map[c3po.MessageID]int{}
	for _, h := range stuck.HoldUps {
		for _, w := range h.Waits {
			if w.ToAgent == c3po.Human {
				frees[w.ID] = w.Behind
			}
		}
	}
	question := func(m c3po.Message) top.Question {
		q := top.QuestionOf(m)
		q.Frees = frees[m.ID]
		return q
	}
	var asked Asked
	for _, m := range top.SortByUrgency(all, question) {
		if question(m).Informs {
			asked.Notes = append(asked.Notes, m)
		} else {
			asked.Questions = append(asked.Questions, m)
		}
	}
	return asked, nil
}

// String counts both, as "3 questions for you, 20 messages that need no answer".
func (a Asked) String() string {
	questions, notes := console.CountOf(len(a.Questions), "question")+" for you", console.CountOf(len(a.Notes), "message")+" that need"
	if len(a.Notes) == 1 {
		notes += "s"
	}
	notes += " no answer"
	switch {
	case len(a.Questions) == 0 && len(a.Notes) == 0:
		return "no agent waits for you"
	case len(a.Notes) == 0:
		return questions
	case len(a.Questions) == 0:
		return "no agent waits for you; " + notes
	default:
		return fmt.Sprintf("%s, %s", questions, notes)
	}
}
