package session_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
)

// Until it is reported, an answer that the session has read counts as unread, and
// nobody may touch the session for hours.
func TestAReportThatFailsIsMadeAgain(t *testing.T) {
	t.Parallel()
	target, err := url.Parse(coordinator(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	var refuses atomic.Bool
	refused := make(chan struct{}, 8)
	proxy := httputil.NewSingleHostReverseProxy(target)
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuses.Load() && strings.HasSuffix(r.URL.Path, "/received") {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusInternalServerError)
			_ = json.NewEncoder(w).Encode(c3po.Errorf(c3po.Internal, "the disk is on fire").Suggest("Leave."))
			refused <- struct{}{}
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(door.Close)
	r := start(t, door.URL, "box:1:1")
	r.prompt()
	answering := r.as("web")
	if _, err := answering.Ping(t.Context(), c3po.None{}); err != nil {
		t.Fatal(err)
	}
	go func() {
		got, err := answering.WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 30})
		if err == nil {
			_, err = answering.Reply(t.Context(), c3po.ReplyInput{MessageID: got.ID, Response: "8080"})
		}
		if err != nil {
			t.Error(err)
		}
	}()
	if text, _ := r.call("u1", "send_message", map[string]any{"target": "web", "message": "Which port?", "wait_seconds": 30}); !strings.Contains(text, "| 8080") {
		t.Fatalf("the answer is %s", text)
	}
	refuses.Store(true)
	r.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1", ToolUseID: "u1"})
	<-refused
	refuses.Store(false)
	eventually(t, "the answer is acked", func() bool {
		pending, err := r.as("api").Pending(t.Context(), c3po.PendingInput{})
		return err == nil && pending.Count == 0
	})
}
