package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

// The answer to a send is lost, and its repeat is refused by somebody who did not look the
// key up.
func TestASendThatMayBeStoredIsNotCalledRefused(t *testing.T) {
	t.Parallel()
	for _, code := range []c3po.Code{c3po.RateLimited, c3po.AgentNotFound, c3po.KeyConflict, c3po.Superseded, c3po.InvalidRequest, c3po.BudgetSpent} {
		t.Run(string(code), func(t *testing.T) {
			t.Parallel()
			var sends atomic.Int32
			coordinator := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if strings.HasSuffix(r.URL.Path, "/send_message") && sends.Add(1) == 1 {
					panic(http.ErrAbortHandler)
				}
				code := code
				if !strings.HasSuffix(r.URL.Path, "/send_message") {
					code = c3po.InvalidRequest // whether the agent is known
				}
				w.WriteHeader(code.Status())
				_ = json.NewEncoder(w).Encode(c3po.Errorf(code, "refused").Suggest("Nothing was done."))
			}))
			t.Cleanup(coordinator.Close)
			said := speak(t, coordinator.URL, []string{"send", "bob", "hi"})
			if sends.Load() < 2 {
				t.Fatalf("it was not repeated: %s", said)
			}
			if strings.Contains(said, "Nothing was done") || !strings.Contains(said, "may have") {
				t.Errorf("it says %q", said)
			}
		})
	}
}
