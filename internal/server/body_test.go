package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// A clockedWriter remembers until when the connection may be read.
type clockedWriter struct {
	http.ResponseWriter
	until time.Time
}

func (w *clockedWriter) SetReadDeadline(until time.Time) error {
	w.until = until
	return nil
}

// The server's own limit would go on while a wait lasts, and cut it.
func TestABodyHasATimeLimitThatEndsWithIt(t *testing.T) {
	t.Parallel()
	w := &clockedWriter{ResponseWriter: httptest.NewRecorder()}
	b := newBody(http.NewResponseController(w), io.NopCloser(iotest.OneByteReader(strings.NewReader(`{"a":1}`))), newFlight(), flier{name: "ann"})
	for range len(`{"a":1}`) {
		if left := time.Until(w.until); left <= 0 || left > bodyTimeout {
			t.Fatalf("while the body is read there are %v left", left)
		}
		if _, err := b.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Read(make([]byte, 1)); err != io.EOF || !w.until.IsZero() {
		t.Errorf("after the body: %v, to be read until %v", err, w.until)
	}
}

func TestDepthIsSeenAcrossPieces(t *testing.T) {
	t.Parallel()
	for text, refused := range map[string]bool{
		strings.Repeat("[", 64):                    false,
		strings.Repeat("[", 65):                    true,
		strings.Repeat(`{"a":`, 65):                true,
		strings.Repeat("[]", 1000):                 false,
		`"` + strings.Repeat("[", 100) + `"`:       false,
		`"\"` + strings.Repeat("[", 100) + `"`:     false,
		`"\\"` + strings.Repeat("[", 65):           true,
		`["` + strings.Repeat(`\\\"[`, 100) + `"]`: false,
	} {
		b := newBody(http.NewResponseController(httptest.NewRecorder()), io.NopCloser(iotest.OneByteReader(strings.NewReader(text))), newFlight(), flier{name: "ann"})
		_, err := io.ReadAll(b)
		if got := err != nil; got != refused {
			t.Errorf("%.40s: %v", text, err)
		}
		if refused && c3po.AsError(err).Code != c3po.InvalidRequest {
			t.Errorf("%.40s is refused with %v", text, err)
		}
	}
}

func TestACallerThatStallsInItsBodiesLeavesRoomForOthers(t *testing.T) {
	t.Parallel()
	flight := newFlight()
	open := func(caller string) *body {
		return newBody(http.NewResponseController(httptest.NewRecorder()), io.NopCloser(strings.NewReader(strings.Repeat(" ", 2<<20))), flight, flier{name: caller})
	}
	most := make([]byte, 2<<20)
	stalled := []*body{}
	for range 8 {
		b := open("ann")
		if _, err := io.ReadFull(b, most); err != nil {
			t.Fatal(err)
		}
		stalled = append(stalled, b)
	}
	if _, err := open("ann").Read(most); c3po.AsError(err).Code != c3po.RateLimited {
		t.Errorf("a ninth body of one caller is answered %v", err)
	}
	if _, err := open("bob").Read(most); err != nil {
		t.Errorf("another caller's body is answered %v", err)
	}
	stalled[0].release() // its request has ended
	if _, err := stalled[1].Read(most); err != io.EOF {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := open("ann").Read(most); err != nil {
			t.Errorf("once two are gone, the next is answered %v", err)
		}
	}
}

// Any text can be shown as a token, so what is no token has no share of the memory
// for bodies of its own.
func TestFalseTokensTakeNoRoomFromTrueOnes(t *testing.T) {
	t.Parallel()
	read := make(chan bool)
	known := func(r *http.Request) (string, bool) { return "ann", r.Header.Get("Authorization") == "Bearer true" }
	gate := newGate(nil, "1.4.0", known, slog.New(slog.DiscardHandler), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.ReadFull(r.Body, make([]byte, 2<<20))
		read <- err == nil
		<-r.Context().Done() // it stalls
	}))
	ctx, cancel := context.WithCancel(t.Context())
	var stalled sync.WaitGroup
	defer stalled.Wait()
	defer cancel()
	send := func(token, from string) bool {
		r := httptest.NewRequestWithContext(ctx, "POST", "http://localhost/api/login", strings.NewReader(strings.Repeat(" ", 2<<20+1)))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+token)
		r.RemoteAddr = from + ":4000"
		stalled.Go(func() { gate.ServeHTTP(httptest.NewRecorder(), r) })
		return <-read
	}
	held := 0
	for n := range 40 {
		if send(fmt.Sprint("false ", n), fmt.Sprint("192.0.2.", n%4)) {
			held++
		}
	}
	if held != maxStrangerFlightBytes/(2<<20) {
		t.Errorf("strangers hold %d bodies of 2 MiB", held)
	}
	if !send("true", "192.0.2.1") {
		t.Error("the body of a caller we know finds no room")
	}
}

func TestEachPartOfAnAnswerHasItsOwnTimeToBeRead(t *testing.T) {
	t.Parallel()
	under := &writeClock{ResponseWriter: httptest.NewRecorder()}
	w := newPacedWriter(under)
	for what, do := range map[string]func(){
		"the head":              func() { w.WriteHeader(http.StatusOK) },
		"a part":                func() { _, _ = w.Write([]byte("x")) },
		"what is flushed after": w.extend,
	} {
		w.extended = w.extended.Add(-time.Minute)
		under.until = time.Time{}
		do()
		if left := time.Until(under.until); left <= 0 || left > maxWriteStall {
			t.Errorf("for %s there are %v", what, left)
		}
		until := under.until
		if do(); under.until != until {
			t.Errorf("%s at once after another sets the deadline again", what)
		}
	}
}

// A writeClock remembers until when the connection may be written to.
type writeClock struct {
	http.ResponseWriter
	until time.Time
}

func (w *writeClock) SetWriteDeadline(until time.Time) error {
	w.until = until
	return nil
}
