package rest

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"github.com/c3po-dev/c3po/internal/hub"
)

// maxKeptBody is how large a body may be that is kept for as long as its wait takes. A few
// numbers are enough; a wait with more is not parked.
const maxKeptBody = 1 << 10

// parking is act for a call that waits, and that is parked when it waits long.
func (s *server) parking(run call) http.Handler {
	plain := s.act(run)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen, ok := w.(*witness)
		// Over HTTP/2, which our own clients use with TLS, requests share a connection.
		if !ok || s.lot == nil || r.ProtoMajor != 1 || !r.ProtoAtLeast(1, 1) || r.ContentLength < 0 || r.ContentLength > maxKeptBody {
			plain.ServeHTTP(w, r)
			return
		}
		wait := &wait{server: s, run: run, turn: &hub.Turn{Sleep: s.lot.After}}
		// The request's own context ends with its handler.
		ctx, hangUp := context.WithCancel(context.WithoutCancel(r.Context()))
		wait.hangUp = hangUp
		stay := context.AfterFunc(r.Context(), hangUp)
		defer func() {
			if !seen.parked {
				wait.end()
			}
		}()
		mine := r.WithContext(hub.WithTurn(ctx, wait.turn))
		wait.body = &sentBody{ReadCloser: r.Body, whole: r.ContentLength == 0}
		mine.Body = wait.body
		var err error
		if wait.actor, wait.r, wait.release, err = s.actor(mine); err != nil {
			s.refuse(w, mine, err)
			return
		}
		if s.perform(wait.actor, w, wait.r, run) {
			return
		}
		wait.turn.Sleep = 0
		// What is left of a body would be taken for the next request.
		if wait.body.whole && stay() {
			if s.lot.park(seen, wait) {
				return
			}
			defer context.AfterFunc(r.Context(), hangUp)()
		}
		wait.goOn(w)
	})
}

// A wait is a call that yields, and what it takes to make it again.
type wait struct {
	server  *server
	run     call
	turn    *hub.Turn
	r       *http.Request
	body    *sentBody
	actor   *hub.Actor
	release func()
	hangUp  func()
}

// A sentBody remembers what was read of a body, and whether that was all.
type sentBody struct {
	io.ReadCloser
	sent  bytes.Buffer
	whole bool
}

func (b *sentBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.sent.Write(p[:n])
	if err == io.EOF {
		b.whole = true
	}
	return n, err
}

// goOn sleeps, and makes the call again, until it is answered.
func (w *wait) goOn(to http.ResponseWriter) {
	for ended := false; !ended; {
		w.turn.Wait(w.r.Context())
		w.r.Body = io.NopCloser(bytes.NewReader(w.body.sent.Bytes()))
		ended = w.server.perform(w.actor, to, w.r, w.run)
	}
}

func (w *wait) end() {
	if w.release != nil {
		w.turn.End(w.r.Context())
		w.release()
	}
	w.hangUp()
}

// A parked wait has left net/http with its connection.
type parked struct {
	lot    *Lot
	wait   *wait
	conn   net.Conn
	early  []byte      // what was read of the request after it
	header http.Header // of the answer, as far as it is known
	watch  watch

	answered, kept bool          // guarded by the lot: its connection is kept for its next request
	over           chan struct{} // closed when it is answered
}

// park takes a request over from net/http, if it can be had.
func (l *Lot) park(seen *witness, w *wait) bool {
	p := &parked{lot: l, wait: w, header: seen.Header(), watch: seen.watch, over: make(chan struct{})}
	if !l.enter(p) {
		return false
	}
	conn, buffered, err := http.NewResponseController(seen).Hijack()
	if err != nil {
		l.leave(p)
		return false
	}
	seen.parked = true
	w.body.ReadCloser, w.r.Body = nil, nil // they belong to net/http
	read, _ := buffered.Reader.Peek(buffered.Reader.Buffered())
	p.early = bytes.Clone(read)
	if back, ok := conn.(*returned); ok {
		conn, p.early = back.Conn, append(p.early, back.early...)
	}
	l.hold(p, conn)
	go p.sleep()
	go p.listen()
	return true
}

// sleep is where the wait goes on: on a stack that is short, and without buffers.
func (p *parked) sleep() {
	answer := &parkedAnswer{parked: p}
	seen := &witness{ResponseWriter: answer, watch: p.watch}
	defer func() {
		seen.end(recover(), p.wait.r)
		p.wait.end()
		p.lot.answered(p, answer.sent)
	}()
	p.wait.goOn(seen)
}

// listen learns that the caller has hung up, or after the answer that it goes on.
func (p *parked) listen() {
	next := make([]byte, 1)
	n, err := p.conn.Read(next)
	if n == 0 {
		p.wait.hangUp()
	}
	<-p.over
	p.lot.leave(p)
	early := append(p.early, next[:n]...)
	// With something to go on with, answered has ended the reading.
	goesOn := n > 0 || len(early) > 0 && errors.Is(err, os.ErrDeadlineExceeded)
	if !p.kept || !goesOn || p.conn.SetReadDeadline(time.Time{}) != nil {
		_ = p.conn.Close()
		return
	}
	select {
	case p.lot.back <- &returned{Conn: p.conn, early: early}:
	case <-p.lot.shut.done:
		_ = p.conn.Close()
	}
}

// A parkedAnswer writes the one answer of a parked wait.
type parkedAnswer struct {
	*parked
	status int
	sent   bool // and the connection can take another request
}

func (a *parkedAnswer) Header() http.Header { return a.header }

func (a *parkedAnswer) WriteHeader(status int) { a.status = status }

// Write takes the whole body at once, as write gives it.
func (a *parkedAnswer) Write(body []byte) (int, error) {
	a.header["Date"] = []string{time.Now().UTC().Format(http.TimeFormat)}
	last := a.wait.r.Close || a.lot.isStopping()
	answer := http.Response{
		StatusCode: a.status, ProtoMajor: 1, ProtoMinor: 1, Header: a.header, Request: a.wait.r, Close: last,
		ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)),
	}
	var text bytes.Buffer
	if err := answer.Write(&text); err != nil {
		return 0, err
	}
	if err := a.conn.SetWriteDeadline(time.Now().Add(a.lot.Stall)); err != nil {
		return 0, err
	}
	if _, err := a.conn.Write(text.Bytes()); err != nil {
		return 0, err
	}
	a.sent = !last
	return len(body), nil
}

// Flush has nothing to do: what was written is on its way.
func (a *parkedAnswer) Flush() {}

// A returned connection is one that a wait was parked with, and what was already read of
// its next request.
type returned struct {
	net.Conn
	early []byte
}

type encryptedKey struct{}

// WithTLS puts the TLS of a connection that returned into the context of its requests:
// net/http knows it only by its type.
func WithTLS(ctx context.Context, conn net.Conn) context.Context {
	if back, ok := conn.(*returned); ok {
		if encrypted, ok := back.Conn.(*tls.Conn); ok {
			state := encrypted.ConnectionState()
			return context.WithValue(ctx, encryptedKey{}, &state)
		}
	}
	return ctx
}

// TLSOf is the TLS that a request came by; nil if it came without.
func TLSOf(r *http.Request) *tls.ConnectionState {
	if r.TLS != nil {
		return r.TLS
	}
	state, _ := r.Context().Value(encryptedKey{}).(*tls.ConnectionState)
	return state
}

func (c *returned) Read(p []byte) (int, error) {
	if len(c.early) == 0 {
		return c.Conn.Read(p)
	}
	n := copy(p, c.early)
	c.early = c.early[n:]
	return n, nil
}

// SyscallConn is how the server learns which process is at the other end.
func (c *returned) SyscallConn() (syscall.RawConn, error) {
	if raw, ok := c.Conn.(syscall.Conn); ok {
		return raw.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}
