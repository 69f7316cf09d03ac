package a2a_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/transport/a2a"
)

// foreignWords are words of our other surfaces, which an A2A caller has never seen.
var foreignWords = regexp.MustCompile(`client_key|content_type|thread|list_agents|register_agent|c3po (up|join|invite|agents)`)

func send(message string) call {
	return call{version: "1.0", method: "SendMessage", params: `{"message":{"role":"ROLE_USER","parts":[{"text":"Hi?"}],` + message + `}}`}
}

func TestARefusalSpeaksOfWhatTheCallerHasSent(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		s.call(t, ask("m-1", "Deploy?")).task(t)
		for want, c := range map[string]call{
			"the messageId 'm-1' was used for another message":           ask("m-1", "Delete?"),
			"message.messageId has 1001 bytes, at most 1000 are allowed": ask(strings.Repeat("x", 1001), "Deploy?"),
			"contextId has 300 characters, at most 200 are allowed":      send(`"messageId":"m-2","contextId":"` + strings.Repeat("y", 300) + `"`),
			"mediaType has 305 characters, at most 100 are allowed":      send(`"messageId":"m-3","parts":[{"text":"Hi","mediaType":"text/` + strings.Repeat("y", 300) + `"}]`),
			"message.metadata has 30058 bytes, at most 4096 are allowed": send(`"messageId":"m-4","metadata":{"a":"` + strings.Repeat("y", 30000) + `"}`),
			"Agent 'nobody' not found":                                   {version: "1.0", target: "nobody", method: "SendMessage", params: send(`"messageId":"m-5"`).params},
			"no other agent has the role 'none'":                         {version: "1.0", target: "role:none", method: "SendMessage", params: send(`"messageId":"m-6"`).params},
		} {
			if got := s.call(t, c); got.Error.Message != want || foreignWords.MatchString(got.text) {
				t.Errorf("want %q, got %s", want, got.text)
			}
		}
	})
}

func TestAStrangerHearsWhichTokenToSend(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		handler := a2a.New(a2a.Config{Hub: s.hub, Auth: auth.New(auth.Config{Mode: auth.Tokens})})
		for _, r := range []*http.Request{ask("m-1", "Deploy?").request(t.Context()), httptest.NewRequest(http.MethodGet, a2a.Prefix+"api"+a2a.WellKnown, nil)} {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if text := w.Body.String(); w.Code != http.StatusUnauthorized || foreignWords.MatchString(text) || !strings.Contains(text, "Authorization: Bearer") {
				t.Errorf("%s %s: %d %s", r.Method, r.URL, w.Code, text)
			}
		}
	})
}

// Whom a card says not to be there nobody can ask either.
func TestWhoHasNoCardIsNotAsked(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		for _, name := range []string{"human", "system", "nobody", "role:none", "a%20b"} {
			card := httptest.NewRecorder()
			s.ServeHTTP(card, httptest.NewRequest(http.MethodGet, a2a.Prefix+name+a2a.WellKnown, nil))
			if card.Code < 400 {
				t.Errorf("%s has a card: %s", name, card.Body)
			}
			for _, c := range []call{
				{version: "1.0", target: name, method: "SendMessage", params: send(`"messageId":"m-1"`).params},
				{version: "1.0", target: "-", method: "SendMessage", params: strings.Replace(send(`"messageId":"m-2"`).params, "{", fmt.Sprintf(`{"tenant":%q,`, strings.ReplaceAll(name, "%20", " ")), 1)},
				{version: "1.0", target: name, method: "ListTasks", params: `{}`},
			} {
				if got := s.call(t, c); got.Error.Code != -32602 {
					t.Errorf("%s of %s: %s", c.method, name, got.text)
				}
			}
		}
		if inbox, err := s.hub.As(c3po.Caller{Space: c3po.DefaultSpace, ID: c3po.Human, Role: c3po.RoleHuman}).Peek(t.Context(), c3po.GetMessagesInput{}); err == nil && inbox.Count != 0 {
			t.Errorf("the person has %d messages", inbox.Count)
		}
	})
}

func TestAListIsAskedForWithAStateThatThereIs(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		s.call(t, ask("m-1", "Deploy?")).task(t)
		for status, want := range map[string]string{
			"TASK_STATE_SUBMITTED": `"totalSize":1`, "TASK_STATE_UNSPECIFIED": `"totalSize":1`, "": `"totalSize":1`, "TASK_STATE_REJECTED": `"totalSize":0`,
			"submitted": "status is not a state of a task", "NO": "status is not a state of a task",
		} {
			if got := s.call(t, call{version: "1.0", method: "ListTasks", params: fmt.Sprintf(`{"status":%q}`, status)}); !strings.Contains(got.text, want) {
				t.Errorf("status %q: %s", status, got.text)
			}
		}
	})
}
