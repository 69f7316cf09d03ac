package clients_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// messages is the API that Claude Code speaks.
func (m *model) messages(w http.ResponseWriter, r *http.Request) {
	var body struct {
		System   json.RawMessage `json:"system"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	asked := request{all: textOf(body.System), tools: map[string]string{}}
	for _, in := range body.Messages {
		text := textOf(in.Content) + resultsOf(in.Content)
		asked.all += "\n" + text
		asked.fresh += "\n" + text
		if in.Role == "assistant" {
			asked.fresh = ""
		}
	}
	for _, tool := range body.Tools {
		if short, ours := strings.CutPrefix(tool.Name, "mcp__plugin_c3po_c3po__"); ours {
			asked.tools[short] = tool.Name
		}
	}
	answer := step{text: `{"title":"a title"}`}
	if len(body.Tools) > 0 { // else it is asked for a title
		answer = m.think(asked)
	}
	block, delta, stop := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": answer.text}, "end_turn"
	if answer.tool != "" {
		arguments, _ := json.Marshal(answer.input)
		block = map[string]any{"type": "tool_use", "id": "toolu_" + rand.Text(), "name": asked.tools[answer.tool], "input": map[string]any{}}
		delta, stop = map[string]any{"type": "input_json_delta", "partial_json": string(arguments)}, "tool_use"
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(name string, fields map[string]any) {
		fields["type"] = name
		data, _ := json.Marshal(fields)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, data)
	}
	event("message_start", map[string]any{"message": map[string]any{
		"id": "msg_" + rand.Text(), "type": "message", "role": "assistant", "model": "of-the-test", "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": map[string]int{"input_tokens": 10, "output_tokens": 1},
	}})
	event("content_block_start", map[string]any{"index": 0, "content_block": block})
	event("content_block_delta", map[string]any{"index": 0, "delta": delta})
	event("content_block_stop", map[string]any{"index": 0})
	event("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]int{"output_tokens": 5}})
	event("message_stop", map[string]any{})
}

// resultsOf is the text of the results of tools in a content.
func resultsOf(content json.RawMessage) string {
	var blocks []struct {
		Content json.RawMessage `json:"content"`
	}
	_ = json.Unmarshal(content, &blocks) // a plain text has no results
	var all strings.Builder
	for _, b := range blocks {
		all.WriteString(textOf(b.Content))
	}
	return all.String()
}
