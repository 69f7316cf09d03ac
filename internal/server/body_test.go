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
	b := newBody(w, io.NopCloser(iotest.OneByteReader(strings.NewReader(`{"a":1}`))))
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
		b := newBody(httptest.NewRecorder(), io.NopCloser(iotest.OneByteReader(strings.NewReader(text))))
		_, err := io.ReadAll(b)
		if got := err != nil; got != refused {
			t.Errorf("%.40s: %v", text, err)
		}
		if refused && c3po.AsError(err).Code != c3po.InvalidRequest {
			t.Errorf("%.40s is refused with %v", text, err)
		}
	}
}
