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
	ctrl *http.ResponseController
}

func newPacedWriter(w http.ResponseWriter) *pacedWriter {
	return &pacedWriter{ResponseWriter: w, ctrl: http.NewResponseController(w)}
}

// extend begins the time anew. Not every writer of a test has a deadline to set.
func (p *pacedWriter) extend() { _ = p.ctrl.SetWriteDeadline(time.Now().Add(maxWriteStall)) }

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
