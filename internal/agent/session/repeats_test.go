package session_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

func TestASendWhoseAnswerWasLostIsNotSentTwiceWhenTheModelTriesAgain(t *testing.T) {
	t.Parallel()
	coordinator := coordinator(t)
	var shut atomic.Bool
	var sends atomic.Int32
	var through http.Handler
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !shut.Load():
			through.ServeHTTP(w, r)
		case strings.HasSuffix(r.URL.Path, "/send_message") && sends.Add(1) == 1:
			through.ServeHTTP(httptest.NewRecorder(), r) // it arrives, and its answer does not
			panic(http.ErrAbortHandler)
		default:
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(door.Close)
	through = proxyTo(t, coordinator.URL())
	r := start(t, door.URL, "box:1:1")
	r.prompt()
	r.send("web", "hello") // makes web known
	shut.Store(true)
	question := map[string]any{"target": "web", "message": "Which port?"}
	text, failed := r.call("u1", "send_message", question)
	if !failed || !strings.Contains(text, `"UNKNOWN_OUTCOME"`) || strings.Contains(text, "same client_key") || strings.Contains(text, "same key") {
		t.Fatalf("it is answered with %s", text)
	}
	shut.Store(false)
	if text, failed := r.call("u2", "send_message", question); failed {
		t.Fatal(text)
	}
	inbox := func() int {
		list, err := r.as("web").Peek(t.Context(), c3po.GetMessagesInput{})
		if err != nil {
			t.Fatal(err)
		}
		return list.Count
	}
	if n := inbox(); n != 1 {
		t.Errorf("web was sent %d messages", n)
	}
	if text, failed := r.call("u3", "send_message", question); failed || inbox() != 2 {
		t.Errorf("a question that is asked again on purpose is not sent: %s", text)
	}
}
