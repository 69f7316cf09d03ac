package session_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"

	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
)

// Any program of the user can open the socket of a session.
func TestWhatBelongsToAnotherSessionIsToldNothing(t *testing.T) {
	t.Parallel()
	var stranger atomic.Bool
	r := startAs(t, coordinator(t).URL(), "box:7:99", func(cfg *session.Config) {
		cfg.Stranger = func(net.Conn) bool { return stranger.Load() }
	})
	ask := func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), deadline)
		defer cancel()
		_, ok := session.AskHere(ctx, r.socket, nil, hook.Event{Name: hook.UserPromptSubmit, SessionID: "s1"})
		return ok
	}
	r.prompt()
	if !ask() {
		t.Fatal("its own hook is not answered")
	}
	stranger.Store(true)
	if ask() {
		t.Error("a hook of another session is answered")
	}
	told := make(chan string, 1)
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	_ = session.Rest(ctx, r.socket, nil, func(line string) { told <- line })
	if len(told) > 0 || ctx.Err() != nil {
		t.Errorf("a monitor of another session is kept and told: %d lines, %v", len(told), ctx.Err())
	}
	if about, ok := session.About(t.Context(), r.socket, nil); !ok || about.Agent != "api" {
		t.Errorf("what it is, it says to everybody: %+v, %v", about, ok)
	}
}
