package client_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

func TestAnAnswerToATicketIsRepeatedUntilItIsKnownToBeStored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stored := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }
		s := newScript(t, hangsUp, refuses(c3po.Errorf(c3po.UnknownOutcome, "lost")), refuses(c3po.Errorf(c3po.RedisUnavailable, "gone")), stored)
		in := dialect.Reply{TicketID: "uuid-1", Payload: dialect.Payload{Text: `{"ok":true}`, JSON: true}}
		if err := s.client(t, client.Config{}).PostReply(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		calls := s.requests()
		if len(calls) != 4 {
			t.Fatalf("%d attempts, want 4", len(calls))
		}
		// The coordinator knows the repeat by its being the same.
		want := map[string]any{"ticketId": "uuid-1", "payload": map[string]any{"ok": true}}
		for _, call := range calls {
			if diff := cmp.Diff(want, call.body); call.path != "/replies" || diff != "" {
				t.Errorf("%s (-want +got):\n%s", call.path, diff)
			}
		}
	})
}
