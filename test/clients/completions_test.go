package clients_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// completions is the API that OpenCode speaks, and others.
func (m *model) completions(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name        string `json:"name"`
				Description string `json:"description"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	asked := request{tools: map[string]string{}}
	for _, in := range body.Messages {
		text := textOf(in.Content)
		asked.all += "\n" + text
		asked.fresh += "\n" + text
		if in.Role == "assistant" {
			asked.fresh = ""
		}
	}
	for _, tool := range body.Tools {
		name := tool.Function.Name
		asked.all += "\n" + tool.Function.Description
		// The names of our tools have a prefix that each client makes up.
		for _, prefix := range []string{"mcp__c3po__", "c3po_", "c3po-"} {
			if short, ours := strings.CutPrefix(name, prefix); ours {
				asked.tools[short] = name
				break
			}
		}
	}
	answer := step{text: "a title"}
	if len(body.Tools) > 0 { // else it is asked for the title of a session
		answer = m.think(asked)
	}
	id := rand.Text()
	delta, reason := map[string]any{"role": "assistant", "content": answer.text}, "stop"
	if answer.tool != "" {
		name := answer.tool
		if full := asked.tools[name]; full != "" {
			name = full
		}
		arguments, _ := json.Marshal(answer.input)
		delta, reason = map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{
			"index": 0, "id": "call_" + id, "type": "function", "function": map[string]any{"name": name, "arguments": string(arguments)},
		}}}, "tool_calls"
	}
	w.Header().Set("Content-Type", "text/event-stream")
	chunk := func(delta map[string]any, reason any) {
		data, _ := json.Marshal(map[string]any{
			"id": "chatcmpl-" + id, "object": "chat.completion.chunk", "created": 1, "model": "of-the-test",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": reason}},
			"usage":   map[string]any{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
		})
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
	chunk(delta, nil)
	chunk(map[string]any{}, reason)
	fmt.Fprint(w, "data: [DONE]\n\n")
}
