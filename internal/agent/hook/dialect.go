package hook

import (
	"cmp"
	"encoding/json"
	"strings"
)

// A Dialect is how a client takes the answer of a hook. The zero value is Claude Code's.
type Dialect string

// The dialects. Each is called as its client is by `c3po mcp --client`.
const (
	ClaudeCode Dialect = "claude-code"
	Codex      Dialect = "codex"
	Gemini     Dialect = "gemini"
	Copilot    Dialect = "copilot"
	Kimi       Dialect = "kimi"
	OpenCode   Dialect = "opencode"
)

// IsClaude says that the client is Claude Code.
func (by Dialect) IsClaude() bool { return by == "" || by == ClaudeCode }

// Write is a decision about an event, as the client takes it. What makes a turn
// go on has another form in each of them.
func (by Dialect) Write(d Decision, event string) string {
	if by != "" && by != ClaudeCode {
		d.Person = strings.ReplaceAll(d.Person, "/c3po:coordinate status", "c3po status") // the former is a command of the plugin
	}
	switch by {
	case Codex:
		if event == StopEvent && d.Context != "" {
			return encode(output{Message: d.Person, Decision: "block", Reason: d.Context})
		}
	case Gemini:
		return by.gemini(d, event)
	case Copilot:
		return by.copilot(d, event)
	case Kimi:
		return by.kimi(d, event)
	}
	return d.JSON(event)
}

func (Dialect) gemini(d Decision, event string) string {
	if event == StopEvent && d.Context != "" {
		return encode(output{Message: d.Person, Decision: "deny", Reason: d.Context})
	}
	names := map[string]string{UserPromptSubmit: "BeforeAgent", PostToolUse: "AfterTool"}
	if name := names[event]; name != "" {
		event = name
	}
	return d.JSON(event)
}

// copilot has no place for a word to the person.
func (Dialect) copilot(d Decision, event string) string {
	switch {
	case d.Context == "":
		return "{}"
	case event == StopEvent:
		return encode(output{Decision: "block", Reason: d.Context})
	}
	text, err := json.Marshal(map[string]string{"additionalContext": d.Context})
	if err != nil {
		return "{}" // texts cannot fail to become JSON
	}
	return string(text)
}

// Waiting is the command that tells an agent of mail by ending, in a background
// shell.
const Waiting = "c3po wait --notice"

// Waits says that the command in a background shell is the only way to wake an
// idle session of the client.
func (by Dialect) Waits() bool { return by == Copilot || by == Kimi }

// Prints says that what a hook tells the model is part of what the client prints.
func (by Dialect) Prints() bool { return by == Kimi }

// Blocks says that the client opens no dialog while a hook decides about it.
func (by Dialect) Blocks() bool { return by == Codex || by == Copilot }

// TellsClosing says that the client tells when a dialog closes, however it does.
func (by Dialect) TellsClosing() bool { return by == OpenCode || by == Kimi }

// Deaf says that the client does not pass on what a hook says in the middle of a
// turn.
func (by Dialect) Deaf() bool { return by == Kimi }

// copilotMay says that a tool is ours, or runs our command and nothing else.
func copilotMay(tool string, input json.RawMessage) bool {
	if strings.HasPrefix(tool, "c3po-") {
		return true
	}
	var text string
	if json.Unmarshal(input, &text) == nil {
		input = json.RawMessage(text) // its arguments come as a text of JSON, or as themselves
	}
	var shell struct {
		Command string `json:"command"`
	}
	return tool == "bash" && json.Unmarshal(input, &shell) == nil && strings.TrimSpace(shell.Command) == Waiting
}

// May says that a tool is one of ours, by the name that the client gives it. Nothing else is
// allowed by us, whatever a hook's configuration lets through.
func (by Dialect) May(e Event) bool {
	switch {
	case by.IsClaude():
		return Ours(e.ToolName)
	case by == Copilot:
		return copilotMay(e.ToolName, json.RawMessage(e.Input))
	}
	return false
}

// Allow lets a tool run that is ours.
func (by Dialect) Allow() string {
	if by == Copilot {
		return `{"permissionDecision":"allow","permissionDecisionReason":"c3po was installed for this"}`
	}
	return Allow()
}

// kimi adds what a hook prints to the context; at the end of a turn it wants a
// denial.
func (Dialect) kimi(d Decision, event string) string {
	if event != StopEvent || d.Context == "" {
		return d.Context
	}
	return encode(output{Specific: &specific{Event: event, Permission: "deny", Reason: d.Context}})
}

// Read is an event as the client hands it to a command. name is what the client
// calls the event.
func (by Dialect) Read(name string, data []byte) (Event, bool) {
	if by == Copilot && name == copilotFails {
		return copilotFailure(data)
	}
	var read struct {
		Event
		Prompt said `json:"prompt"`
	}
	if json.Unmarshal(data, &read) != nil {
		return Event{}, false
	}
	event := read.Event
	event.Prompt = string(read.Prompt)
	if by == Copilot {
		var own struct {
			Session string          `json:"sessionId"`
			Tool    string          `json:"toolName"`
			Input   json.RawMessage `json:"toolArgs"`
			Asked   Object          `json:"toolInput"` // of a dialog
		}
		if json.Unmarshal(data, &own) != nil {
			return Event{}, false
		}
		event.SessionID, event.ToolName, event.Input = cmp.Or(own.Session, event.SessionID), own.Tool, own.Asked
		if (Editing(own.Tool) || name == "preToolUse") && len(own.Input) > 0 {
			_ = event.Input.UnmarshalJSON(own.Input) // which takes anything
		}
		if name == "preToolUse" && len(event.Edits()) == 0 && !copilotMay(own.Tool, own.Input) {
			return Event{}, false
		}
	}
	if tool, ours := strings.CutPrefix(event.ToolName, by.prefix()); ours && by.prefix() != "" && event.ToolUseID == "" {
		event.ToolUseID = CallOf(tool)
	}
	event.Name = by.event(name)
	return event, event.Name != ""
}

// copilotFails is the event of a request that has failed.
const copilotFails = "errorOccurred"

// copilotFailure is a request to the model that has failed. Copilot makes it again by
// itself, after a time that it does not tell, unless it says that it cannot.
func copilotFailure(data []byte) (Event, bool) {
	var failed struct {
		Session string `json:"sessionId"`
		Context string `json:"errorContext"`
		Again   bool   `json:"recoverable"`
		Error   struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(data, &failed) != nil || failed.Context != "model_call" {
		return Event{}, false
	}
	var inner struct {
		Message string `json:"message"`
	}
	event := Event{Name: StopFailure, SessionID: failed.Session, Said: failed.Error.Message}
	// What a provider answered is passed on as it came.
	if json.Unmarshal([]byte(event.Said), &inner) == nil && inner.Message != "" {
		event.Said = inner.Message
	}
	if failed.Again {
		event.Name = Refused
	}
	return event, true
}

// said is what a person has typed, which a client writes as a text or as parts of one.
type said string

// UnmarshalJSON takes both. What is neither is nothing that was said, and no reason
// not to hear of the rest.
func (s *said) UnmarshalJSON(data []byte) error {
	var text string
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(data, &text) != nil && json.Unmarshal(data, &parts) == nil {
		for _, part := range parts {
			text += part.Text
		}
	}
	*s = said(text)
	return nil
}

// prefix is what the client puts before the names of our tools, if it is one that
// gives a call no name; else empty.
func (by Dialect) prefix() string {
	return map[Dialect]string{OpenCode: "c3po_", Gemini: "mcp_c3po_", Copilot: "c3po-", Kimi: "mcp__c3po__"}[by]
}

// CallsByTool says that a call is known by its tool alone.
func (by Dialect) CallsByTool() bool { return by.prefix() != "" }

// CallOf names a call by its tool, for a client that gives its calls no names
// that the server of the tool hears.
func CallOf(tool string) string { return "tool:" + tool }

// event is the name by which an event of a client is decided; empty if it is not
// one of those.
func (by Dialect) event(name string) string {
	own := map[string]string{}
	switch by {
	case OpenCode:
		own = map[string]string{
			"busy": StillBusy, PreToolUse: PreToolUse, ToolDenied: ToolDenied, StopFailure: StopFailure, Refused: Refused,
			DialogOpens: DialogOpens, DialogCloses: DialogCloses, Approve: Approve, Counted: Counted,
		}
	case Gemini:
		own = map[string]string{"BeforeAgent": UserPromptSubmit, "BeforeTool": PreToolUse, "AfterTool": PostToolUse, "AfterAgent": StopEvent, Notification: Notification}
	case Kimi:
		own = map[string]string{PreToolUse: PreToolUse, DialogOpens: DialogOpens, "PermissionResult": DialogCloses, "Interrupt": DialogCloses}
	case Copilot:
		own = map[string]string{
			"sessionStart": SessionStart, "userPromptSubmitted": UserPromptSubmit, "preToolUse": PreToolUse, "postToolUse": PostToolUse,
			"agentStop": StopEvent, "sessionEnd": SessionEnd, "permissionRequest": Approve,
		}
	}
	if decided := own[name]; decided != "" {
		return decided
	}
	for _, known := range []string{SessionStart, UserPromptSubmit, PostToolUse, StopEvent, SessionEnd} {
		if name == known {
			return known
		}
	}
	return ""
}
