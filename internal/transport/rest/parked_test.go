package rest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
	"github.com/c3po-dev/c3po/internal/transport/rest"
)

// A lotServer is rest behind a real server, where each wait that sleeps is parked.
type lotServer struct {
	*testServer
	lot   *rest.Lot
	space string
	addr  string
}

func withLot(t *testing.T) *lotServer {
	t.Helper()
	lot := rest.NewLot(rest.LotConfig{After: time.Millisecond, Idle: time.Minute, Stall: time.Minute})
	s := &lotServer{testServer: onRedisWith(t, redistest.Shared(t), lot), lot: lot, space: newSpace()}
	http := httptest.NewServer(s)
	served := make(chan error, 1)
	go func() { served <- http.Config.Serve(lot) }()
	t.Cleanup(func() {
		lot.Stop()
		s.hub.Drain()
		ended, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		lot.Drain(ended)
		if ended.Err() != nil {
			t.Error("a parked wait is left")
		}
		_ = lot.Close()
		http.Close()
		<-served
	})
	s.addr = http.Listener.Addr().String()
	return s
}

// A line is one connection, spelt out, so that a test sees whether it is the same.
type line struct {
	net.Conn
	answers *bufio.Reader
	s       *lotServer
}

func (s *lotServer) dial(t *testing.T) *line {
	t.Helper()
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &line{conn, bufio.NewReader(conn), s}
}

// write is a request as bob, as it is written.
func (s *lotServer) write(method, path, body string) string {
	text := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nX-Agent-ID: bob\r\nX-C3PO-Space: %s\r\n", method, path, s.addr, s.space)
	if body != "" {
		text += fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	return text + "\r\n" + body
}

func (l *line) say(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(l, text); err != nil {
		t.Fatal(err)
	}
}

// hear is the next answer.
func (l *line) hear(t *testing.T) answer {
	t.Helper()
	if err := l.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	got, err := http.ReadResponse(l.answers, nil)
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	body, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got.Close {
		got.Header.Set("Connection", "close")
	}
	return answer{status: got.StatusCode, header: got.Header, body: body}
}

// parks waits until so many connections are parked.
func (s *lotServer) parks(t *testing.T, connections int) {
	t.Helper()
	if !faultrig.Within(20*time.Second, func() bool { return s.lot.Parked() == connections }) {
		t.Fatalf("%d connections are parked, not %d", s.lot.Parked(), connections)
	}
}

func (s *lotServer) send(t *testing.T, text string) {
	t.Helper()
	s.op(t, s.space, "ann", "send_message", c3po.SendInput{Target: "bob", Message: text}, nil)
}

func TestAParkedWaitIsAnsweredLikeAnyOtherAndItsConnectionGoesOn(t *testing.T) {
	t.Parallel()
	s := withLot(t)
	s.op(t, s.space, "bob", "ping", c3po.None{}, nil)
	bob := s.dial(t)
	seq := int64(0)
	for n := range 3 {
		text := fmt.Sprint("message ", n)
		if n == 1 {
			bob.say(t, s.write("POST", "/api/op/pending", fmt.Sprintf(`{"timeout":3600,"after":%d}`, seq)))
		} else {
			bob.say(t, s.write("GET", fmt.Sprintf("/api/wait?timeout=3600&after=%d", seq), ""))
		}
		s.parks(t, 1)
		s.send(t, text)
		parked := bob.hear(t)
		var pending c3po.Pending
		parked.into(t, &pending)
		if parked.status != http.StatusOK || len(pending.Messages) != 1 || pending.Messages[0].Message != text {
			t.Fatalf("woken with %d %s, not with %q", parked.status, parked.body, text)
		}
		bob.say(t, s.write("GET", fmt.Sprintf("/api/pending?after=%d", seq), ""))
		plain := bob.hear(t)
		parkedNames, plainNames := slices.Sorted(maps.Keys(parked.header)), slices.Sorted(maps.Keys(plain.header))
		if !slices.Equal(parkedNames, plainNames) {
			t.Errorf("its headers are %v, those of others %v", parkedNames, plainNames)
		}
		s.parks(t, 0) // the connection has gone back with its next request
		seq = pending.Seq
	}
	waits := 0
	for _, line := range s.log.lines(t, "request") {
		if line["route"] == "GET /api/wait" && line["agent"] == "bob" {
			waits++
		}
	}
	if waits != 2 {
		t.Errorf("two waits are %d lines of the log", waits)
	}
}

func TestAParkedWaitEndsWhenItsCallerHangsUp(t *testing.T) {
	t.Parallel()
	s := withLot(t)
	bob := s.dial(t)
	bob.say(t, s.write("GET", "/api/wait?timeout=3600", ""))
	s.parks(t, 1)
	if err := bob.Close(); err != nil {
		t.Fatal(err)
	}
	s.parks(t, 0)
}

func TestAParkedWaitEndsWhenItsCallerHangsUpWhateverItHasSaidBehindIt(t *testing.T) {
	t.Parallel()
	s := withLot(t)
	bob := s.dial(t)
	bob.say(t, s.write("GET", "/api/wait?timeout=3600", "")+s.write("GET", "/livez", ""))
	s.parks(t, 1)
	if err := bob.Close(); err != nil {
		t.Fatal(err)
	}
	s.parks(t, 0)
}

func TestWhatIsSaidBehindAParkedWaitThatIsTheLastIsNotDone(t *testing.T) {
	t.Parallel()
	for name, hangsUp := range map[string]bool{"and hangs up": true, "and said so": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := withLot(t)
			s.op(t, s.space, "ann", "ping", c3po.None{}, nil)
			for range 10 {
				bob := s.dial(t)
				wait := s.write("GET", "/api/wait?timeout=1", "")
				if !hangsUp {
					wait = strings.Replace(wait, "\r\n", "\r\nConnection: close\r\n", 1)
				}
				bob.say(t, wait+s.write("POST", "/api/op/send_message", `{"target":"ann","message":"behind it"}`))
				s.parks(t, 1)
				if hangsUp {
					if err := bob.Close(); err != nil {
						t.Fatal(err)
					}
				}
				s.parks(t, 0)
			}
			var inbox c3po.Pending
			if s.ask(t, question{path: "/api/pending", as: "ann", space: s.space}).into(t, &inbox); len(inbox.Messages) > 0 {
				t.Errorf("%d of 10 were sent", len(inbox.Messages))
			}
		})
	}
}

func TestAWaitWithALargeBodyIsNotParked(t *testing.T) {
	t.Parallel()
	s := withLot(t)
	bob := s.dial(t)
	bob.say(t, s.write("POST", "/api/op/pending", `{"timeout":1}`+strings.Repeat(" ", 10_000)))
	bob.hear(t)
	if n := s.lot.Parked(); n != 0 {
		t.Errorf("%d are parked", n)
	}
}

func TestAParkedWaitEndsWithItsTime(t *testing.T) {
	t.Parallel()
	s := withLot(t)
	bob := s.dial(t)
	began := time.Now()
	bob.say(t, s.write("GET", "/api/wait?timeout=1", ""))
	var pending c3po.Pending
	bob.hear(t).into(t, &pending)
	if waited := time.Since(began); waited < time.Second || len(pending.Messages) != 0 {
		t.Errorf("after %v: %+v", waited, pending)
	}
}

func TestWhatIsSaidBehindAParkedWaitIsAnsweredAfterIt(t *testing.T) {
	t.Parallel()
	for name, early := range map[string]bool{"with the request": true, "later": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := withLot(t)
			s.op(t, s.space, "bob", "ping", c3po.None{}, nil)
			bob := s.dial(t)
			first, second := s.write("GET", "/api/wait?timeout=3600", ""), s.write("GET", "/api/agents", "")
			if early {
				bob.say(t, first+second)
				s.parks(t, 1)
			} else {
				bob.say(t, first)
				s.parks(t, 1)
				bob.say(t, second)
			}
			s.send(t, "wake up")
			if got := bob.hear(t); !strings.Contains(string(got.body), "wake up") {
				t.Errorf("the wait is answered with %s", got.body)
			}
			if got := bob.hear(t); !strings.Contains(string(got.body), `"ann"`) {
				t.Errorf("what was said behind it is answered with %s", got.body)
			}
		})
	}
}

// A proxy may send the requests of several callers over one connection.
func TestABodyThatAWaitDoesNotReadIsNotTakenForARequest(t *testing.T) {
	t.Parallel()
	s := withLot(t)
	s.op(t, s.space, "bob", "ping", c3po.None{}, nil)
	bob := s.dial(t)
	bob.say(t, s.write("GET", "/api/wait?timeout=1", s.write("GET", "/api/agents", "")))
	if got := bob.hear(t); got.status != http.StatusOK || strings.Contains(string(got.body), `"bob"`) {
		t.Fatalf("the wait is answered with %d %s", got.status, got.body)
	}
	bob.say(t, s.write("GET", "/livez", ""))
	if got := bob.hear(t); strings.Contains(string(got.body), `"bob"`) {
		t.Errorf("the body was answered, with %s", got.body)
	}
}

func TestACoordinatorThatStopsAnswersParkedWaitsAndClosesTheirConnections(t *testing.T) {
	t.Parallel()
	s := withLot(t)
	waiting, done := s.dial(t), s.dial(t)
	s.op(t, s.space, "bob", "ping", c3po.None{}, nil)
	done.say(t, s.write("GET", "/api/wait?timeout=3600", ""))
	s.parks(t, 1)
	s.send(t, "wake up")
	seq := struct{ Seq int64 }{}
	done.hear(t).into(t, &seq)
	waiting.say(t, s.write("GET", fmt.Sprintf("/api/wait?timeout=3600&after=%d", seq.Seq), ""))
	s.parks(t, 2) // one sleeps, one was answered and has said nothing more
	s.lot.Stop()
	s.hub.Drain()
	got := waiting.hear(t)
	s.lot.Drain(t.Context())
	var outcome c3po.WaitOutcome
	if got.into(t, &outcome); outcome.Status != c3po.WaitRetry || got.header.Get("Connection") != "close" {
		t.Errorf("the wait ended with %s, connection %q", got.body, got.header.Get("Connection"))
	}
	for _, l := range []*line{waiting, done} {
		if _, err := l.answers.ReadByte(); !errors.Is(err, io.EOF) {
			t.Errorf("a connection was not closed: %v", err)
		}
	}
	// Who comes now waits as any request does, and is answered.
	late := s.dial(t)
	late.say(t, s.write("GET", "/api/wait?timeout=3600", ""))
	if got := late.hear(t); got.status != http.StatusOK {
		t.Errorf("a wait at a coordinator that stops: %d %s", got.status, got.body)
	}
}
