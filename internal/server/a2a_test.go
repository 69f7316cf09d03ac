package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// asksA2A calls a method of A2A 1.0 with nothing but a token, as its clients do.
func asksA2A(ctx context.Context, url, token, method, params string) (status int, text string, err error) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "A2A-Version": "1.0", "Authorization": "Bearer " + token} {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(all), err
}

func TestACallerOfA2AIsWhoItsTokenIsForAndSeesItsOwnTasksOnly(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, redistest.Start(t), server.Config{})
	token := func(pattern string, spaces ...string) string {
		return g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: pattern, Spaces: spaces}).Secret
	}
	api := client.New(client.Config{URL: g.url, Token: token("api"), AgentID: "api"})
	if _, err := api.RegisterAgent(t.Context(), c3po.RegisterInput{}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.Unregister(t.Context(), c3po.None{}); err != nil {
		t.Fatal(err)
	}
	at := g.url + "/a2a/api"
	crm, shop, wide, elsewhere := token("crm"), token("shop"), token("box/*"), token("crm", "elsewhere")
	const ask = `{"message":{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"Deploy?"}]}}`
	status, text, err := asksA2A(t.Context(), at, crm, "SendMessage", ask)
	var sent struct {
		Result struct{ Task struct{ ID string } }
	}
	if err != nil || status != http.StatusOK || json.Unmarshal([]byte(text), &sent) != nil || !strings.HasPrefix(sent.Result.Task.ID, "crm::api::") {
		t.Fatalf("%d %v %s", status, err, text)
	}
	if _, text, err := asksA2A(t.Context(), at, wide, "SendMessage", ask); err != nil || !strings.Contains(text, `"id":"box/a2a::api::`) {
		t.Errorf("of a token for several names: %v %s", err, text)
	}
	if _, text, err := asksA2A(t.Context(), at, elsewhere, "SendMessage", ask); err != nil || !strings.Contains(text, "AGENT_NOT_FOUND") {
		t.Errorf("in another space: %v %s", err, text)
	}
	task := fmt.Sprintf(`{"id":%q}`, sent.Result.Task.ID)
	for name, other := range map[string]string{"another caller": shop, "who was asked": token("api"), "another space": elsewhere} {
		for _, method := range []string{"GetTask", "CancelTask", "SubscribeToTask"} {
			if _, text, err := asksA2A(t.Context(), at, other, method, task); err != nil || !strings.Contains(text, "TASK_NOT_FOUND") {
				t.Errorf("%s of %s: %v %s", method, name, err, text)
			}
		}
		want := `"tasks":[]`
		if other == elsewhere {
			want = "AGENT_NOT_FOUND" // as when it asks it
		}
		if _, text, err := asksA2A(t.Context(), at, other, "ListTasks", "{}"); err != nil || !strings.Contains(text, want) {
			t.Errorf("%s lists %v %s", name, err, text)
		}
	}
	if _, text, err := asksA2A(t.Context(), at, crm, "GetTask", task); err != nil || !strings.Contains(text, "TASK_STATE_SUBMITTED") {
		t.Errorf("its asker: %v %s", err, text)
	}
	observer := g.mint(t, auth.Grant{Role: c3po.RoleObserver}).Secret
	if _, text, err := asksA2A(t.Context(), at, observer, "GetTask", task); err != nil || !strings.Contains(text, "TASK_STATE_SUBMITTED") {
		t.Errorf("an observer, who may read all: %v %s", err, text)
	}
	if status, text, err := asksA2A(t.Context(), at, observer, "CancelTask", task); err != nil || status != http.StatusForbidden {
		t.Errorf("an observer cancels: %d %v %s", status, err, text)
	}
	if status, text, err := asksA2A(t.Context(), at, "nonsense", "GetTask", task); err != nil || status != http.StatusUnauthorized || !strings.Contains(text, `"jsonrpc":"2.0"`) {
		t.Errorf("without a token: %d %v %s", status, err, text)
	}
}
