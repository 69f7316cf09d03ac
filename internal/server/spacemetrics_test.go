package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// An observer of one space learns from the metrics nothing of another: neither
// that anybody writes there, nor how much.
func TestAnObserverOfOneSpaceCountsOnlyThatSpace(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, redistest.Start(t), server.Config{})
	scrape := func(spaces ...string) string {
		t.Helper()
		token := g.mint(t, auth.Grant{Role: c3po.RoleObserver, Spaces: spaces}).Secret
		status, text, err := call(t.Context(), http.DefaultClient, "GET", g.url+"/metrics", token, "")
		if err != nil || status != http.StatusOK {
			t.Fatalf("%v: %d %s, %v", spaces, status, text, err)
		}
		return text
	}
	before := scrape("quiet")
	writer := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "box/*"}).Secret
	for _, to := range []string{"box/b", "box/c", "box/d"} {
		g.as(t, writer, to, "register_agent", `{}`)
		g.as(t, writer, "box/a", "send_message", `{"target":"`+to+`","message":"secret plans"}`)
	}
	if after := scrape("quiet"); after != before || strings.Contains(after, "main") || !strings.Contains(after, "c3po_messages_pending 0\n") {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if own := scrape("main"); !strings.Contains(own, "c3po_messages_pending 3\n") || strings.Contains(own, "c3po_messages_accepted_total") {
		t.Errorf("of its own space it learns:\n%s", own)
	}
	if all := scrape("main", "*"); !strings.Contains(all, "c3po_messages_accepted_total{") || !strings.Contains(all, "c3po_waiters") {
		t.Errorf("who may see all spaces learns:\n%s", all)
	}
}
