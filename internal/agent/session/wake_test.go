package session_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
)

// A coordinator that lets nobody in for a while ends the connection for good, and
// the session process begins anew.
func TestAnIdleSessionIsWokenForWhatCameWhileItWasNotLetIn(t *testing.T) {
	t.Parallel()
	c := coordinator(t)
	var shut, out atomic.Bool
	door := doorTo(t, c.URL(), func(r *http.Request) {
		if shut.Load() {
			if strings.HasSuffix(r.URL.Path, "/register_agent") {
				out.Store(true) // it has noticed
			}
			r.URL.Path = "/nowhere"
		}
	})
	r := start(t, door.URL, "box:1:1")
	lines := make(chan string, 8)
	go func() {
		for t.Context().Err() == nil {
			_ = session.Listen(t.Context(), r.socket, nil, func(line string) { lines <- line })
		}
	}()
	r.prompt()
	r.hook(hook.Event{Name: hook.StopEvent, SessionID: "s1"})
	eventually(t, "it is attached", func() bool { return r.agents()["api"].Reachability == "now" })
	r.url = c.URL() // others are let in
	shut.Store(true)
	door.CloseClientConnections()
	eventually(t, "it is out", out.Load)
	r.send("web", "Are you there?")
	shut.Store(false)
	if line := <-lines; !strings.Contains(line, "| Are you there?") {
		t.Errorf("the monitor hears %q", line)
	}
}
