package a2a_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

func TestACardSaysWhatKindOfAgentItIs(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		for kind, want := range map[string]string{
			"opencode": "x, an opencode agent in c3po. ", "codex": "x, a codex agent in c3po. ",
		} {
			if _, err := s.as("x").RegisterAgent(t.Context(), c3po.RegisterInput{Type: kind}); err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/a2a/x/.well-known/agent-card.json", nil)
			r.Header.Set("X-Agent-ID", "bot")
			w := httptest.NewRecorder()
			if s.ServeHTTP(w, r); !strings.Contains(w.Body.String(), want) {
				t.Errorf("of the type %s it is: %s", kind, w.Body)
			}
		}
	})
}

func TestEveryAgentAndQueueHasACard(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "box/api", "review")
		for _, row := range []struct{ path, version, golden string }{
			{"/a2a/box%2Fapi/.well-known/agent-card.json", "1.0", "card-1.0"},
			{"/a2a/box%2Fapi/.well-known/agent-card.json", "", "card-0.3"},
			{"/a2a/role:review/.well-known/agent-card.json", "1.0", "card-queue-1.0"},
			{"/.well-known/agent-card.json", "1.0", "card-host-1.0"},
		} {
			r := httptest.NewRequestWithContext(t.Context(), "GET", row.path, nil)
			r.Header.Set("A2A-Version", row.version)
			r.Header.Set("X-Agent-ID", "bot")
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if w.Code != 200 {
				t.Errorf("%s: %d %s", row.path, w.Code, w.Body)
				continue
			}
			golden(t, row.golden, w.Body.Bytes())
			r.Header.Set("If-None-Match", w.Header().Get("ETag"))
			again := httptest.NewRecorder()
			if s.ServeHTTP(again, r); again.Code != 304 {
				t.Errorf("%s has not changed, and is answered with %d", row.path, again.Code)
			}
		}
		for path, want := range map[string]int{
			"/a2a/nobody/.well-known/agent-card.json":    404,
			"/a2a/role:none/.well-known/agent-card.json": 404,
			"/a2a/box%2Fapi/elsewhere":                   404,
			"/a2a/%00/.well-known/agent-card.json":       400,
		} {
			w := httptest.NewRecorder()
			if s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", path, nil)); w.Code != want {
				t.Errorf("%s: %d %s, want %d", path, w.Code, w.Body, want)
			}
		}
	})
}
