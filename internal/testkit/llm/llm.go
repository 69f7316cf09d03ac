// Package llm is a scripted model on loopback for tests with real coding agents. It
// speaks the API that each of them speaks: Anthropic's messages, OpenAI's responses and
// completions, and Gemini's. A script says what it answers, knowing nothing but the
// request; every request is recorded.
package llm

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Model is the model behind one client.
type Model struct {
	URL     string
	Script  Script
	Refuses func() int        // the status it answers with instead, if it is not OK; nil for never
	Limited func() *RateLimit // how it refuses a request for its quota, if it does; nil for never

	mu       sync.Mutex
	requests []Request
}

// A RateLimit is a refusal because the quota is used up.
type RateLimit struct {
	RetryAfter time.Duration // what its header says, in whole seconds; none if it is 0
	Message    string
	Body       string // all of it, where a client wants more than a message; else empty
}

func (l RateLimit) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	if l.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(l.RetryAfter/time.Second)))
	}
	w.WriteHeader(http.StatusTooManyRequests)
	if l.Body != "" {
		fmt.Fprint(w, l.Body)
		return
	}
	said, err := json.Marshal(l.Message)
	if err != nil {
		said = []byte(`""`) // a text cannot fail to become JSON
	}
	fmt.Fprintf(w, `{"type":"error","error":{"type":"rate_limit_error","message":%s}}`, said)
}

// A Script decides what the model says to a request.
type Script func(Request) Step

// A Step is one answer of the model: a text, or the use of a tool.
type Step struct {
	Text  string // before a tool only Claude Code is given it
	Tool  string // c3po's by its short name; one of the client's own by its full name
	Input map[string]any
	Hangs bool // nothing is ever said
	Used  int  // tokens that the model says it has written; 5 if 0
}

// A Request is what a client has put before the model.
type Request struct {
	At       time.Time
	System   string
	Messages []Message
	Tools    []json.RawMessage // as the client describes them
	Bytes    int

	model  string // the one that is asked for
	stream bool
	names  map[string]string // of c3po's tools: short → as the client calls them
	free   []string          // tools that take a text as it is
	aside  string            // what to say without asking the script
}

// A Message is one of a conversation. The model's own have the role Assistant.
type Message struct {
	Role string
	Text string
	Size int // with all that is around the text
}

// Assistant is the role of what the model has said itself, in every API.
const Assistant = "assistant"

// Fresh is what has come since the model last spoke.
func (r Request) Fresh() string {
	from := len(r.Messages)
	for from > 0 && r.Messages[from-1].Role != Assistant {
		from--
	}
	return join(r.Messages[from:])
}

// All is everything the model can read, its own words included.
func (r Request) All() string { return r.System + "\n" + join(r.Messages) }

func join(messages []Message) string {
	texts := make([]string, len(messages))
	for i, m := range messages {
		texts[i] = m.Text
	}
	return strings.Join(texts, "\n")
}

// Spoken is how often the model has spoken since a text was put before it.
func (r Request) Spoken(since string) int {
	n := 0
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == Assistant {
			n++
		} else if strings.Contains(r.Messages[i].Text, since) {
			return n
		}
	}
	return n
}

// Start starts a model on loopback. It ends with the test.
func Start(t *testing.T, script Script) *Model {
	t.Helper()
	return StartAt(t, "127.0.0.1", script)
}

// StartAt is Start on another address.
func StartAt(t *testing.T, address string, script Script) *Model {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	m := &Model{URL: "http://" + listener.Addr().String(), Script: script}
	mux := http.NewServeMux()
	for path, api := range map[string]api{
		"/v1/messages":         {readMessages, writeMessage},       // Claude Code
		"/v1/responses":        {readResponses, writeResponse},     // Codex
		"/v1/chat/completions": {readCompletions, writeCompletion}, // OpenCode, Copilot, Kimi
		"/v1beta/models/":      {readGemini, writeGemini},
	} {
		mux.HandleFunc("POST "+path, m.serve(api))
	}
	// Clients ask for the list of models, and for the length of a prompt.
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"data":[],"has_more":false,"input_tokens":100}`)
	})
	server := &http.Server{Handler: mux}
	go server.Serve(listener)
	t.Cleanup(func() { _ = server.Close() })
	return m
}

// Seen is every request that the script was asked, oldest first.
func (m *Model) Seen() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Request(nil), m.requests...)
}

// Last is the newest request.
func (m *Model) Last() Request {
	seen := m.Seen()
	if len(seen) == 0 {
		return Request{}
	}
	return seen[len(seen)-1]
}

// Read is everything the model was ever shown.
func (m *Model) Read() string {
	var all strings.Builder
	for _, r := range m.Seen() {
		all.WriteString(r.All())
	}
	return all.String()
}

// Showing is how many requests had a text as something new.
func (m *Model) Showing(text string) int {
	n := 0
	for _, r := range m.Seen() {
		if strings.Contains(r.Fresh(), text) {
			n++
		}
	}
	return n
}

// An api is how some clients speak to their model.
type api struct {
	read  func(r *http.Request, body []byte) (Request, error)
	write func(w http.ResponseWriter, asked Request, answer Step)
}

func (m *Model) serve(api api) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var asked Request
		if err == nil {
			asked, err = api.read(r, body)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		asked.At, asked.Bytes = time.Now(), len(body)
		if m.Refuses != nil {
			if status := m.Refuses(); status != http.StatusOK {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(status)
				fmt.Fprint(w, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)
				return
			}
		}
		if m.Limited != nil {
			if limit := m.Limited(); limit != nil {
				limit.write(w)
				return
			}
		}
		answer := Step{Text: asked.aside}
		if asked.aside == "" {
			m.mu.Lock()
			m.requests = append(m.requests, asked)
			m.mu.Unlock()
			answer = m.Script(asked)
		}
		if answer.Hangs {
			<-r.Context().Done()
			return
		}
		if answer.Input == nil {
			answer.Input = map[string]any{}
		}
		api.write(w, asked, answer)
	}
}

// eventsTo begins a stream, and returns what writes an event to it.
func eventsTo(w http.ResponseWriter) func(name string, fields map[string]any) {
	w.Header().Set("Content-Type", "text/event-stream")
	return func(name string, fields map[string]any) {
		if name != "" {
			fields["type"] = name
			fmt.Fprintf(w, "event: %s\n", name)
		}
		data, _ := json.Marshal(fields)
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
}

// textOf is all text in a content, the results of tools included.
func textOf(content json.RawMessage) string {
	var plain string
	if json.Unmarshal(content, &plain) == nil {
		return plain
	}
	var blocks []struct {
		Text    string          `json:"text"`
		Content json.RawMessage `json:"content"`
	}
	_ = json.Unmarshal(content, &blocks) // what is neither has no text
	var parts []string
	for _, b := range blocks {
		if b.Content != nil {
			parts = append(parts, textOf(b.Content))
		}
		if b.Text != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}
