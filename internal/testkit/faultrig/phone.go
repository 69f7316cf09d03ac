package faultrig

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Phone is a person's, subscribed to a topic of an ntfy server that is a part of it: it
// gets notices, and presses their buttons.
type Phone struct {
	server  *httptest.Server
	presses chan string
	mu      sync.Mutex
	notices []phoneNotice
}

type phoneNotice struct {
	text    string
	buttons []phoneButton
}

type phoneButton struct{ Label, URL, Body string }

// NewPhone gives a phone that nobody writes to yet.
func NewPhone(t testing.TB) *Phone {
	p := &Phone{presses: make(chan string, 100)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /topic", func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		notice := phoneNotice{text: string(body)}
		_ = json.Unmarshal([]byte(r.Header.Get("Actions")), &notice.buttons) // a notice need not have any
		p.mu.Lock()
		defer p.mu.Unlock()
		p.notices = append(p.notices, notice)
	})
	mux.HandleFunc("POST /topic-replies", func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		p.presses <- string(body)
	})
	mux.HandleFunc("GET /topic-replies/json", func(w http.ResponseWriter, r *http.Request) {
		lines := json.NewEncoder(w)
		for n := 0; ; n++ {
			w.(http.Flusher).Flush()
			select {
			case press := <-p.presses:
				_ = lines.Encode(map[string]any{"id": fmt.Sprint("m", n), "time": time.Now().Unix(), "event": "message", "topic": "topic-replies", "message": press})
			case <-r.Context().Done():
				return
			}
		}
	})
	p.server = httptest.NewServer(mux)
	t.Cleanup(p.server.Close)
	t.Cleanup(p.server.CloseClientConnections)
	return p
}

// Settings have a coordinator write to it.
func (p *Phone) Settings() string {
	return "notify:\n  ntfy: " + p.server.URL + "/topic\n  bodies: true\n  buttons: true\n  secret: a secret of enough characters\n  allow: [127.0.0.1]\n"
}

// Press presses a button of the notice that says something, once it has come.
func (p *Phone) Press(t testing.TB, says, label string) {
	t.Helper()
	var pressed *phoneButton
	if !Within(30*time.Second, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, notice := range p.notices {
			for _, button := range notice.buttons {
				if strings.Contains(notice.text, says) && button.Label == label {
					pressed = &button
				}
			}
		}
		return pressed != nil
	}) {
		t.Fatalf("no notice that says %q has a button %q", says, label)
	}
	answer, err := http.Post(pressed.URL, "text/plain", strings.NewReader(pressed.Body)) // #nosec G107 -- its own server
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
}
