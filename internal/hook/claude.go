package hook

import (
	"encoding/json"
)

// An Event is what Claude Code says when it calls a hook. As arguments of an MCP
// tool every value arrives as a text, and one that is missing as an empty one.
type Event struct {
	Name      string `json:"hook_event_name"`
	SessionID string `json:"session_id,omitempty"`
	Source    string `json:"source,omitempty"` // of SessionStart: startup, resume, clear or compact
	Reason    string `json:"reason,omitempty"` // of SessionEnd
	ToolName  string `json:"tool_name,omitempty"`
	ToolUseID string `json:"tool_use_id,omitempty"`
	AgentID   string `json:"agent_id,omitempty"`   // of a subagent
	AgentType string `json:"agent_type,omitempty"` // of a subagent
	Again     Word   `json:"stop_hook_active,omitempty"`
	Attended  string `json:"attended,omitempty"` // of SessionStart: 1, or 0 if a script runs the client; empty if it did not say
}

// A Word is a text, or a truth value that its client writes as one or the other.
type Word string

// UnmarshalJSON takes both.
func (w *Word) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) != nil {
		text = string(data)
	}
	*w = Word(text)
	return nil
}

// The events that are answered.
const (
	SessionStart     = "SessionStart"
	SessionEnd       = "SessionEnd"
	UserPromptSubmit = "UserPromptSubmit"
	PreToolUse       = "PreToolUse"
	PostToolUse      = "PostToolUse"
	StopEvent        = "Stop"
)

type output struct {
	Decision string    `json:"decision,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Message  string    `json:"systemMessage,omitempty"`
	Specific *specific `json:"hookSpecificOutput,omitempty"`
}

type specific struct {
	Event      string `json:"hookEventName"`
	Context    string `json:"additionalContext,omitempty"`
	Permission string `json:"permissionDecision,omitempty"`
	Reason     string `json:"permissionDecisionReason,omitempty"`
}

// JSON is the decision as Claude Code takes it.
func (d Decision) JSON(event string) string {
	out := output{Message: d.Person}
	if d.Context != "" {
		out.Specific = &specific{Event: event, Context: d.Context}
	}
	return encode(out)
}

// Allow lets one of our own tools run without a question to the person, who has
// agreed to them by installing them. Rules of the person's that deny or ask win.
func Allow() string {
	return encode(output{Specific: &specific{Event: PreToolUse, Permission: "allow", Reason: "c3po was installed for this"}})
}

func encode(out output) string {
	text, err := json.Marshal(out)
	if err != nil {
		return "{}" // texts cannot fail to become JSON
	}
	return string(text)
}
