package runner

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
)

// A coordinator that holds no wait is asked without one, and mail of an agent that is
// paused starts nothing.
func TestMailFiresOnceNobodyHasPausedTheAgent(t *testing.T) {
	t.Parallel()
	var looks atomic.Int32
	coordinator := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in c3po.PendingInput
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		if in.Timeout > 0 {
			w.WriteHeader(http.StatusForbidden)
			_ = json.NewEncoder(w).Encode(c3po.Errorf(c3po.Forbidden, "nobody waits here"))
			return
		}
		why := "lunch"
		if looks.Add(1) > 1 {
			why = ""
		}
		_ = json.NewEncoder(w).Encode(c3po.Pending{Count: 1, Messages: []c3po.Message{{ID: "web::api::0000002a", Seq: 1}}, Paused: &why, Seq: 1})
	}))
	defer coordinator.Close()
	r := New(Config{Log: slog.New(slog.DiscardHandler)})
	c := client.New(client.Config{URL: coordinator.URL, AgentID: "api"})
	fired := make(chan firing, 1)
	go func() {
		if f, ok := r.mailWatch(c)(t.Context()); ok {
			fired <- f
		}
	}()
	select {
	case f := <-fired:
		if f.why != "mail" || !slices.Equal(f.mail, []c3po.MessageID{"web::api::0000002a"}) || looks.Load() != 2 {
			t.Errorf("%+v fired after %d looks", f, looks.Load())
		}
		if !allUntouched(t.Context(), c, f.mail) || allUntouched(t.Context(), c, []c3po.MessageID{"web::api::0000002b"}) {
			t.Error("what is still there is not told from what is gone")
		}
	case <-time.After(time.Minute):
		t.Fatal("mail never fired")
	}
}
