package llm

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

func readResponses(_ *http.Request, text []byte) (Request, error) {
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
	if err := json.Unmarshal(text, &body); err != nil {
		return Request{}, err
	}
	asked := Request{System: body.Instructions, names: map[string]string{}}
	for _, in := range body.Input {
		if in.Type == "function_call" || in.Type == "custom_tool_call" {
			in.Role = Assistant
		}
		asked.Messages = append(asked.Messages, Message{Role: in.Role, Text: textOf(in.Content) + textOf(in.Output)})
	}
	for _, group := range body.Tools {
		if group.Type == "custom" {
			asked.free = append(asked.free, group.Name)
		}
		for _, tool := range group.Tools {
			asked.names[tool.Name] = group.Name
		}
	}
	if len(body.Tools) == 0 { // it is asked for the title of a session
		asked.aside = "a title"
	}
	return asked, nil
}

func writeResponse(w http.ResponseWriter, asked Request, answer Step) {
	id := rand.Text()
	item := map[string]any{
		"type": "message", "id": "msg_" + id, "role": Assistant, "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": answer.Text, "annotations": []any{}}},
	}
	if answer.Tool != "" {
		arguments, _ := json.Marshal(answer.Input)
		item = map[string]any{
			"type": "function_call", "id": "fc_" + id, "call_id": "call_" + id, "status": "completed",
			"name": answer.Tool, "namespace": asked.names[answer.Tool], "arguments": string(arguments),
		}
	}
	if slices.Contains(asked.free, answer.Tool) {
		item = map[string]any{
			"type": "custom_tool_call", "id": "ctc_" + id, "call_id": "call_" + id, "status": "completed", "name": answer.Tool, "input": answer.Input["input"],
		}
	}
	event := eventsTo(w)
	event("response.created", map[string]any{"response": map[string]any{"id": "resp_" + id, "object": "response", "status": "in_progress", "output": []any{}}})
	event("response.output_item.added", map[string]any{"output_index": 0, "item": item})
	event("response.output_item.done", map[string]any{"output_index": 0, "item": item})
	event("response.completed", map[string]any{"response": map[string]any{
		"id": "resp_" + id, "object": "response", "status": "completed", "output": []any{item},
		"usage": map[string]any{"input_tokens": 10, "output_tokens": 5, "total_tokens": 15},
	}})
}

func readCompletions(_ *http.Request, text []byte) (Request, error) {
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
	if err := json.Unmarshal(text, &body); err != nil {
		return Request{}, err
	}
	asked := Request{names: map[string]string{}}
	for _, in := range body.Messages {
		asked.Messages = append(asked.Messages, Message{Role: in.Role, Text: textOf(in.Content)})
	}
	for _, tool := range body.Tools {
		name := tool.Function.Name
		asked.System += "\n" + tool.Function.Description
		// The names of our tools have a prefix that each client makes up.
		for _, prefix := range []string{"mcp__c3po__", "c3po_", "c3po-"} {
			if short, ours := strings.CutPrefix(name, prefix); ours {
				asked.names[short] = name
				break
			}
		}
	}
	if len(body.Tools) == 0 { // it is asked for the title of a session
		asked.aside = "a title"
	}
	return asked, nil
}

func writeCompletion(w http.ResponseWriter, asked Request, answer Step) {
	id := rand.Text()
	delta, reason := map[string]any{"role": Assistant, "content": answer.Text}, "stop"
	if name := answer.Tool; name != "" {
		if full := asked.names[name]; full != "" {
			name = full
		}
		arguments, _ := json.Marshal(answer.Input)
		delta, reason = map[string]any{"role": Assistant, "tool_calls": []any{map[string]any{
			"index": 0, "id": "call_" + id, "type": "function", "function": map[string]any{"name": name, "arguments": string(arguments)},
		}}}, "tool_calls"
	}
	event := eventsTo(w)
	chunk := func(delta map[string]any, reason any) {
		event("", map[string]any{
			"id": "chatcmpl-" + id, "object": "chat.completion.chunk", "created": 1, "model": "of-the-test",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": reason}},
			"usage":   map[string]any{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
		})
	}
	chunk(delta, nil)
	chunk(map[string]any{}, reason)
	fmt.Fprint(w, "data: [DONE]\n\n")
}
