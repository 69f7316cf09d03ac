package hook

import "encoding/json"

// A Dialect is how a client takes the answer of a hook. The zero value is that of
// Claude Code.
type Dialect string

// The dialects. Each is called as its client is by `c3po mcp --client`.
const (
	ClaudeCode Dialect = "claude-code"
	Codex      Dialect = "codex"
	Gemini     Dialect = "gemini"
	Copilot    Dialect = "copilot"
	Kimi       Dialect = "kimi"
)

// Write is a decision about an event, as the client takes it. What makes a turn
// go on has another form in each of them.
func (by Dialect) Write(d Decision, event string) string {
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

// kimi adds what a hook prints to the context; at the end of a turn it wants a
// denial.
func (Dialect) kimi(d Decision, event string) string {
	if event != StopEvent || d.Context == "" {
		return d.Context
	}
	return encode(output{Specific: &specific{Event: event, Permission: "deny", Reason: d.Context}})
}
