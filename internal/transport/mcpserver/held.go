package mcpserver

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
)

// errWithdrawn is why a call ended that its client no longer wants.
var errWithdrawn = errors.New("the client has cancelled the call")

// identifying are the headers by which a caller says, or proves, who it is, as net/http
// keeps them.
var identifying = []string{sessionHeader, "Authorization", "X-Agent-Id", "X-Session-Id", "X-C3po-Space", "X-C3po-Run"}

// heldCalls are the calls under way here that a client may cancel with a separate
// request. Clients older than 2026-07-28 do: they leave the connection of the call open
// and post a notice.
type heldCalls struct {
	mu    sync.Mutex
	calls map[string]*heldCall
}

type heldCall struct{ cancel context.CancelCauseFunc }

// holdName is what a call and the notice that cancels it have in common: the
// session, everything the caller proves itself with, and the number of the call.
// It is false without a session, since the numbers of two clients are the same.
func holdName(r *http.Request, id string) (string, bool) {
	if r.Header.Get(sessionHeader) == "" {
		return "", false
	}
	parts := make([]string, 0, len(identifying)+1)
	for _, name := range identifying {
		parts = append(parts, strings.Join(r.Header[name], "\t"))
	}
	// No header holds a line break.
	return strings.Join(append(parts, id), "\n"), true
}

// hold makes a call one that can be cancelled, until release is called.
func (h *heldCalls) hold(name string, cancel context.CancelCauseFunc) (release func()) {
	call := &heldCall{cancel: cancel}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.calls == nil {
		h.calls = map[string]*heldCall{}
	}
	h.calls[name] = call
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.calls[name] == call { // a careless client may have used the number again
			delete(h.calls, name)
		}
	}
}

// cancel ends the call of that name. Some clients cancel every call they have
// made, also those that were answered: that is nothing.
func (h *heldCalls) cancel(name string) {
	h.mu.Lock()
	call := h.calls[name]
	h.mu.Unlock()
	if call != nil {
		call.cancel(errWithdrawn)
	}
}
