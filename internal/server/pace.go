package server

import (
	"net/http"
	"time"
)

// maxWriteStall is how long a caller may leave an answer unread. Unread output is kept in
// memory, and a stream without a reader would be kept forever.
const maxWriteStall = 30 * time.Second

// A pacedWriter gives the caller so much time for each part of an answer,
// however long the whole takes: a wait may be answered after an hour.
type pacedWriter struct {
	http.ResponseWriter
	ctrl     *http.ResponseController
	extended time.Time
}

func newPacedWriter(w http.ResponseWriter) *pacedWriter {
	return &pacedWriter{ResponseWriter: w, ctrl: http.NewResponseController(w)}
}

// extend begins the time anew, unless it has just begun: most answers are written at once.
// Not every writer of a test has a deadline to set.
func (p *pacedWriter) extend() {
	now := time.Now()
	if now.Sub(p.extended) < time.Second {
		return
	}
	p.extended = now
	_ = p.ctrl.SetWriteDeadline(now.Add(maxWriteStall))
}

func (p *pacedWriter) WriteHeader(status int) {
	p.extend()
	p.ResponseWriter.WriteHeader(status)
}

func (p *pacedWriter) Write(part []byte) (int, error) {
	p.extend()
	return p.ResponseWriter.Write(part)
}

// Unwrap lets an http.ResponseController reach the writer beneath.
func (p *pacedWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }
