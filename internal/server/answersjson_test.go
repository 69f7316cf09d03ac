package server_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

// asProgram calls a tool over /mcp?answers=json, and gives the only block of its answer.
func asProgram(t *testing.T, url, agent, toolset, tool, arguments string) (block any, isError bool) {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments)
	_, text, err := call(t.Context(), http.DefaultClient, "POST", url+"/mcp?answers=json&tools="+toolset, "", body,
		auth.AgentHeader, agent, "Accept", "application/json, text/event-stream")
	if err != nil {
		t.Fatal(err)
	}
	for line := bufio.NewScanner(strings.NewReader(text)); line.Scan(); {
		if data, ok := strings.CutPrefix(line.Text(), "data: "); ok {
			text = data
		}
	}
	var answer struct {
		Result struct {
			IsError    bool
			Structured any `json:"structuredContent"`
			Content    []struct{ Text string }
		}
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil || len(answer.Result.Content) != 1 || answer.Result.Structured != nil {
		t.Fatalf("%s answers %v %s", tool, err, text)
	}
	if err := json.Unmarshal([]byte(answer.Result.Content[0].Text), &block); err != nil {
		t.Fatalf("%s answers no JSON: %s", tool, answer.Result.Content[0].Text)
	}
	return block, answer.Result.IsError
}

// fields are the names in an object, or in the first object of an array.
func fields(block any) (kind string, names []string) {
	kind = "object"
	if list, ok := block.([]any); ok {
		if kind = "array"; len(list) == 0 {
			return kind, nil
		}
		block = list[0]
	}
	if object, ok := block.(map[string]any); ok {
		for name := range object {
			names = append(names, name)
		}
	}
	return kind, names
}

// The shapes are those that the first two documents print.
func TestAProgramReadsTheShapesOfTheFirstDocumentsOverMCP(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{RedisURL: redistest.Start(t), Auth: auth.None})
	var asked string
	for _, step := range []struct {
		agent, toolset, tool, arguments string
		kind                            string
		want                            string
	}{
		{"meshtastic", "core", "register_agent", `{"capabilities":["mqtt"]}`, "object", "id capabilities registered_at last_seen status"},
		{"homeassistant", "core", "ping", `{}`, "object", "pong timestamp"},
		{"homeassistant", "core", "list_agents", `{}`, "array", "id status capabilities registered_at last_seen"},
		{"homeassistant", "core", "get_messages", `{}`, "array", ""},
		{"homeassistant", "core", "send_message", `{"target":"meshtastic","message":"Which topics?","context":"a dashboard"}`, "object", "id from_agent to_agent message context timestamp status"},
		{"meshtastic", "core", "wait_for_message", `{"timeout":1}`, "object", "id from_agent message context timestamp"},
		{"meshtastic", "core", "get_messages", `{}`, "array", "id from_agent message context timestamp"},
		{"meshtastic", "core", "reply", `{"message_id":"ASKED","response":"mesh/#"}`, "object", "message_id from_agent to_agent response status timestamp"},
		{"homeassistant", "core", "wait_for_message", `{"timeout":5,"message_id":"ASKED"}`, "object", "message_id from_agent response status timestamp"},
		{"meshtastic", "core", "wait_for_message", `{"timeout":1}`, "object", "status code message suggestion"},
		{"homeassistant", "compat", "send_request", `{"target":"meshtastic","message":"And now?"}`, "object", "request_id status"},
		{"meshtastic", "compat", "wait_for_request", `{"timeout":1}`, "object", "request"},
		{"meshtastic", "compat", "get_pending_requests", `{}`, "array", "id from message context timestamp"},
		{"meshtastic", "compat", "respond_to_request", `{"request_id":"ASKED","response":"the same"}`, "object", "success"},
		{"homeassistant", "compat", "wait_for_response", `{"timeout":5,"request_id":"ASKED"}`, "object", "response status"},
		{"meshtastic", "compat", "wait_for_request", `{"timeout":1}`, "object", "timeout"},
	} {
		block, isError := asProgram(t, s.url, step.agent, step.toolset, step.tool, strings.ReplaceAll(step.arguments, "ASKED", asked))
		kind, names := fields(block)
		if isError || kind != step.kind {
			t.Fatalf("%s answers %v", step.tool, block)
		}
		for _, name := range strings.Fields(step.want) {
			if !slices.Contains(names, name) {
				t.Errorf("%s answers %v without %s", step.tool, block, name)
			}
		}
		if object, ok := block.(map[string]any); ok && strings.HasPrefix(step.tool, "send_") {
			for _, name := range []string{"id", "request_id"} {
				if id, ok := object[name].(string); ok && strings.Contains(id, "::") {
					asked = id
				}
			}
		}
	}
}

func TestEveryToolAnswersAProgramInOneBlockOfJSON(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{RedisURL: redistest.Start(t), Auth: auth.None})
	for _, op := range dialect.Operations() {
		if op.Toolset != "" && op.Tool != "" {
			asProgram(t, s.url, "api", string(op.Toolset), op.Tool, `{"timeout":1,"timeoutMs":1}`)
		}
	}
}

func TestAnUnknownFormOfAnswersIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{RedisURL: redistest.Start(t), Auth: auth.None})
	status, text, err := call(t.Context(), http.DefaultClient, "POST", s.url+"/mcp?answers=xml", "", `{}`)
	if err != nil || status != http.StatusBadRequest || !strings.Contains(text, "answers is") {
		t.Errorf("%d %s %v", status, text, err)
	}
}
