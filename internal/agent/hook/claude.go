package hook

import (
	"encoding/json"
	"regexp"
	"strings"
)

// An Event is what Claude Code says when it calls a hook. As arguments of an MCP
// tool every value arrives as a text, and one that is missing as an empty one.
type Event struct {
	Name       string `json:"hook_event_name"`
	SessionID  string `json:"session_id,omitempty"`
	Source     string `json:"source,omitempty"` // of SessionStart: startup, resume, clear or compact
	Reason     string `json:"reason,omitempty"` // of SessionEnd; of Approve: what the agent said before, if its client tells
	Kind       string `json:"notification_type,omitempty"`
	ToolName   string `json:"tool_name,omitempty"`
	ToolUseID  string `json:"tool_use_id,omitempty"`
	Input      Object `json:"tool_input,omitempty"`      // the tool's arguments
	File       string `json:"file_path,omitempty"`       // of a tool that edits one, if the client says it apart
	Notebook   string `json:"notebook_path,omitempty"`   // likewise
	Cwd        string `json:"cwd,omitempty"`             // of Approve and an edit: where the tool would run
	Transcript string `json:"transcript_path,omitempty"` // of Approve: where the client keeps what was said
	Mode       string `json:"permission_mode,omitempty"`
	Model      string `json:"model,omitempty"`      // of SessionStart, if the client says it
	AgentID    string `json:"agent_id,omitempty"`   // of a subagent
	AgentType  string `json:"agent_type,omitempty"` // of a subagent
	Again      Word   `json:"stop_hook_active,omitempty"`
	Prompt     string `json:"prompt,omitempty"`                 // of UserPromptSubmit; empty if the client does not show it
	Error      string `json:"error,omitempty"`                  // of StopFailure: what kind of failure it was
	Said       string `json:"last_assistant_message,omitempty"` // of StopFailure: what its user reads
	RetryAt    Word   `json:"retry_at,omitempty"`               // of Refused: when the client asks its model again, in milliseconds since 1970
	Attended   string `json:"attended,omitempty"`               // of SessionStart: 1, or 0 if a script runs the client; empty if it did not say
	Used       *Used  `json:"used,omitempty"`                   // of Counted
}

// Used is what a client says that it has used: for one request to the model, or for all of a
// turn.
type Used struct {
	Request    string  `json:"request,omitempty"` // its name; empty for a turn
	At         int64   `json:"at,omitempty"`      // when the request was made, in milliseconds
	Input      int64   `json:"input,omitempty"`   // without what was cached
	Output     int64   `json:"output,omitempty"`
	CacheRead  int64   `json:"cache_read,omitempty"`
	CacheWrite int64   `json:"cache_write,omitempty"`
	USD        float64 `json:"usd,omitempty"`
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

// An Object is JSON, which a client also writes as a text that holds it.
type Object json.RawMessage

// UnmarshalJSON takes both.
func (o *Object) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		data = []byte(text)
	}
	*o = append((*o)[:0], data...)
	return nil
}

// MarshalJSON writes what was read, or null if that was no JSON.
func (o Object) MarshalJSON() ([]byte, error) {
	if !json.Valid(o) {
		return []byte("null"), nil
	}
	return o, nil
}

// ByPerson says that the event is a prompt that a person has written. Claude Code
// also calls the hook for a task in the background that has news, and others for
// what makes a turn go on, which is a notice of ours.
func (e Event) ByPerson() bool {
	return e.Name == UserPromptSubmit && e.Prompt != "" && !strings.HasPrefix(e.Prompt, "<task-notification>") && !strings.HasPrefix(e.Prompt, "c3po: ")
}

// The events that are answered.
const (
	SessionStart     = "SessionStart"
	SessionEnd       = "SessionEnd"
	UserPromptSubmit = "UserPromptSubmit"
	PreToolUse       = "PreToolUse"
	PostToolUse      = "PostToolUse"
	ToolFailed       = "PostToolUseFailure"
	ToolDenied       = "PermissionDenied" // nobody runs the tool
	StopEvent        = "Stop"
	StopFailure      = "StopFailure" // the turn ended because the model could not be asked
	// Refused is a turn whose model is refused to it, and that its client goes on with by
	// itself after a while.
	Refused      = "Refused"
	StillBusy    = "StillBusy" // the turn goes on, and may not have made a step
	DialogOpens  = "PermissionRequest"
	Notification = "Notification"
	// DialogCloses is a dialog that is decided, or moot.
	DialogCloses = "DialogCloses"
	// Approve is a dialog that opens, asked by a hook that waits for the person's verdict.
	Approve = "Approve"
	// Counted tells what was used.
	Counted = "Counted"
	// Commit is git's: the files in Input are about to be committed.
	Commit = "Commit"
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

// ourPrefix is what Claude Code puts before the names of our tools: plugin and server.
const ourPrefix = "mcp__plugin_c3po_c3po__"

// ourTools are those that a model has a use for. Two underscores would begin another part of the
// name, of a server that is not ours; those with a digit are for Claude Code itself to call.
var ourTools = regexp.MustCompile("^" + ourPrefix + "[a-z]+(_[a-z]+)*$")

// PromptTool is what Claude Code calls in the place of a dialog while nobody sits at it, and
// ClaudePromptTool its name there.
const (
	PromptTool       = "c3po_approve"
	ClaudePromptTool = ourPrefix + PromptTool
)

// Ours says that a tool is one of ours.
func Ours(tool string) bool { return ourTools.MatchString(tool) }

// PlanMode is the mode in which Claude Code asks about every tool.
const PlanMode = "plan"

// AllowDialog answers a dialog that asks whether one of our own tools may run. Plan
// mode opens one whatever was said before.
func AllowDialog() string {
	return `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`
}

// Judge is the person's verdict on a dialog, as the client takes it. A denial goes to
// the model with the person's words, if they are more than the choice.
func (by Dialect) Judge(allow bool, words string) string {
	type decision struct {
		Behavior string `json:"behavior"`
		Message  string `json:"message,omitempty"`
	}
	d := decision{Behavior: "allow"}
	if !allow {
		d = decision{"deny", DeniedByPerson(words)}
	}
	var out any = map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": DialogOpens, "decision": d}}
	if by == Copilot {
		out = d
	}
	text, err := json.Marshal(out)
	if err != nil {
		return "{}" // texts cannot fail to become JSON
	}
	return string(text)
}

func encode(out output) string {
	text, err := json.Marshal(out)
	if err != nil {
		return "{}" // texts cannot fail to become JSON
	}
	return string(text)
}
