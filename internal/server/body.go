package server

import (
	"io"
	"net/http"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	// bodyTimeout is how long a caller may take to send a body. It is not the
	// server's ReadTimeout, which would also cut the waits.
	bodyTimeout = 30 * time.Second
	// maxDepth of nested arrays and objects. Decoding costs stack by depth, and
	// nothing of ours is deeper than a message with metadata.
	maxDepth = 64
)

// A body is what a caller sends, held to a time, to a depth and to a share of
// memory while it is read. How long it may be is for its reader to say.
type body struct {
	io.ReadCloser
	ctrl    *http.ResponseController
	nesting nesting
	flight  *flight
	caller  flier
	taken   int64
}

func newBody(ctrl *http.ResponseController, from io.ReadCloser, flight *flight, caller flier) *body {
	b := &body{ReadCloser: from, ctrl: ctrl, flight: flight, caller: caller}
	// Not every writer of a test has a deadline to set.
	_ = b.ctrl.SetReadDeadline(time.Now().Add(bodyTimeout))
	return b
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.nesting.add(p[:n]) > maxDepth {
		return 0, c3po.Errorf(c3po.InvalidRequest, "the JSON is nested more than %d deep", maxDepth).
			Suggest("Send deep structures as text, with content_type application/json.")
	}
	if !b.flight.take(b.caller, int64(n)) {
		return 0, c3po.Errorf(c3po.RateLimited, "too many large requests are being sent at once").
			Suggest("This request was not read. Try again in a moment.")
	}
	b.taken += int64(n)
	if err == io.EOF {
		// From here on the connection is only watched for the caller's leaving, and
		// a wait may take an hour.
		_ = b.ctrl.SetReadDeadline(time.Time{})
		b.release()
	}
	return n, err
}

// release gives back the body's share of memory: it has been read, or its
// request has ended.
func (b *body) release() {
	b.flight.give(b.caller, b.taken)
	b.taken = 0
}

// nesting follows how deep arrays and objects are nested in what may be JSON,
// piece by piece.
type nesting struct {
	now, most     int
	text, escaped bool
}

// add reads a piece and gives the greatest depth so far.
func (n *nesting) add(piece []byte) int {
	for _, c := range piece {
		switch {
		case n.escaped:
			n.escaped = false
		case n.text:
			n.escaped = c == '\\'
			n.text = c != '"'
		case c == '"':
			n.text = true
		case c == '{' || c == '[':
			n.now++
			n.most = max(n.most, n.now)
		case c == '}' || c == ']':
			n.now--
		}
	}
	return n.most
}
