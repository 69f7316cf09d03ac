package hook_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/internal/agent/hook"
)

func TestEachClientIsAnsweredInItsOwnWords(t *testing.T) {
	t.Parallel()
	mail := hook.Decision{Context: "c3po: x"}
	for by, want := range map[hook.Dialect]map[string]string{
		"": {
			hook.StopEvent: `{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"c3po: x"}}`,
		},
		hook.Codex: {
			hook.StopEvent:   `{"decision":"block","reason":"c3po: x"}`,
			hook.PostToolUse: `{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"c3po: x"}}`,
		},
		hook.Gemini: {
			hook.StopEvent:        `{"decision":"deny","reason":"c3po: x"}`,
			hook.PostToolUse:      `{"hookSpecificOutput":{"hookEventName":"AfterTool","additionalContext":"c3po: x"}}`,
			hook.UserPromptSubmit: `{"hookSpecificOutput":{"hookEventName":"BeforeAgent","additionalContext":"c3po: x"}}`,
			hook.SessionStart:     `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"c3po: x"}}`,
		},
		hook.OpenCode: {
			hook.StopEvent: `{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"c3po: x"}}`,
		},
		hook.Copilot: {
			hook.StopEvent:   `{"decision":"block","reason":"c3po: x"}`,
			hook.PostToolUse: `{"additionalContext":"c3po: x"}`,
		},
		hook.Kimi: {
			hook.StopEvent:        `{"hookSpecificOutput":{"hookEventName":"Stop","permissionDecision":"deny","permissionDecisionReason":"c3po: x"}}`,
			hook.UserPromptSubmit: `c3po: x`,
		},
	} {
		for event, text := range want {
			if diff := cmp.Diff(text, by.Write(mail, event)); diff != "" {
				t.Errorf("%s %s:\n%s", by, event, diff)
			}
			if quiet := by.Write(hook.Decision{}, event); quiet != "{}" && quiet != "" {
				t.Errorf("%s %s: without mail it says %q", by, event, quiet)
			}
		}
	}
}

func TestAPersonIsToldOfACommandThatIsThere(t *testing.T) {
	t.Parallel()
	for _, by := range []hook.Dialect{"", hook.ClaudeCode, hook.Codex, hook.OpenCode, hook.Gemini} {
		text := by.Write(hook.Decision{Person: hook.Unreachable}, hook.UserPromptSubmit)
		ours := by == "" || by == hook.ClaudeCode
		if strings.Contains(text, "Run /c3po:coordinate status") != ours || strings.Contains(text, "Run c3po status") == ours {
			t.Errorf("%s: %s", by, text)
		}
	}
}

func TestATruthValueMayComeAsATextOrAsItself(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"stop_hook_active":true}`, `{"stop_hook_active":"true"}`} {
		var event hook.Event
		if err := json.Unmarshal([]byte(text), &event); err != nil || event.Again != "true" {
			t.Errorf("%s: %+v, %v", text, event, err)
		}
	}
}

func TestEachClientsOwnEventsAreUnderstood(t *testing.T) {
	t.Parallel()
	for _, in := range []struct {
		by         hook.Dialect
		name, text string
		want       hook.Event
	}{
		{hook.Codex, "Stop", `{"session_id":"s","stop_hook_active":true}`, hook.Event{Name: hook.StopEvent, SessionID: "s", Again: "true"}},
		{hook.OpenCode, "PostToolUse", `{"session_id":"s","tool_name":"c3po_get_messages"}`, hook.Event{Name: hook.PostToolUse, SessionID: "s", ToolName: "c3po_get_messages", ToolUseID: "tool:get_messages"}},
		{hook.Copilot, "errorOccurred", `{"sessionId":"s","errorContext":"model_call","recoverable":true,"error":{"name":"Error","message":"{\"type\":\"rate_limit_error\",\"message\":\"Rate limit reached\"}"}}`,
			hook.Event{Name: hook.Refused, SessionID: "s", Said: "Rate limit reached"}},
		{hook.Copilot, "errorOccurred", `{"sessionId":"s","errorContext":"model_call","recoverable":false,"error":{"message":"429"}}`, hook.Event{Name: hook.StopFailure, SessionID: "s", Said: "429"}},
		{hook.OpenCode, "busy", `{"session_id":"s"}`, hook.Event{Name: hook.StillBusy, SessionID: "s"}},
		{hook.Gemini, "AfterAgent", `{"session_id":"s","hook_event_name":"AfterAgent"}`, hook.Event{Name: hook.StopEvent, SessionID: "s"}},
		{hook.Gemini, "BeforeAgent", `{"session_id":"s"}`, hook.Event{Name: hook.UserPromptSubmit, SessionID: "s"}},
		{hook.Copilot, "agentStop", `{"sessionId":"s","timestamp":1}`, hook.Event{Name: hook.StopEvent, SessionID: "s"}},
		{hook.Gemini, "AfterTool", `{"session_id":"s","tool_name":"mcp_c3po_reply"}`, hook.Event{Name: hook.PostToolUse, SessionID: "s", ToolName: "mcp_c3po_reply", ToolUseID: hook.CallOf("reply")}},
		{hook.Gemini, "AfterTool", `{"session_id":"s","tool_name":"read_file"}`, hook.Event{Name: hook.PostToolUse, SessionID: "s", ToolName: "read_file"}},
		{hook.Copilot, "postToolUse", `{"sessionId":"s","toolName":"c3po-reply"}`, hook.Event{Name: hook.PostToolUse, SessionID: "s", ToolName: "c3po-reply", ToolUseID: hook.CallOf("reply")}},
		{hook.Kimi, "PostToolUse", `{"session_id":"s","tool_name":"mcp__c3po__reply"}`, hook.Event{Name: hook.PostToolUse, SessionID: "s", ToolName: "mcp__c3po__reply", ToolUseID: hook.CallOf("reply")}},
		{hook.Copilot, "sessionStart", `{"sessionId":"s","initialPrompt":"x"}`, hook.Event{Name: hook.SessionStart, SessionID: "s"}},
		{hook.Kimi, "UserPromptSubmit", `{"session_id":"s"}`, hook.Event{Name: hook.UserPromptSubmit, SessionID: "s"}},
	} {
		got, ok := in.by.Read(in.name, []byte(in.text))
		if diff := cmp.Diff(in.want, got); !ok || diff != "" {
			t.Errorf("%s %s: %v\n%s", in.by, in.name, ok, diff)
		}
	}
	if _, ok := hook.Gemini.Read("PreCompress", []byte(`{}`)); ok {
		t.Error("an event that nobody decides is taken for one")
	}
}

func TestCopilotIsAllowedOurToolsAndOurCommandAndNothingElse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"toolName":"c3po-reply"}`: true,
		`{"toolName":"bash","toolArgs":{"command":"c3po wait --notice","mode":"async"}}`: true,
		`{"toolName":"bash","toolArgs":"{\"command\":\"c3po wait --notice\"}"}`:          true,
		`{"toolName":"bash","toolArgs":{"command":"c3po wait --notice; rm -rf ."}}`:      false,
		`{"toolName":"bash","toolArgs":{"command":"c3po human answer 1 yes"}}`:           false,
		`{"toolName":"write","toolArgs":{"command":"c3po wait --notice"}}`:               false,
		`{"toolName":"other-c3po-reply"}`:                                                false,
	} {
		if _, got := hook.Copilot.Read("preToolUse", []byte(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	if got := hook.Copilot.Allow(); !strings.HasPrefix(got, `{"permissionDecision":"allow"`) {
		t.Error(got)
	}
}

// Kimi writes a prompt as parts. An event that is not understood is not heard at all.
func TestAPromptIsReadHoweverItsClientWritesIt(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		`"hello"`:                             "hello",
		`[{"type":"text","text":"hello"}]`:    "hello",
		`[{"type":"image"},{"text":"hello"}]`: "hello",
		`{"unheard":"of"}`:                    "",
		`null`:                                "",
	} {
		event, ok := hook.Kimi.Read(hook.UserPromptSubmit, []byte(`{"session_id":"s1","prompt":`+written+`}`))
		if !ok || event.SessionID != "s1" || event.Prompt != want {
			t.Errorf("%s is read as %+v, %v", written, event, ok)
		}
	}
}
