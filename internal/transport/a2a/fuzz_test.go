package a2a_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/store/storetest"
	"github.com/c3po-dev/c3po/internal/transport/a2a"
)

// Whatever is sent, the answer is JSON or a stream of it, and never a fault of ours.
func FuzzRequest(f *testing.F) {
	for _, v := range versions {
		f.Add(v.header, "api", `{"jsonrpc":"2.0","id":1,"method":"`+v.send+`","params":{"message":`+v.message+`}}`)
		f.Add(v.header, "role:review", `{"jsonrpc":"2.0","id":"x","method":"`+v.get+`","params":{"id":"bot::api::00000000","historyLength":-1}}`)
	}
	f.Add("1.0", "", `{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"pageToken":"!","status":"x","statusTimestampAfter":"2026-01-01T00:00:00Z"}}`)
	f.Add("1.0", "%2f/x/", `{"jsonrpc":"2.0","id":-1,"method":"SubscribeToTask","params":[]}`)
	f.Add("9", ".well-known", `[`)
	f.Add("1.0", "api", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"\u0000","contextId":"\u2028","role":"ROLE_USER","metadata":[],"parts":[{"text":null,"data":null}]}}}`)
	h := hub.New(hub.Config{Store: storetest.NewModel(c3po.DefaultLimits())})
	if _, err := h.As(c3po.Caller{Space: c3po.DefaultSpace, ID: "api", Role: c3po.RoleAgent}).RegisterAgent(f.Context(), c3po.RegisterInput{Capabilities: []string{"review"}}); err != nil {
		f.Fatal(err)
	}
	handler := a2a.New(a2a.Config{Hub: h, Auth: auth.New(auth.Config{Mode: auth.None})})
	f.Fuzz(func(t *testing.T, version, target, body string) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/a2a/"+target, strings.NewReader(body))
		if err != nil {
			return // no address
		}
		r.Header.Set("A2A-Version", version)
		r.Header.Set("X-Agent-ID", "bot")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code >= http.StatusInternalServerError {
			t.Errorf("answer %d: %s", w.Code, w.Body)
		}
		for line := range strings.Lines(w.Body.String()) {
			if line = strings.TrimPrefix(strings.TrimSpace(line), "data: "); line != "" && line[0] != ':' && !json.Valid([]byte(line)) {
				t.Errorf("the answer is not JSON: %q", line)
			}
		}
	})
}
