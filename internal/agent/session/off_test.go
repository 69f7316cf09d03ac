package session_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
)

// Nobody gives the session a prompt after that, so no hook says that it is there.
func TestASessionThatBeginsWhileC3POIsOffIsReachedOnceItIsOn(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "run-1")
	r.off.Store(true)
	r.hook(hook.Event{Name: hook.SessionStart, SessionID: "s1", Source: "startup"})
	r.as("api").Ping(t.Context(), c3po.None{})
	r.send("web", "<i>Which port?</i>")
	r.off.Store(false)
	// Whoever runs a monitor would be there a little later in any case.
	eventually(t, "senders see that it is there", func() bool { return r.agents()["api"].Reachability == c3po.ReachPersonReturns })
	r.hears(r.monitor(), "switched on", "c3po: 1 new message")
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
			all := session.Instances(t.Context(), filepath.Dir(r.socket))
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

// The commands are refused where an agent runs, so the person types the word there.
func TestThePersonSwitchesC3POOffAndOnInTheSession(t *testing.T) {
	t.Parallel()
	url := coordinator(t).URL()
	for _, scripted := range []bool{false, true} {
		var said []string
		r := startAs(t, url, fmt.Sprint("run-", scripted), func(cfg *session.Config) {
			cfg.Unattended = scripted
			cfg.Switch = func(on, everywhere bool) error {
				said = append(said, fmt.Sprint(on, everywhere))
				return nil
			}
		})
		for _, prompt := range []string{
			"/c3po:coordinate off", "/c3po:coordinate off all", "/c3po:coordinate on", "/c3po:coordinate on all",
			"/c3po:coordinate status", "please c3po off", "c3po: /c3po:coordinate off",
		} {
			r.types(prompt)
		}
		want := []string{"false false", "false true", "true false", "true true"}
		if scripted {
			want = nil // a script is no person
		}
		if !slices.Equal(said, want) {
			t.Errorf("in a script %v: switched %q, want %q", scripted, said, want)
		}
	}
}
