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

// The answer to a call that stores something is lost, and its repeat is refused by somebody
// who did not look the key up.
func TestACallThatMayHaveStoredSomethingIsNotCalledRefused(t *testing.T) {
	t.Parallel()
	for operation, args := range map[string][]string{
		"send_message": {"send", "bob", "hi"},
		"reply":        {"reply", "bob::ann::0a1b2c3d", "yes"},
		"room_post":    {"room", "post", "hall", "hi"},
	} {
		for _, code := range []c3po.Code{
			c3po.InvalidRequest, c3po.Unauthorized, c3po.Forbidden, c3po.ProofRequired, c3po.AgentNotFound, c3po.TicketNotFound, c3po.KeyConflict,
			c3po.AgentUnavailable, c3po.RateLimited, c3po.BudgetSpent, c3po.InboxFull, c3po.RedisUnavailable, c3po.StoreFull, c3po.UnknownOutcome,
			c3po.Superseded, c3po.CoordDown, c3po.Internal,
		} {
			t.Run(operation+" "+string(code), func(t *testing.T) {
				t.Parallel()
				var calls atomic.Int32
				coordinator := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					if strings.HasSuffix(r.URL.Path, "/"+operation) && calls.Add(1) == 1 {
						panic(http.ErrAbortHandler)
					}
					code := code
					if !strings.HasSuffix(r.URL.Path, "/"+operation) {
						code = c3po.InvalidRequest // whether the agent is known
					}
					w.WriteHeader(code.Status())
					_ = json.NewEncoder(w).Encode(c3po.Errorf(code, "refused").Suggest("Nothing was done."))
				}))
				t.Cleanup(coordinator.Close)
				said := speak(t, coordinator.URL, args)
				if calls.Load() < 2 {
					t.Fatalf("it was not repeated: %s", said)
				}
				// What a coordinator itself leaves open is shown in its own words.
				if code != c3po.UnknownOutcome && (strings.Contains(said, "Nothing was done") || !strings.Contains(said, "may have")) {
					t.Errorf("it says %q", said)
				}
			})
		}
	}
}
