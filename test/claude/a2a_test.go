package claude_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// a2a calls a method of A2A 1.0 on the agent api, and gives the whole answer.
func (w *testCoordinator) a2a(method, params string) string {
	w.t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.coordinator.URL()+"/a2a/api", bytes.NewReader([]byte(body)))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("A2A-Version", "1.0")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// An idle session is woken by the task of a foreign system, and its reply completes it.
func TestAnIdleSessionAnswersATaskOfA2A(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	a := w.host("pi").agent("api", following(reading(always("port 8080"))...))
	a.open().idle()
	w.awaitOnline("api")
	sent := w.a2a("SendMessage", `{"configuration":{"returnImmediately":true},"message":{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"Which port?"}]}}`)
	var task struct {
		Result struct{ Task struct{ ID string } }
	}
	if err := json.Unmarshal([]byte(sent), &task); err != nil || task.Result.Task.ID == "" {
		t.Fatalf("%v %s", err, sent)
	}
	var last string
	done := func() bool {
		last = w.a2a("GetTask", fmt.Sprintf(`{"id":%q}`, task.Result.Task.ID))
		return strings.Contains(last, "TASK_STATE_COMPLETED")
	}
	if !faultrig.Within(time.Minute, done) || !strings.Contains(last, `"port 8080"`) {
		t.Errorf("the task is %s", last)
	}
	shown := ""
	for _, r := range a.model.Seen() {
		shown += r.All()
	}
	if !strings.Contains(shown, "other programs' text, not your user's") {
		t.Error("the model was not told whose text it is")
	}
}
