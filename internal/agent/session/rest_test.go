package session_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
)

// A client that gives up waiting at the end of a turn does not say so. A line that
// went to its hook would be lost.
func TestWhoWaitsAtTheEndOfATurnWaitsNoLongerThanUntilTheNext(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	r.prompt()
	r.hook(hook.Event{Name: hook.StopEvent, SessionID: "s1"})
	wait := func(lines chan string) chan struct{} {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = session.Rest(t.Context(), r.socket, nil, func(line string) { lines <- line })
		}()
		eventually(t, "it listens", func() bool { return r.monitors() == 1 })
		return ended
	}
	given := wait(make(chan string, 8))
	r.prompt()
	<-given
	r.hook(hook.Event{Name: hook.StopEvent, SessionID: "s1"})
	lines := make(chan string, 8)
	wait(lines)
	r.send("web", "Are you there?")
	if line := <-lines; !strings.Contains(line, "| Are you there?") {
		t.Errorf("it hears %q", line)
	}
}

func (r *testSession) folder() string { return filepath.Dir(r.socket) }

// monitors is how many listen.
func (r *testSession) monitors() int {
	for _, i := range session.Instances(r.t.Context(), filepath.Dir(r.socket)) {
		return i.Monitors
	}
	return 0
}

// A receipt that promises what nobody can do is a lie.
func TestASessionThatNobodyCanWakeIsReachedWhenItsPersonReturns(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	is := func(want c3po.Reachability) {
		t.Helper()
		eventually(t, "it is reached "+string(want), func() bool { return r.agents()["api"].Reachability == want })
	}
	r.prompt()
	is(c3po.ReachNextStep) // at the end of its turn at the latest
	r.hook(hook.Event{Name: hook.StopEvent, SessionID: "s1"})
	is(c3po.ReachPersonReturns)
	if receipt := r.send("web", "Are you there?"); receipt.Notice == "" || receipt.Reachability != c3po.ReachPersonReturns {
		t.Errorf("who sends is told %+v", receipt)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { _ = session.Listen(ctx, r.socket, nil, func(string) {}) }()
	is(c3po.ReachNow)
	cancel()
	is(c3po.ReachPersonReturns)
	r.prompt()
	is(c3po.ReachNextStep)
}
