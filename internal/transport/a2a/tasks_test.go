package a2a_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

// Each version is asked the same, and answers in its own words.
var versions = map[string]struct{ header, send, get, message string }{
	"1.0": {"1.0", "SendMessage", "GetTask", `{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"Which topics are there?"}]}`},
	"0.3": {"", "message/send", "tasks/get", `{"kind":"message","messageId":"m-1","role":"user","parts":[{"kind":"text","text":"Which topics are there?"}]}`},
}

func TestTheTaskOfAnOfflineAgentStaysSubmittedUntilItAnswers(t *testing.T) {
	t.Parallel()
	for name, v := range versions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(t, func(t *testing.T, s stack) {
				s.register(t, "api")
				sent := s.call(t, call{version: v.header, method: v.send, params: `{"message":` + v.message + `}`})
				golden(t, "submitted-"+name, sent.Result)
				id := sent.task(t).ID
				look := call{version: v.header, method: v.get, params: fmt.Sprintf(`{"id":%q}`, id)}
				pass(c3po.DefaultLimits().OnlineWindow)
				if got := s.call(t, look).task(t); !strings.HasSuffix(strings.ToLower(got.Status.State), "submitted") {
					t.Errorf("after a while it is %s", got.Status.State)
				}
				asked := s.read(t, "api")
				if asked.Text() != "Which topics are there?" || asked.FromAgent != "bot" {
					t.Errorf("the agent was asked %+v", asked)
				}
				golden(t, "working-"+name, s.call(t, look).Result)
				s.reply(t, "api", asked.ID, "Two: orders and users.")
				golden(t, "completed-"+name, s.call(t, look).Result)
				if again := s.call(t, look).task(t); len(again.Artifacts) != 1 || again.Artifacts[0].Parts[0].Text != "Two: orders and users." {
					t.Errorf("a second look shows %+v", again)
				}
				// The protocol has no word for having read an answer, so it is acked by it.
				if left, err := s.as("bot").Peek(t.Context(), c3po.GetMessagesInput{}); err != nil || left.Count != 0 {
					t.Errorf("the asker's inbox holds %d, %v", left.Count, err)
				}
			})
		})
	}
}

func TestTheSameMessageTwiceIsOneTask(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		first := s.call(t, ask("m-1", "Deploy?")).task(t)
		if again := s.call(t, ask("m-1", "Deploy?")).task(t); again.ID != first.ID {
			t.Errorf("the repeat is %s, not %s", again.ID, first.ID)
		}
		if other := s.call(t, ask("m-2", "Deploy?")).task(t); other.ID == first.ID {
			t.Error("another message with the same text is the same task")
		}
		if changed := s.call(t, ask("m-1", "Delete?")); changed.Error.Code != -32602 {
			t.Errorf("the same id with another text: %s", changed.text)
		}
		if list, err := s.as("api").Peek(t.Context(), c3po.GetMessagesInput{}); err != nil || list.Count != 2 {
			t.Errorf("the agent has %d messages, %v", list.Count, err)
		}
		s.reply(t, "api", s.read(t, "api").ID, "Done.")
		if again := s.call(t, ask("m-2", "Deploy?")).task(t); again.Status.State != "TASK_STATE_COMPLETED" {
			t.Errorf("the repeat of an answered message is %s", again.Status.State)
		}
	})
}

func TestATaskNeedsInputWhileItsAgentAsksItsUser(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		id := s.call(t, ask("m-1", "May I drop the table?")).task(t).ID
		asked := s.read(t, "api")
		question, err := s.as("api").EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: "May bot drop the table?"})
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "input-required-1.0", s.call(t, get(id)).Result)
		person := s.hub.As(c3po.Caller{Space: c3po.DefaultSpace, ID: c3po.Human, Role: c3po.RoleHuman})
		if _, err := person.HumanAnswer(t.Context(), c3po.AnswerInput{MessageID: question.MessageID, Response: "no"}); err != nil {
			t.Fatal(err)
		}
		if got := s.call(t, get(id)).task(t); got.Status.State != "TASK_STATE_WORKING" {
			t.Errorf("after the person's answer it is %s", got.Status.State)
		}
		if _, err := s.as("api").Reply(t.Context(), c3po.ReplyInput{MessageID: asked.ID, Response: "My user says no.", Status: c3po.ReplyError}); err != nil {
			t.Fatal(err)
		}
		got := s.call(t, get(id)).task(t)
		if got.Status.State != "TASK_STATE_FAILED" || got.Status.Message.Parts[0].Text != "My user says no." {
			t.Errorf("after a refusal: %+v", got)
		}
	})
}

func TestATaskCanBeCanceledUntilItIsAnswered(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		id := s.call(t, ask("m-1", "Deploy?")).task(t).ID
		cancel := call{version: "1.0", method: "CancelTask", params: fmt.Sprintf(`{"id":%q}`, id)}
		for range 2 {
			if got := s.call(t, cancel).task(t); got.Status.State != "TASK_STATE_CANCELED" {
				t.Errorf("canceled, it is %s", got.Status.State)
			}
		}
		if list, err := s.as("api").Peek(t.Context(), c3po.GetMessagesInput{}); err != nil || list.Count != 0 {
			t.Errorf("the agent still has %d messages, %v", list.Count, err)
		}
		other := s.call(t, ask("m-2", "Test?")).task(t).ID
		s.reply(t, "api", s.read(t, "api").ID, "All green.")
		cancel.params = fmt.Sprintf(`{"id":%q}`, other)
		if got := s.call(t, cancel); got.Error.Code != -32002 {
			t.Errorf("an answered task: %s", got.text)
		}
	})
}

func TestATaskThatNobodyReadsFails(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		id := s.call(t, ask("m-1", "Deploy?")).task(t).ID
		pass(c3po.DefaultLimits().MessageLife + c3po.DefaultLimits().MessageLife/10)
		if got := s.call(t, get(id)).task(t); got.Status.State != "TASK_STATE_FAILED" {
			t.Errorf("after its life it is %s", got.Status.State)
		}
	})
}

func TestAMessageOfATaskGoesToItsAgent(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		first := s.call(t, ask("m-1", "Deploy?")).task(t)
		more := func(id, task, context string) answer {
			return s.call(t, call{version: "1.0", method: "SendMessage", params: fmt.Sprintf(
				`{"message":{"messageId":%q,"taskId":%q,"contextId":%q,"role":"ROLE_USER","parts":[{"text":"To staging, I mean."}]}}`, id, task, context)})
		}
		if got := more("m-2", first.ID, "").task(t); got.ID != first.ID {
			t.Errorf("it is the task %s", got.ID)
		}
		if got := more("m-3", first.ID, "elsewhere"); got.Error.Code != -32602 {
			t.Errorf("in another context: %s", got.text)
		}
		if got := more("m-4", "bot::api::00000000", ""); got.Error.Code != -32001 {
			t.Errorf("of no task: %s", got.text)
		}
		mail, err := s.as("api").Peek(t.Context(), c3po.GetMessagesInput{})
		if said := s.read(t, "api"); err != nil || said.Text() != "To staging, I mean." || said.Thread != mail.Messages[0].Thread || said.ExpectsReply {
			t.Errorf("the agent was told %+v", said)
		}
		s.reply(t, "api", c3po.MessageID(first.ID), "Done.")
		if got := more("m-5", first.ID, ""); got.Error.Code != -32004 {
			t.Errorf("after the end: %s", got.text)
		}
	})
}

func TestTasksAreListedThoseThatChangedLastFirst(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		s.register(t, "web")
		var ids []string
		for i := range 3 {
			ids = append(ids, s.call(t, ask(fmt.Sprintf("m-%d", i), fmt.Sprintf("Question %d", i))).task(t).ID)
			pass(c3po.DefaultLimits().OnlineWindow)
		}
		elsewhere := ask("m-9", "And you?")
		elsewhere.target = "web"
		s.call(t, elsewhere)
		s.reply(t, "api", c3po.MessageID(ids[0]), "First.")
		list := func(params string) answer {
			return s.call(t, call{version: "1.0", method: "ListTasks", params: params})
		}
		golden(t, "list-1.0", list(`{"pageSize":2}`).Result)
		_, token, _ := strings.Cut(list(`{"pageSize":2}`).text, `"nextPageToken":"`)
		token, _, _ = strings.Cut(token, `"`)
		if rest := list(fmt.Sprintf(`{"pageSize":2,"pageToken":%q}`, token)).text; !strings.Contains(rest, ids[1]) || strings.Contains(rest, ids[0]) || !strings.Contains(rest, `"nextPageToken":""`) {
			t.Errorf("the second page is %s", rest)
		}
		if done := list(`{"status":"TASK_STATE_COMPLETED","includeArtifacts":true}`).text; !strings.Contains(done, `"First."`) || !strings.Contains(done, `"totalSize":1`) {
			t.Errorf("of the completed there is %s", done)
		}
		host := s.call(t, call{version: "1.0", target: "-", method: "ListTasks", params: "{}"}).text
		if !strings.Contains(host, `"totalSize":4`) {
			t.Errorf("of all agents: %s", host)
		}
	})
}

func TestWhatCannotBeDoneIsRefusedInTheProtocolsWords(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		const parts = `"role":"ROLE_USER","parts":[{"text":"x"}]`
		for _, row := range []struct {
			name string
			call call
			want int
		}{
			{"no such method", call{version: "1.0", method: "Teleport", params: "{}"}, -32601},
			{"a method of the other version", call{version: "1.0", method: "message/send", params: "{}"}, -32601},
			{"a version that is not spoken", call{version: "2.0", method: "GetTask", params: "{}"}, -32009},
			{"no message", call{version: "1.0", method: "SendMessage", params: "{}"}, -32602},
			{"params of another form", call{version: "1.0", method: "SendMessage", params: `{"message":7}`}, -32602},
			{"no id", call{version: "1.0", method: "SendMessage", params: `{"message":{` + parts + `}}`}, -32602},
			{"no parts", call{version: "1.0", method: "SendMessage", params: `{"message":{"messageId":"m","role":"ROLE_USER","parts":[]}}`}, -32602},
			{"an empty text", call{version: "1.0", method: "SendMessage", params: `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":" "}]}}`}, -32602},
			{"another role", call{version: "1.0", method: "SendMessage", params: `{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"x"}]}}`}, -32602},
			{"a file", call{version: "1.0", method: "SendMessage", params: `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"raw":"eA=="}]}}`}, -32005},
			{"a file of 0.3", call{method: "message/send", params: `{"message":{"messageId":"m","role":"user","parts":[{"kind":"file","file":{"uri":"http://x"}}]}}`}, -32005},
			{"an agent that is not there", call{version: "1.0", target: "nobody", method: "SendMessage", params: `{"message":{"messageId":"m",` + parts + `}}`}, -32602},
			{"no agent", call{version: "1.0", target: "-", method: "SendMessage", params: `{"message":{"messageId":"m",` + parts + `}}`}, -32602},
			{"a push with the message", call{version: "1.0", method: "SendMessage", params: `{"configuration":{"taskPushNotificationConfig":{"url":"http://x"}},"message":{"messageId":"m",` + parts + `}}`}, -32003},
			{"a push with the message in 0.3", call{method: "message/send", params: `{"configuration":{"pushNotificationConfig":{"url":"http://x"}},"message":{"messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]}}`}, -32003},
			{"to make a push", call{version: "1.0", method: "CreateTaskPushNotificationConfig", params: "{}"}, -32003},
			{"to get a push", call{version: "1.0", method: "GetTaskPushNotificationConfig", params: "{}"}, -32003},
			{"to list pushes", call{version: "1.0", method: "ListTaskPushNotificationConfigs", params: "{}"}, -32003},
			{"to delete a push", call{version: "1.0", method: "DeleteTaskPushNotificationConfig", params: "{}"}, -32003},
			{"to set a push in 0.3", call{method: "tasks/pushNotificationConfig/set", params: "{}"}, -32003},
			{"to get a push in 0.3", call{method: "tasks/pushNotificationConfig/get", params: "{}"}, -32003},
			{"to list pushes in 0.3", call{method: "tasks/pushNotificationConfig/list", params: "{}"}, -32003},
			{"to delete a push in 0.3", call{method: "tasks/pushNotificationConfig/delete", params: "{}"}, -32003},
			{"an extended card", call{version: "1.0", method: "GetExtendedAgentCard", params: "{}"}, -32004},
			{"an extended card of 0.3", call{method: "agent/getAuthenticatedExtendedCard", params: "{}"}, -32007},
			{"no task", call{version: "1.0", method: "GetTask", params: `{"id":"x"}`}, -32001},
			{"a list in 0.3", call{method: "tasks/list", params: "{}"}, -32601},
			{"a page that is too long", call{version: "1.0", method: "ListTasks", params: `{"pageSize":101}`}, -32602},
		} {
			if got := s.call(t, row.call); got.Error.Code != row.want || got.Error.Message == "" || len(got.Error.Data) == 0 {
				t.Errorf("%s: %s, want %d", row.name, got.text, row.want)
			}
		}
		if list, err := s.as("api").Peek(t.Context(), c3po.GetMessagesInput{}); err != nil || list.Count != 0 {
			t.Errorf("the agent got %d of them, %v", list.Count, err)
		}
		for body, want := range map[string]int{"{": -32700, "[]": -32600, `{"jsonrpc":"1.0","id":1,"method":"GetTask"}`: -32600, `{"jsonrpc":"2.0","method":"GetTask"}`: -32600} {
			r := call{version: "1.0"}.request(t.Context())
			r.Body = http.NoBody
			w := httptest.NewRecorder()
			other := httptest.NewRequestWithContext(t.Context(), "POST", r.URL.Path, strings.NewReader(body))
			other.Header = r.Header
			s.ServeHTTP(w, other)
			if !strings.Contains(w.Body.String(), fmt.Sprintf(`"code":%d`, want)) || w.Code != http.StatusOK {
				t.Errorf("%s: %d %s, want %d", body, w.Code, w.Body, want)
			}
		}
	})
}

func TestTheHostTakesTheAgentFromTheTenant(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "box/api")
		got := s.call(t, call{version: "1.0", target: "-", method: "SendMessage", params: `{"tenant":"box/api","message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":{"n":1}}]}}`})
		if id := got.task(t).ID; !strings.HasPrefix(id, "bot::box/api::") {
			t.Errorf("it is %s", got.text)
		}
		if asked := s.read(t, "box/api"); asked.ContentType != "application/json" || asked.Text() != `{"n":1}` {
			t.Errorf("the agent was asked %+v", asked)
		}
		for _, target := range []string{"box%2Fapi", "box/api"} {
			c := ask("m-"+target, "And now?")
			c.target = target
			if id := s.call(t, c).task(t).ID; !strings.HasPrefix(id, "bot::box/api::") {
				t.Errorf("at %s it is %s", target, id)
			}
		}
	})
}

func TestAnyMemberOfAQueueTakesItsTask(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "ann", "review")
		c := ask("m-1", "Please review.")
		c.target = "role:review"
		id := s.call(t, c).task(t).ID
		if _, err := s.as("ann").Claim(t.Context(), c3po.MessageInput{MessageID: c3po.MessageID(id)}); err != nil {
			t.Fatal(err)
		}
		s.reply(t, "ann", c3po.MessageID(id), "Looks good.")
		c = get(id)
		c.target = "role:review"
		if got := s.call(t, c).task(t); got.Status.State != "TASK_STATE_COMPLETED" || got.Artifacts[0].Parts[0].Text != "Looks good." {
			t.Errorf("it is %+v", got)
		}
	})
}

func TestTheHistoryHasTheIDThatTheCallerGaveItsMessage(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		first := s.call(t, ask("first-1", "One?")).task(t)
		for id, message := range map[string]string{
			"second-2":               fmt.Sprintf(`"messageId":"second-2","contextId":%q`, first.ContextID),
			"third-3":                `"messageId":"third-3","contextId":"mine"`,
			"fourth-4":               `"messageId":"fourth-4","metadata":{"a2a_message_id":"another"}`,
			strings.Repeat("5", 200): `"messageId":"` + strings.Repeat("5", 200) + `"`,
		} {
			sent := s.call(t, call{version: "1.0", method: "SendMessage", params: fmt.Sprintf(`{"message":{%s,"role":"ROLE_USER","parts":[{"text":"And %s?"}]}}`, message, id)})
			for _, got := range []task{sent.task(t), s.call(t, get(sent.task(t).ID)).task(t)} {
				if len(got.History) != 1 || got.History[0].MessageID != id {
					t.Errorf("the history of %s is %+v", id, got.History)
				}
			}
		}
	})
}

func TestTheSameTextCountsAsForAgents(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		s.call(t, ask("m-1", "Deploy?")).task(t)
		s.call(t, ask("m-2", "Deploy?")).task(t)
		if third := s.call(t, ask("m-3", "Deploy?")); !strings.Contains(third.text, "BUDGET_SPENT") {
			t.Errorf("the third is answered %s", third.text)
		}
		if again := s.call(t, ask("m-2", "Deploy?")); again.Error.Code != 0 {
			t.Errorf("the repeat of the second is answered %s", again.text)
		}
	})
}
