package bridge_test

import (
	"path/filepath"
	"testing"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/agent/bridge"
	"github.com/c3po-dev/c3po/internal/agent/hook"
)

// Nobody gives the session a prompt after that, so no hook says that it is there.
func TestASessionThatBeginsWhileC3POIsOffIsReachedOnceItIsOn(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "run-1")
	r.off.Store(true)
	r.hook(hook.Event{Name: hook.SessionStart, SessionID: "s1", Source: "startup"})
	lines := r.monitor()
	r.as("api").Ping(t.Context(), c3po.None{})
	r.send("web", "<i>Which port?</i>")
	r.off.Store(false)
	r.hears(lines, "switched on", "c3po: 1 new message")
	eventually(t, "senders see it as idle", func() bool { return r.agents()["api"].State == c3po.SessionIdle })
}

// Hooks are answered with nothing while c3po is off, but what they show is so.
func TestATurnThatBeginsOrEndsWhileC3POIsOffIsKnownOnceItIsOn(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "run-1")
	lines := r.monitor()
	state := func(want c3po.SessionState) {
		t.Helper()
		eventually(t, "it is "+string(want), func() bool {
			all := bridge.Instances(t.Context(), filepath.Dir(r.socket))
			return len(all) == 1 && all[0].State == want
		})
	}
	r.prompt()
	r.hook(hook.Event{Name: hook.StopEvent, SessionID: "s1"})
	state(c3po.SessionIdle)
	r.off.Store(true)
	r.prompt()
	r.off.Store(false)
	state(c3po.SessionWorking)
	r.off.Store(true)
	r.send("web", "<i>Which port?</i>")
	r.knows("", 1)
	r.hook(hook.Event{Name: hook.StopEvent, SessionID: "s1"})
	r.off.Store(false)
	r.hears(lines, "switched on", "c3po: 1 new message")
}
