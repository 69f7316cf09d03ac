package session_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

func TestNoHookSpeaksOfMailToASessionThatAScriptRuns(t *testing.T) {
	t.Parallel()
	c := coordinator(t)
	r := start(t, c.URL(), "box:1:1")
	r.as("api").Ping(t.Context(), c3po.None{})
	r.send("web", "Which port?")
	if _, err := r.as("web").SendMessage(t.Context(), c3po.SendInput{Target: "api", Message: "The disk is full", Priority: c3po.Urgent}); err != nil {
		t.Fatal(err)
	}
	begun := r.hook(hook.Event{Name: hook.SessionStart, SessionID: "s1", Source: "startup", Attended: "0"})
	eventually(t, "it is greeted", func() bool {
		if !strings.Contains(begun, "you are api") {
			begun = r.prompt()
		}
		return strings.Contains(begun, "you are api")
	})
	said := begun + r.prompt() + r.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1"}) + r.hook(hook.Event{Name: hook.StopEvent, SessionID: "s1"})
	if strings.Contains(said, "message") || strings.Contains(said, "Online") {
		t.Errorf("the script's session is told %s", said)
	}
	// The same with a person in front of it.
	told := r.hook(hook.Event{Name: hook.SessionStart, SessionID: "s2", Source: "startup", Attended: "1"})
	if !strings.Contains(told, "2 messages are not acked") {
		t.Errorf("the person's session is told %s", told)
	}
}

// Nobody sits before it, and it ends with its turn: what a slow coordinator could not
// say in time would wait for the next run.
func TestARunThatAnswersMailHearsOfItAtItsEndAlsoFromASlowCoordinator(t *testing.T) {
	t.Parallel()
	target, err := url.Parse(coordinator(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	var slow atomic.Bool
	forward := httputil.NewSingleHostReverseProxy(target)
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slow.Load() {
			faultrig.Pass(r.Context(), 100*time.Millisecond)
		}
		r.Host = target.Host
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(between.Close)
	r := startAs(t, between.URL, "box:1:1", func(cfg *session.Config) {
		cfg.Answers, cfg.Timeouts.Refresh = true, time.Millisecond // which only a run with a person keeps to
	})
	r.hook(hook.Event{Name: hook.SessionStart, SessionID: "s1", Source: "startup", Attended: "0"})
	eventually(t, "it is connected", func() bool {
		all := session.Instances(t.Context(), r.folder())
		return len(all) == 1 && all[0].Connected
	})
	slow.Store(true)
	r.send("web", "Which port?")
	if said := r.hook(hook.Event{Name: hook.StopEvent, SessionID: "s1"}); !strings.Contains(said, "get_messages") {
		t.Errorf("at its end it is told %s", said)
	}
}

// Whether a greeting comes in time depends on the machine, and the output of a script
// must not.
func TestARunThatPrintsWhatHooksSayIsGreetedOnlyOnceAPersonIsThere(t *testing.T) {
	t.Parallel()
	r := startAs(t, coordinator(t).URL(), "box:1:1", func(cfg *session.Config) { cfg.Dialect = hook.Kimi })
	said := r.hook(hook.Event{Name: hook.SessionStart, SessionID: "s1"})
	eventually(t, "it is connected", func() bool {
		all := session.Instances(t.Context(), r.folder())
		return len(all) == 1 && all[0].Connected
	})
	if said += r.prompt(); strings.Contains(said, "you are") {
		t.Errorf("what may be a script's is told %s", said)
	}
	if said := r.prompt(); !strings.Contains(said, "you are api") {
		t.Errorf("with its second prompt it is told %s", said)
	}
}
