package claude_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// A model stands for the model behind Claude Code: the Messages API on loopback,
// answered by a brain that knows nothing but the request.
type model struct {
	url     string
	brain   brain
	refuses func() int // the status it answers with instead, if it is not OK; nil for never

	mu       sync.Mutex
	requests []request
}

// A brain decides what the model says to a request.
type brain func(request) step

// A step is one answer of the model: a text, or the use of a tool.
type step struct {
	text  string
	tool  string // of c3po unless it has a capital letter
	input map[string]any
}

func say(format string, args ...any) step { return step{text: fmt.Sprintf(format, args...)} }

func call(tool string, input map[string]any) step { return step{tool: tool, input: input} }

// A request is what Claude Code has put before the model.
type request struct {
	at       time.Time
	system   string
	messages []turn
	tools    []json.RawMessage
	bytes    int
	sizes    []int // of the messages, with all that is around their texts
}

type turn struct {
	role string
	text string
}

// fresh is what has come since the model last spoke.
func (r request) fresh() string {
	var parts []string
	for i := len(r.messages) - 1; i >= 0 && r.messages[i].role != "assistant"; i-- {
		parts = append([]string{r.messages[i].text}, parts...)
	}
	return strings.Join(parts, "\n")
}

// all is everything the model can read, its own words included.
func (r request) all() string {
	parts := []string{r.system}
	for _, m := range r.messages {
		parts = append(parts, m.text)
	}
	return strings.Join(parts, "\n")
}

// spoken is how often the model has spoken since a text was put before it.
func (r request) spoken(since string) int {
	n := 0
	for i := len(r.messages) - 1; i >= 0; i-- {
		if r.messages[i].role == "assistant" {
			n++
		} else if strings.Contains(r.messages[i].text, since) {
			return n
		}
	}
	return n
}

// newModel starts a model on loopback. It ends with the test.
func newModel(t *testing.T, thinks brain) *model {
	t.Helper()
	return newModelAt(t, "127.0.0.1", thinks)
}

func newModelAt(t *testing.T, address string, thinks brain) *model {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	m := &model{url: "http://" + listener.Addr().String(), brain: thinks}
	server := &http.Server{Handler: http.HandlerFunc(m.serve)}
	go server.Serve(listener)
	t.Cleanup(func() { _ = server.Close() })
	return m
}

// seen is every request with tools so far, oldest first.
func (m *model) seen() []request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]request(nil), m.requests...)
}

// read is everything the model was ever shown.
func (m *model) read() string {
	var all strings.Builder
	for _, r := range m.seen() {
		all.WriteString(r.all())
	}
	return all.String()
}

func (m *model) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/messages" {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodPost {
			fmt.Fprint(w, `{"input_tokens":100}`)
			return
		}
		fmt.Fprint(w, `{"data":[],"has_more":false}`)
		return
	}
	var body struct {
		Model    string            `json:"model"`
		System   json.RawMessage   `json:"system"`
		Messages []json.RawMessage `json:"messages"`
		Tools    []json.RawMessage `json:"tools"`
		Stream   bool              `json:"stream"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	asked := request{at: time.Now(), system: textOf(body.System), tools: body.Tools, bytes: int(r.ContentLength)}
	for _, raw := range body.Messages {
		var message struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		}
		if json.Unmarshal(raw, &message) == nil {
			asked.messages = append(asked.messages, turn{message.Role, textOf(message.Content)})
			asked.sizes = append(asked.sizes, len(raw))
		}
	}
	if m.refuses != nil {
		if status := m.refuses(); status != http.StatusOK {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprint(w, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)
			return
		}
	}
	answer := step{text: `{"title":"a title"}`} // titles and summaries come without tools
	if len(body.Tools) > 0 {
		m.mu.Lock()
		m.requests = append(m.requests, asked)
		m.mu.Unlock()
		answer = m.brain(asked)
	}
	write(w, body.Model, body.Stream, answer)
}

// textOf is all text in a content, that of tool results included.
func textOf(content json.RawMessage) string {
	var plain string
	if json.Unmarshal(content, &plain) == nil {
		return plain
	}
	var blocks []struct {
		Text    string          `json:"text"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(content, &blocks) != nil {
		return ""
	}
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

const toolPrefix = "mcp__plugin_c3po_c3po__"

// block is the answer as the API writes it.
func (s step) block() (block map[string]any, delta map[string]any, stop string) {
	if s.tool == "" {
		return map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": s.text}, "end_turn"
	}
	name := s.tool
	if strings.ToLower(name) == name {
		name = toolPrefix + name
	}
	input := s.input
	if input == nil {
		input = map[string]any{}
	}
	arguments, _ := json.Marshal(input)
	return map[string]any{"type": "tool_use", "id": "toolu_" + rand.Text(), "name": name, "input": map[string]any{}},
		map[string]any{"type": "input_json_delta", "partial_json": string(arguments)}, "tool_use"
}

func write(w http.ResponseWriter, name string, stream bool, answer step) {
	block, delta, stop := answer.block()
	message := map[string]any{
		"id": "msg_" + rand.Text(), "type": "message", "role": "assistant", "model": name, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": map[string]int{"input_tokens": 10, "output_tokens": 1},
	}
	if !stream {
		block["text"] = answer.text
		message["content"], message["stop_reason"] = []any{block}, stop
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(message)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(name string, fields map[string]any) {
		fields["type"] = name
		data, _ := json.Marshal(fields)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, data)
	}
	event("message_start", map[string]any{"message": message})
	event("content_block_start", map[string]any{"index": 0, "content_block": block})
	event("content_block_delta", map[string]any{"index": 0, "delta": delta})
	event("content_block_stop", map[string]any{"index": 0})
	event("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]int{"output_tokens": 5}})
	event("message_stop", map[string]any{})
}
