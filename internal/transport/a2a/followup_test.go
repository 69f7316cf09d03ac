package a2a_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

func more(task, id, text string) call {
	return send(fmt.Sprintf(`"messageId":%q,"taskId":%q,"parts":[{"text":%q}]`, id, task, text))
}

func TestAReplyToWhatWasAddedToATaskCompletesIt(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		id := s.call(t, ask("m-1", "Which port?")).task(t).ID
		added := s.call(t, more(id, "m-2", "Of the gateway, I mean.")).task(t)
		if added.ID != id || len(added.History) != 2 || added.History[1].MessageID != "m-2" || added.History[1].Parts[0].Text != "Of the gateway, I mean." {
			t.Errorf("with what was added it is %+v", added)
		}
		s.reply(t, "api", s.read(t, "api").ID, "8443")
		got := s.call(t, get(id)).task(t)
		if got.Status.State != "TASK_STATE_COMPLETED" || len(got.Artifacts) != 1 || got.Artifacts[0].Parts[0].Text != "8443" || len(got.History) != 2 {
			t.Errorf("after the reply it is %+v", got)
		}
		if left, err := s.as("api").Peek(t.Context(), c3po.GetMessagesInput{}); err != nil || left.Count != 0 {
			t.Errorf("the agent still has %d messages, %v", left.Count, err)
		}
		last := call{version: "1.0", method: "GetTask", params: fmt.Sprintf(`{"id":%q,"historyLength":1}`, id)}
		if got := s.call(t, last).task(t); len(got.History) != 1 || got.History[0].MessageID != "m-2" {
			t.Errorf("its last message is %+v", got.History)
		}
	})
}

func TestAnAgentThatTookATaskOverAnswersItByWhatWasAdded(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		s.register(t, "web")
		id := s.call(t, ask("m-1", "Which port?")).task(t).ID
		if _, err := s.as("api").Reply(t.Context(), c3po.ReplyInput{MessageID: s.read(t, "api").ID, Response: "It knows.", Status: c3po.ReplyHandedOver, HandedTo: "web"}); err != nil {
			t.Fatal(err)
		}
		s.call(t, more(id, "m-2", "Of the gateway, I mean.")).task(t)
		s.reply(t, "web", s.read(t, "web").ID, "8443")
		if got := s.call(t, get(id)).task(t); got.Status.State != "TASK_STATE_COMPLETED" || got.Artifacts[0].Parts[0].Text != "8443" {
			t.Errorf("it is %+v", got)
		}
	})
}

// Anybody can write the name of a ticket into metadata.
func TestNobodyElseAddsToATask(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		id := s.call(t, ask("m-1", "Which port?")).task(t).ID
		theirs := send(fmt.Sprintf(`"messageId":"x-1","metadata":{"c3po_ticket":%q}`, id))
		theirs.as = "crm"
		s.call(t, theirs).task(t)
		s.reply(t, "api", s.read(t, "api").ID, "Hello, crm.")
		if got := s.call(t, get(id)); got.task(t).Status.State == "TASK_STATE_COMPLETED" || strings.Contains(got.text, "Hello") || len(got.task(t).History) != 1 {
			t.Errorf("it is %s", got.text)
		}
	})
}
