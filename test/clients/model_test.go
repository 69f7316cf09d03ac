package clients_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// A model stands for the model behind a client: its API on loopback, answered by
// a brain that knows nothing but the request.
type model struct {
	url   string
	brain brain

	mu       sync.Mutex
	requests []request
}

// A brain decides what the model says to a request.
type brain func(request) step

// A step is one answer of the model: a text, or the use of a tool of c3po.
type step struct {
	text  string
	tool  string
	input map[string]any
}

// A request is what a client has put before the model.
type request struct {
	all   string // everything the model can read
	fresh string // what has come since it last spoke
	tools map[string]string
}

func newModel(t *testing.T, thinks brain) *model {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &model{url: "http://" + listener.Addr().String(), brain: thinks}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/responses", m.responses)
	mux.HandleFunc("POST /v1beta/models/", m.gemini)
	mux.HandleFunc("POST /v1/chat/completions", m.completions)
	mux.HandleFunc("POST /v1/messages", m.messages)
	server := &http.Server{Handler: mux}
	go server.Serve(listener)
	t.Cleanup(func() { _ = server.Close() })
	return m
}

// read is everything the model was ever shown.
func (m *model) read() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all strings.Builder
	for _, r := range m.requests {
		all.WriteString(r.all)
	}
	return all.String()
}

// count is how often it was asked.
func (m *model) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.requests)
}

func (m *model) think(r request) step {
	m.mu.Lock()
	m.requests = append(m.requests, r)
	m.mu.Unlock()
	return m.brain(r)
}

// responses is the API that Codex speaks.
func (m *model) responses(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Instructions string `json:"instructions"`
		Input        []struct {
			Type    string          `json:"type"`
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
			Output  json.RawMessage `json:"output"`
		} `json:"input"`
		Tools []struct {
			Type  string `json:"type"`
			Name  string `json:"name"`
			Tools []struct {
				Name string `json:"name"`
			} `json:"tools"`
		} `json:"tools"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	asked := request{all: body.Instructions, tools: map[string]string{}}
	for _, in := range body.Input {
		text := textOf(in.Content) + textOf(in.Output)
		asked.all += "\n" + text
		asked.fresh += "\n" + text
		if in.Role == "assistant" || in.Type == "function_call" {
			asked.fresh = ""
		}
	}
	for _, group := range body.Tools {
		for _, tool := range group.Tools {
			asked.tools[tool.Name] = group.Name
		}
	}
	answer := m.think(asked)
	id := rand.Text()
	item := map[string]any{
		"type": "message", "id": "msg_" + id, "role": "assistant", "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": answer.text, "annotations": []any{}}},
	}
	if answer.tool != "" {
		arguments, _ := json.Marshal(answer.input)
		item = map[string]any{
			"type": "function_call", "id": "fc_" + id, "call_id": "call_" + id, "status": "completed",
			"name": answer.tool, "namespace": asked.tools[answer.tool], "arguments": string(arguments),
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(name string, fields map[string]any) {
		fields["type"] = name
		data, _ := json.Marshal(fields)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, data)
	}
	response := map[string]any{"id": "resp_" + id, "object": "response", "status": "in_progress", "output": []any{}}
	event("response.created", map[string]any{"response": response})
	event("response.output_item.added", map[string]any{"output_index": 0, "item": item})
	event("response.output_item.done", map[string]any{"output_index": 0, "item": item})
	event("response.completed", map[string]any{"response": map[string]any{
		"id": "resp_" + id, "object": "response", "status": "completed", "output": []any{item},
		"usage": map[string]any{"input_tokens": 10, "output_tokens": 5, "total_tokens": 15},
	}})
}

// textOf is all text in a content.
func textOf(content json.RawMessage) string {
	var plain string
	if json.Unmarshal(content, &plain) == nil {
		return plain
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(content, &blocks) // what is neither has no text
	var parts []string
	for _, b := range blocks {
		parts = append(parts, b.Text)
	}
	return strings.Join(parts, "\n")
}

var (
	// toAnswer is the call that an envelope offers for a message.
	toAnswer = regexp.MustCompile(`to answer: reply\(message_id="([^"]+)"`)
	// notice is how every hook of ours speaks of mail.
	notice = regexp.MustCompile(`c3po: [^\n<]*get_messages shows (it|them)`)
)

// reading is a model that reads its mail when it is told of some, answers what
// expects an answer, and else does what do says. It knows what it was shown and
// nothing else.
func reading(answer string, do brain) brain {
	return func(r request) step {
		if match := toAnswer.FindStringSubmatch(r.fresh); match != nil {
			return step{tool: "reply", input: map[string]any{"message_id": match[1], "response": answer}}
		}
		if notice.MatchString(r.fresh) {
			return step{tool: "get_messages", input: map[string]any{}}
		}
		return do(r)
	}
}
