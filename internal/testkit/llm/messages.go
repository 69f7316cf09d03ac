package llm

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strings"
)

// ToolPrefix is how Claude Code calls c3po's tools.
const ToolPrefix = "mcp__plugin_c3po_c3po__"

func readMessages(_ *http.Request, text []byte) (Request, error) {
	var body struct {
		Model    string            `json:"model"`
		System   json.RawMessage   `json:"system"`
		Messages []json.RawMessage `json:"messages"`
		Tools    []json.RawMessage `json:"tools"`
		Stream   bool              `json:"stream"`
	}
	if err := json.Unmarshal(text, &body); err != nil {
		return Request{}, err
	}
	asked := Request{System: textOf(body.System), Tools: body.Tools, model: body.Model, stream: body.Stream}
	for _, raw := range body.Messages {
		var message struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		}
		if err := json.Unmarshal(raw, &message); err != nil {
			return Request{}, err
		}
		asked.Messages = append(asked.Messages, Message{message.Role, textOf(message.Content), len(raw)})
	}
	if len(body.Tools) == 0 { // titles and summaries come without
		asked.aside = `{"title":"a title"}`
	}
	return asked, nil
}

func writeMessage(w http.ResponseWriter, asked Request, answer Step) {
	block, delta, stop := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": answer.Text}, "end_turn"
	if name := answer.Tool; name != "" {
		if strings.ToLower(name) == name { // its own begin with a capital letter
			name = ToolPrefix + name
		}
		arguments, _ := json.Marshal(answer.Input)
		block = map[string]any{"type": "tool_use", "id": "toolu_" + rand.Text(), "name": name, "input": map[string]any{}}
		delta, stop = map[string]any{"type": "input_json_delta", "partial_json": string(arguments)}, "tool_use"
	}
	message := map[string]any{
		"id": "msg_" + rand.Text(), "type": "message", "role": Assistant, "model": asked.model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": map[string]int{"input_tokens": 10, "output_tokens": 1},
	}
	if !asked.stream {
		block["text"] = answer.Text
		message["content"], message["stop_reason"] = []any{block}, stop
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(message)
		return
	}
	event := eventsTo(w)
	event("message_start", map[string]any{"message": message})
	index := 0
	write := func(block, delta map[string]any) {
		event("content_block_start", map[string]any{"index": index, "content_block": block})
		event("content_block_delta", map[string]any{"index": index, "delta": delta})
		event("content_block_stop", map[string]any{"index": index})
		index++
	}
	if answer.Tool != "" && answer.Text != "" {
		write(map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": answer.Text})
	}
	write(block, delta)
	event("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]int{"output_tokens": cmp.Or(answer.Used, 5)}})
	event("message_stop", map[string]any{})
}
