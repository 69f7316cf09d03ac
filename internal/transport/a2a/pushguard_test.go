package a2a_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// An address that a caller names is called from inside the network, so that it must not
// lead there.
func TestAnAddressOfTheOwnNetworkIsRefused(t *testing.T) {
	t.Parallel()
	p := newPost(t, auth.None)
	p.away(t, "api")
	task := p.call(t, call{version: "1.0", method: "SendMessage", params: `{"message":{"messageId":"m-0","role":"ROLE_USER","parts":[{"text":"Hello"}]}}`}).task(t)
	for _, address := range []string{
		"http://169.254.169.254/latest/meta-data/", "http://[fe80::1]/", "http://[::ffff:169.254.169.254]/", "http://10.0.0.1/", "http://127.0.0.2/", "http://0x7f000001/", "http://2130706433/",
		"file:///etc/passwd", "gopher://example.com/", "javascript:alert(1)", "http:///x", "", "x", "http://127.0.0.1:0/", "https://example.com/" + strings.Repeat("x", 3000),
	} {
		config := fmt.Sprintf(`{"url":%q,"taskId":%q}`, address, task.ID)
		if got := p.call(t, asks("1.0", "m-"+address[:min(20, len(address))], config)); got.Error.Code != -32602 {
			t.Errorf("a message with %s: %s", address, got.text)
		}
		if got := p.call(t, call{version: "1.0", method: "CreateTaskPushNotificationConfig", params: config}); got.Error.Code != -32602 {
			t.Errorf("%s: %s", address, got.text)
		}
		if got := p.call(t, call{method: "tasks/pushNotificationConfig/set", params: fmt.Sprintf(`{"taskId":%q,"pushNotificationConfig":{"url":%q}}`, task.ID, address)}); got.Error.Code != -32602 {
			t.Errorf("%s in 0.3: %s", address, got.text)
		}
	}
	for _, config := range []string{
		`{"url":"https://example.com/","token":"a\r\nHost: b"}`, `{"url":"https://example.com/","authentication":{"scheme":"Bearer","credentials":"a\nb"}}`,
		`{"url":"https://example.com/","authentication":{"scheme":"Be arer","credentials":"a"}}`, `{"url":"https://example.com/","authentication":{"credentials":"a"}}`, `{"url":7}`,
	} {
		if got := p.call(t, asks("1.0", "n", config)); got.Error.Code != -32602 {
			t.Errorf("%s: %s", config, got.text)
		}
	}
	mail, err := p.as("api").GetMessages(t.Context(), c3po.GetMessagesInput{})
	if err != nil || len(mail.Messages) != 1 {
		t.Errorf("what was refused was sent: %v, %v", mail.Messages, err)
	}
}

// A name is judged when it is looked up, and where a receiver sends us we do not go.
func TestNoNameAndNoRedirectLeadsIntoTheOwnNetwork(t *testing.T) {
	t.Parallel()
	inside := newReceiver(t, nil)
	redirects := newReceiver(t, func(w http.ResponseWriter, _ int) {
		w.Header().Set("Location", inside.URL)
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	p := newPost(t, auth.None)
	p.pusher.Patience = time.Millisecond
	stop := p.run(t)
	p.away(t, "api")
	led := p.call(t, asks("1.0", "m-1", fmt.Sprintf(`{"url":%q}`, redirects.URL))).task(t)
	p.answers(t, "api")
	redirects.hears(t, led.ID, "TASK_STATE_COMPLETED")
	stop()

	closed := p.next("two", auth.None)
	closed.pusher.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.9/32")}
	_, port, _ := strings.Cut(strings.TrimPrefix(inside.URL, "http://"), ":")
	closed.call(t, asks("1.0", "m-2", fmt.Sprintf(`{"url":"http://localhost:%s/"}`, port))).task(t)
	closed.answers(t, "api")
	closed.run(t)
	if !faultrig.Within(soon, func() bool { return strings.Contains(closed.log.String(), "is an address of this machine") }) {
		t.Errorf("the log is %s", closed.log)
	}
	if got := inside.all(); len(got) != 0 {
		t.Errorf("it was led to %d posts", len(got))
	}
}

func TestReceiversThatHangHoldUpNobody(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	hangs := newReceiver(t, func(w http.ResponseWriter, n int) {
		if n%10 == 1 {
			_, _ = w.Write([]byte(strings.Repeat("x", 10<<20)))
			return
		}
		<-release
	})
	t.Cleanup(func() { close(release) }) // before the server is closed
	p := newPost(t, auth.None)
	p.run(t)
	p.away(t, "api")
	for i := range 90 { // more than are told at once
		c := asks("1.0", fmt.Sprintf("h-%d", i), fmt.Sprintf(`{"url":%q}`, hangs.URL))
		c.as = "hostile"
		p.call(t, c).task(t)
	}
	p.answers(t, "api")
	if !faultrig.Within(soon, func() bool { return len(hangs.all()) > 0 }) {
		t.Fatal("it was never called")
	}
	r := newReceiver(t, nil)
	start := time.Now()
	sent := p.call(t, asks("1.0", "m-1", fmt.Sprintf(`{"url":%q}`, r.URL))).task(t)
	p.answers(t, "api")
	r.hears(t, sent.ID, "TASK_STATE_COMPLETED")
	took := time.Since(start)
	t.Logf("asked, answered and told in %v beside receivers that hang", took)
	faultrig.Hold(t, "a push beside receivers that hang", took, 3*time.Second)
}

// token makes a caller with a separate token for one agent.
func (p post) token(t *testing.T, pattern string) (kid string, as func(c call) answer) {
	t.Helper()
	made, err := p.keeper.Mint(t.Context(), auth.Grant{Role: c3po.RoleAgent, Spaces: []string{"main"}, Pattern: pattern})
	if err != nil {
		t.Fatal(err)
	}
	return made.KID, p.with(t, made.Secret)
}

// with makes a caller that shows a token.
func (p post) with(t *testing.T, secret string) func(c call) answer {
	return func(c call) answer {
		t.Helper()
		r := c.request(t.Context())
		r.Header.Del("X-Agent-ID")
		r.Header.Set("Authorization", "Bearer "+secret)
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		got := answer{text: w.Body.String()}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		return got
	}
}

func TestAConfigIsForWhoMadeIt(t *testing.T) {
	t.Parallel()
	p := newPost(t, auth.Tokens)
	p.away(t, "api")
	_, mine := p.token(t, "x*")
	_, twin := p.token(t, "x*") // it shares the name, and sees the task
	_, other := p.token(t, "y*")
	id := mine(asks("1.0", "m-1", `{"url":"https://example.com/hook","id":"c-1","token":"tok-1","authentication":{"scheme":"Bearer","credentials":"cred-1"}}`)).task(t).ID
	for name, test := range map[string]struct {
		ask        func(c call) answer
		code       int
		seen, left string
	}{
		"its maker":              {mine, 0, `"url":"https://example.com/hook"`, "c-1"},
		"another token":          {other, -32001, "", ""},
		"a token that shares it": {twin, -32001, "", ""},
	} {
		got := test.ask(call{version: "1.0", method: "GetTaskPushNotificationConfig", params: fmt.Sprintf(`{"taskId":%q,"id":"c-1"}`, id)})
		list := test.ask(call{version: "1.0", method: "ListTaskPushNotificationConfigs", params: fmt.Sprintf(`{"taskId":%q}`, id)})
		old := test.ask(call{method: "tasks/pushNotificationConfig/get", params: fmt.Sprintf(`{"id":%q,"pushNotificationConfigId":"c-1"}`, id)})
		if got.Error.Code != test.code || old.Error.Code != test.code || !strings.Contains(string(got.Result), test.seen) || !strings.Contains(string(list.Result), test.left) {
			t.Errorf("%s gets %s, %s and lists %s", name, got.text, old.text, list.text)
		}
		for _, answer := range []answer{got, list, old} {
			if strings.Contains(answer.text, "tok-1") || strings.Contains(answer.text, "cred-1") || test.code != 0 && strings.Contains(answer.text, "example.com") {
				t.Errorf("%s is shown %s", name, answer.text)
			}
		}
		if test.code == 0 {
			continue
		}
		remove := test.ask(call{version: "1.0", method: "DeleteTaskPushNotificationConfig", params: fmt.Sprintf(`{"taskId":%q,"id":"c-1"}`, id)})
		set := test.ask(call{version: "1.0", method: "CreateTaskPushNotificationConfig", params: fmt.Sprintf(`{"taskId":%q,"id":"c-1","url":"https://evil.example.com/"}`, id)})
		if set.Error.Code == 0 {
			t.Errorf("%s replaces it: %s %s", name, set.text, remove.text)
		}
	}
	kept, err := p.store.Callbacks(t.Context(), auth.CallbackTask{Space: "main", Task: c3po.MessageID(id)})
	if err != nil || len(kept) != 1 || kept[0].URL != "https://example.com/hook" || kept[0].Credentials != "cred-1" {
		t.Errorf("what others did left %+v, %v", kept, err)
	}
}

func TestConfigsAreKeptListedAndForgotten(t *testing.T) {
	t.Parallel()
	p := newPost(t, auth.None)
	p.away(t, "api")
	id := p.call(t, asks("1.0", "m-1", `{"url":"https://example.com/0"}`)).task(t).ID
	for i := range 3 {
		method, params := "CreateTaskPushNotificationConfig", `{"taskId":%q,"id":"c-%d","url":"https://example.com/c"}`
		version := "1.0"
		if i == 2 {
			method, params, version = "tasks/pushNotificationConfig/set", `{"taskId":%q,"pushNotificationConfig":{"id":"c-%d","url":"https://example.com/c"}}`, ""
		}
		for range 2 { // a repeat is the same
			if got := p.call(t, call{version: version, method: method, params: fmt.Sprintf(params, id, i)}); !strings.Contains(string(got.Result), fmt.Sprintf(`"id":"c-%d"`, i)) {
				t.Errorf("stored, it is %s", got.text)
			}
		}
	}
	if got := p.call(t, call{version: "1.0", method: "CreateTaskPushNotificationConfig", params: fmt.Sprintf(`{"taskId":%q,"id":"c-9","url":"https://example.com/c"}`, id)}); got.Error.Code != -32602 || !strings.Contains(got.Error.Message, "at most 4") {
		t.Errorf("a fifth one: %s", got.text)
	}
	count := func(want int) {
		t.Helper()
		var now struct{ Configs []json.RawMessage }
		var before []json.RawMessage
		list := p.call(t, call{version: "1.0", method: "ListTaskPushNotificationConfigs", params: fmt.Sprintf(`{"taskId":%q}`, id)})
		old := p.call(t, call{method: "tasks/pushNotificationConfig/list", params: fmt.Sprintf(`{"id":%q}`, id)})
		if json.Unmarshal(list.Result, &now) != nil || json.Unmarshal(old.Result, &before) != nil || len(now.Configs) != want || len(before) != want {
			t.Errorf("listed are %s and %s", list.text, old.text)
		}
	}
	count(4)
	card := httptest.NewRecorder()
	p.ServeHTTP(card, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/.well-known/agent-card.json", nil))
	if !strings.Contains(card.Body.String(), `"pushNotifications":true`) {
		t.Errorf("the card says %s", card.Body)
	}
	for range 2 {
		if got := p.call(t, call{version: "1.0", method: "DeleteTaskPushNotificationConfig", params: fmt.Sprintf(`{"taskId":%q,"id":"c-0"}`, id)}); string(got.Result) != "{}" {
			t.Errorf("deleted: %s", got.text)
		}
	}
	if got := p.call(t, call{method: "tasks/pushNotificationConfig/delete", params: fmt.Sprintf(`{"id":%q,"pushNotificationConfigId":"c-1"}`, id)}); !strings.Contains(got.text, `"result":null`) {
		t.Errorf("deleted in 0.3: %s", got.text)
	}
	count(2)
	if got := p.call(t, call{version: "1.0", method: "GetTaskPushNotificationConfig", params: fmt.Sprintf(`{"taskId":%q,"id":"c-0"}`, id)}); got.Error.Code != -32001 {
		t.Errorf("one that was deleted: %s", got.text)
	}
	if got := p.call(t, call{version: "1.0", method: "ListTaskPushNotificationConfigs", params: `{"taskId":"no::such::00000000"}`}); got.Error.Code != -32001 {
		t.Errorf("of a task that is not there: %s", got.text)
	}
}

func TestWhoseTokenHasEndedIsToldNothing(t *testing.T) {
	t.Parallel()
	p := newPost(t, auth.Tokens)
	p.away(t, "api")
	kid, ended := p.token(t, "crm")
	_, lives := p.token(t, "web")
	rotated, mine := p.token(t, "box")
	r := newReceiver(t, nil)
	config := fmt.Sprintf(`{"url":%q}`, r.URL)
	lost, told, still := ended(asks("1.0", "m-1", config)).task(t), lives(asks("1.0", "m-2", config)).task(t), mine(asks("1.0", "m-3", config)).task(t)
	admin := c3po.Caller{Space: c3po.DefaultSpace, Role: c3po.RoleAdmin}
	if _, err := p.keeper.RotateToken(t.Context(), admin, rotated); err != nil {
		t.Fatal(err)
	}
	for _, one := range []string{kid, rotated} {
		if _, err := p.keeper.RevokeToken(t.Context(), admin, one); err != nil {
			t.Fatal(err)
		}
	}
	p.answers(t, "api")
	p.run(t)
	r.hears(t, told.ID, "TASK_STATE_COMPLETED")
	r.hears(t, still.ID, "TASK_STATE_COMPLETED")
	if !faultrig.Within(soon, func() bool {
		open, _, err := p.store.OpenCallbacks(t.Context(), 0)
		return err == nil && len(open) == 0
	}) {
		t.Error("some are watched for ever")
	}
	if states := r.states(lost.ID); len(states) != 0 {
		t.Errorf("whose token was revoked was told %v", states)
	}
}
