package server

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/c3po-dev/c3po"
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
	b := newBody(w, io.NopCloser(iotest.OneByteReader(strings.NewReader(`{"a":1}`))), newFlight(), "ann")
	for range len(`{"a":1}`) {
		if left := time.Until(w.until); left <= 0 || left > bodyMost {
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
		b := newBody(httptest.NewRecorder(), io.NopCloser(iotest.OneByteReader(strings.NewReader(text))), newFlight(), "ann")
		_, err := io.ReadAll(b)
		if got := err != nil; got != refused {
			t.Errorf("%.40s: %v", text, err)
		}
		if refused && c3po.AsError(err).Code != c3po.InvalidRequest {
			t.Errorf("%.40s is refused with %v", text, err)
		}
	}
}

// Claims: A14
func TestACallerThatStallsInItsBodiesLeavesRoomForOthers(t *testing.T) {
	t.Parallel()
	flight := newFlight()
	open := func(caller string) *body {
		return newBody(httptest.NewRecorder(), io.NopCloser(strings.NewReader(strings.Repeat(" ", 2<<20))), flight, caller)
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

func TestEachPartOfAnAnswerHasItsOwnTimeToBeRead(t *testing.T) {
	t.Parallel()
	under := &writeClock{ResponseWriter: httptest.NewRecorder()}
	w := newPacedWriter(under)
	for what, do := range map[string]func(){
		"the head":              func() { w.WriteHeader(http.StatusOK) },
		"a part":                func() { _, _ = w.Write([]byte("x")) },
		"what is flushed after": w.extend,
	} {
		under.until = time.Time{}
		do()
		if left := time.Until(under.until); left <= 0 || left > maxWriteStall {
			t.Errorf("for %s there are %v", what, left)
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
