package runner_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// A model stands for the model behind Claude Code: the Messages API on loopback,
// answered by a brain that knows nothing but what it was shown.
type model struct{ url string }

// A brain decides what the model says to what is new to it. Of a step that hangs
// nothing is ever said.
type brain func(fresh string) step

// A step is one answer of the model: a text, or the use of a tool of c3po.
type step struct {
	text  string
	tool  string
	input map[string]any
	hangs bool
}

// toAnswer is the call that is offered for a message.
var toAnswer = regexp.MustCompile(`to answer: reply\(message_id="([^"]+)"`)

// answerAll is a model that reads its mail and answers each message, the oldest
// first, until none is left.
func answerAll(fresh string) step {
	if match := toAnswer.FindStringSubmatch(fresh); match != nil {
		return step{tool: "reply", input: map[string]any{"message_id": match[1], "response": "answered"}}
	}
	if strings.Contains(fresh, "no unacked messages") {
		return step{text: "NOTHING-MORE"}
	}
	return step{tool: "get_messages"}
}

func newModel(t *testing.T, thinks brain) *model {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(w, r, thinks) })}
	go server.Serve(listener)
	t.Cleanup(func() { _ = server.Close() })
	return &model{url: "http://" + listener.Addr().String()}
}

func serve(w http.ResponseWriter, r *http.Request, thinks brain) {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/messages" {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"data":[],"has_more":false,"input_tokens":100}`)
		return
	}
	var body struct {
		Model    string            `json:"model"`
		Messages []json.RawMessage `json:"messages"`
		Tools    []json.RawMessage `json:"tools"`
		Stream   bool              `json:"stream"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer := step{text: `{"title":"a title"}`} // titles and summaries come without tools
	if len(body.Tools) > 0 {
		answer = thinks(fresh(body.Messages))
	}
	if answer.hangs {
		<-r.Context().Done()
		return
	}
	write(w, body.Model, body.Stream, answer)
}

// fresh is what has come since the model last spoke.
func fresh(messages []json.RawMessage) string {
	var parts []string
	for i := len(messages) - 1; i >= 0; i-- {
		var message struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		}
		if json.Unmarshal(messages[i], &message) != nil || message.Role == "assistant" {
			break
		}
		parts = append([]string{textOf(message.Content)}, parts...)
	}
	return strings.Join(parts, "\n")
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
		parts = append(parts, b.Text)
	}
	return strings.Join(parts, "\n")
}

const toolPrefix = "mcp__plugin_c3po_c3po__"

func write(w http.ResponseWriter, name string, stream bool, answer step) {
	block, delta, stop := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": answer.text}, "end_turn"
	if answer.tool != "" {
		if answer.input == nil {
			answer.input = map[string]any{}
		}
		arguments, _ := json.Marshal(answer.input)
		block = map[string]any{"type": "tool_use", "id": "toolu_" + rand.Text(), "name": toolPrefix + answer.tool, "input": map[string]any{}}
		delta, stop = map[string]any{"type": "input_json_delta", "partial_json": string(arguments)}, "tool_use"
	}
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
