package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
)

// A script is a coordinator that answers each call by the next of its steps,
// and the last one for ever. It is a real HTTP server over connections in
// memory, so that waits can be tested in a synctest bubble.
type script struct {
	mu    sync.Mutex
	steps []step
	calls []receivedRequest
	down  bool
	conns chan net.Conn
}

type step func(http.ResponseWriter, *http.Request)

type receivedRequest struct {
	method string
	path   string // with its query
	header http.Header
	body   map[string]any
}

func newScript(t *testing.T, steps ...step) *script {
	t.Helper()
	s := &script{steps: steps, conns: make(chan net.Conn)}
	server := &http.Server{Handler: s, Protocols: new(http.Protocols)}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	done := make(chan error, 1)
	go func() { done <- server.Serve(pipes{s.conns, make(chan struct{})}) }()
	t.Cleanup(func() {
		server.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("the scripted coordinator ended with %v", err)
		}
	})
	return s
}

// client makes a client of the script with a transport that t closes.
func (s *script) client(t *testing.T, cfg client.Config) *client.Client {
	transport := &http.Transport{DialContext: s.dial}
	t.Cleanup(transport.CloseIdleConnections)
	cfg.HTTP = &http.Client{Transport: transport}
	return client.New(cfg)
}

func (s *script) dial(ctx context.Context, network, address string) (net.Conn, error) {
	s.mu.Lock()
	down := s.down
	s.mu.Unlock()
	if down {
		return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("connection refused")}
	}
	ours, theirs := net.Pipe()
	select {
	case s.conns <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *script) setDown(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(data)) // for the step
	call := receivedRequest{method: r.Method, path: r.URL.RequestURI(), header: r.Header}
	_ = json.Unmarshal(data, &call.body)
	s.mu.Lock()
	next := s.steps[min(len(s.calls), len(s.steps)-1)]
	s.calls = append(s.calls, call)
	s.mu.Unlock()
	next(w, r)
}

func (s *script) requests() []receivedRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]receivedRequest(nil), s.calls...)
}

// said lists one argument of every call.
func (s *script) said(argument string) []any {
	var all []any
	for _, call := range s.requests() {
		all = append(all, call.body[argument])
	}
	return all
}

type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error   { close(p.closed); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "script", Net: "pipe"} }

// The steps.

func answers(v any) step {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
}

func refuses(err *c3po.Error) step {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(err.Code.Status())
		_ = json.NewEncoder(w).Encode(err)
	}
}

// speaks answers as a program that is no coordinator does.
func speaks(status int, text string) step {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text))
	}
}

// hangsUp closes the connection without a word, after the request was read.
func hangsUp(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	conn.Close()
}

func thenGoesDown(s **script, first step) step {
	return func(w http.ResponseWriter, r *http.Request) {
		(*s).setDown(true)
		w.Header().Set("Connection", "close")
		first(w, r)
	}
}

// after answers once d has passed, unless the caller went away.
func after(d time.Duration, next step) step {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(d):
			next(w, r)
		case <-r.Context().Done():
		}
	}
}
