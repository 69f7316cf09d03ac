package streamfmt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

// A record is one line of the stream: what we look at of it.
type record struct {
	Type      string          `json:"type"`
	Subtype   string          `json:"subtype"`
	Parent    string          `json:"parent_tool_use_id"`
	Timestamp time.Time       `json:"timestamp"`
	Message   json.RawMessage `json:"message"`
	SessionID string          `json:"session_id"`

	// of its beginning
	Model string `json:"model"`
	Cwd   string `json:"cwd"`

	// of hooks, refusals, tasks and tries
	HookName   string          `json:"hook_name"`
	ExitCode   int             `json:"exit_code"`
	Stderr     string          `json:"stderr"`
	ToolName   string          `json:"tool_name"`
	Status     string          `json:"status"`
	Summary    string          `json:"summary"`
	Attempt    int             `json:"attempt"`
	MaxRetries int             `json:"max_retries"`
	RetryDelay float64         `json:"retry_delay_ms"`
	Error      json.RawMessage `json:"error"`

	// of its end
	Result   string   `json:"result"`
	IsError  bool     `json:"is_error"`
	Errors   []string `json:"errors"`
	Cost     float64  `json:"total_cost_usd"`
	Turns    int      `json:"num_turns"`
	Duration float64  `json:"duration_ms"`
}

// A block is a part of a message.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

// parse reads a line. A field that is not what it was when this was written is
// left out, and the rest of the record counts.
func parse(text []byte) (record, bool) {
	if text[0] != '{' {
		return record{}, false
	}
	var r record
	err := json.Unmarshal(text, &r)
	if _, otherwise := err.(*json.UnmarshalTypeError); err != nil && !otherwise && !badTime(err) {
		return record{}, false
	}
	return r, r.Type != ""
}

// badTime says that a time was not written as one.
func badTime(err error) bool {
	_, is := err.(*time.ParseError)
	return is
}

// A call is the use of a tool that has not been answered yet.
type call struct {
	id, what, indent string
	asked            time.Time // by the record, if it says
	seen             time.Time
}

// quietTypes are records that say nothing to a person.
func quietTypes() []string {
	return []string{
		"stream_event", "rate_limit_event", "tool_progress", "tool_use_summary", "keep_alive", "auth_status", "prompt_suggestion",
		"control_request", "control_response", "control_cancel_request", "streamlined_text", "streamlined_tool_use_summary",
	}
}

// record shows one, and says whether its kind is known.
func (s *show) record(r record) bool {
	if r.SessionID != "" {
		s.SessionID = r.SessionID
	}
	indent := ""
	if r.Parent != "" {
		indent = "  " // of a subagent
	}
	switch r.Type {
	case "system":
		s.system(r)
		return true
	case "assistant":
		for _, b := range blocks(r.Message) {
			s.showText(b, r, indent)
		}
		return true
	case "user":
		for _, b := range blocks(r.Message) {
			if b.Type == "tool_result" {
				s.showToolResult(b, r)
			}
		}
		return true
	case "result":
		s.result(r)
		return true
	default:
		return slices.Contains(quietTypes(), r.Type)
	}
}

// blocks are the parts of a message. A text alone is one.
func blocks(message json.RawMessage) []block {
	var m struct {
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(message, &m) != nil {
		return nil
	}
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return []block{{Type: "text", Text: text}}
	}
	var raw []json.RawMessage
	_ = json.Unmarshal(m.Content, &raw) // what is no list has no parts
	var all []block
	for _, one := range raw {
		var b block
		_ = json.Unmarshal(one, &b) // as in parse: the fields that are understood count
		all = append(all, b)
	}
	return all
}

// system shows what a person should know of the client itself. There are dozens of
// other notes, from version to version, that are meant for programs.
func (s *show) system(r record) {
	switch r.Subtype {
	case "init":
		s.nowDoing("waiting for the model")
		s.Ended = false // what a task in the background brings begins another turn
		if s.folder != r.Cwd || s.model != r.Model {
			s.folder, s.model = r.Cwd, r.Model
			s.say("", fmt.Sprintf("%s in %s", cut(r.Model, 60), cut(r.Cwd, 200)), bold)
		}
	case "hook_response":
		if r.ExitCode != 0 {
			s.say("", fmt.Sprintf("! hook %s ended with %d: %s", cut(r.HookName, 60), r.ExitCode, cut(r.Stderr, maxColumns)), red)
		}
	case "permission_denied":
		s.say("", fmt.Sprintf("! %s is not permitted", toolName(r.ToolName)), red)
	case "api_retry":
		s.nowDoing("waiting for the model")
		s.say("", fmt.Sprintf("! the model did not answer; try %d of %d in %s", r.Attempt, r.MaxRetries, brief(time.Duration(r.RetryDelay)*time.Millisecond)), red)
	case "task_notification":
		s.say("  ", fmt.Sprintf("· background task %s: %s", cut(r.Status, 20), cut(r.Summary, maxColumns)), dim)
	case "compact_boundary":
		s.say("", "· the conversation was made shorter", dim)
	}
}

// showText shows what the model has said, or takes down what it has asked for.
func (s *show) showText(b block, r record, indent string) {
	switch b.Type {
	case "text":
		if strings.TrimSpace(b.Text) == "" {
			return
		}
		for _, text := range sanitise.Lines(strings.TrimRight(b.Text, "\n")) {
			s.say(indent, text, plain)
		}
	case "thinking", "redacted_thinking":
		s.nowDoing("thinking")
	case "tool_use", "server_tool_use", "mcp_tool_use":
		c := &call{id: b.ID, what: s.describe(b), indent: indent, asked: r.Timestamp, seen: s.Now()}
		s.calls[c.id] = c
		s.order = append(s.order, c)
	}
}

// showToolResult shows the use of a tool once it is over, on one line.
func (s *show) showToolResult(b block, r record) {
	c := s.calls[b.ToolUseID]
	if c == nil {
		return
	}
	delete(s.calls, c.id)
	s.order = slices.DeleteFunc(s.order, func(other *call) bool { return other == c })
	took := s.Now().Sub(c.seen)
	if !c.asked.IsZero() && !r.Timestamp.IsZero() {
		took = r.Timestamp.Sub(c.asked)
	}
	if len(s.order) == 0 {
		s.nowDoing("waiting for the model")
	}
	if b.IsError {
		s.say(c.indent, fmt.Sprintf("✗ %s  %s: %s", c.what, brief(took), cut(resultText(b.Content), maxColumns)), red)
		return
	}
	text := strings.TrimRight(resultText(b.Content), " \n")
	if s.Results {
		s.say(c.indent, fmt.Sprintf("• %s  %s", c.what, brief(took)), blue)
		for _, line := range sanitise.Lines(text) {
			s.say(c.indent, "  | "+line, dim)
		}
		return
	}
	s.say(c.indent, fmt.Sprintf("• %s  %s%s", c.what, brief(took), firstLine(text)), blue)
}

// firstLine is what a tool has answered, as far as a line has room for it.
func firstLine(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	first, _, _ := strings.Cut(text, "\n")
	shown := " → " + cut(first, maxColumns/2)
	if n := strings.Count(text, "\n") + 1; n > 1 {
		shown += fmt.Sprintf(" … (%d lines)", n)
	}
	return shown
}

func (s *show) result(r record) {
	s.Ended, s.Failed = true, r.IsError || r.Subtype != "success"
	s.Result, s.CostUSD, s.Turns, s.Took = r.Result, r.Cost, r.Turns, time.Duration(r.Duration*float64(time.Millisecond))
	turns := "turns"
	if r.Turns == 1 {
		turns = "turn"
	}
	account := fmt.Sprintf("%s, %d %s, $%.4f", brief(s.Took), r.Turns, turns, r.Cost)
	if !s.Failed {
		s.say("", "✓ done in "+account, green)
		return
	}
	why := strings.Join(r.Errors, "; ")
	if why == "" {
		why = r.Result
	}
	if why == "" {
		why = strings.ReplaceAll(strings.TrimPrefix(r.Subtype, "error_"), "_", " ")
	}
	s.say("", fmt.Sprintf("✗ failed after %s: %s", account, cut(why, 4*maxColumns)), red)
}

// resultText is what a tool has answered, without what is no text.
func resultText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return stripErrorTag(text)
	}
	var parts []string
	for _, b := range blocks(append(append([]byte(`{"content":`), content...), '}')) {
		parts = append(parts, b.Text)
	}
	return stripErrorTag(strings.Join(parts, " "))
}

// stripErrorTag is an error of a tool without the tag that is meant for the model.
func stripErrorTag(text string) string {
	const tag = "tool_use_error>"
	return strings.TrimSuffix(strings.TrimPrefix(text, "<"+tag), "</"+tag)
}

// telling are the arguments by which one knows a call again, the best first.
func telling() []string {
	return []string{"command", "file_path", "notebook_path", "pattern", "url", "query", "target", "room", "message_id", "description", "skill", "prompt", "path"}
}

// describe is a call on a line: the tool, and the argument that tells most.
func (s *show) describe(b block) string {
	name := toolName(b.Name)
	var input map[string]any
	_ = json.Unmarshal(b.Input, &input) // what is no object is shown whole
	about := ""
	for _, key := range telling() {
		if text, ok := input[key].(string); ok && text != "" {
			if strings.HasSuffix(key, "path") {
				text = strings.TrimPrefix(text, strings.TrimSuffix(s.folder, "/")+"/")
			}
			about = text
			break
		}
	}
	if whole := bytes.TrimSpace(b.Input); about == "" && len(whole) > 0 && string(whole) != "{}" {
		about = string(whole)
	}
	if about == "" {
		return name
	}
	return name + " " + cut(about, maxColumns-len(name))
}

// toolName is the name of a tool without the way to its server.
func toolName(name string) string {
	rest, ours := strings.CutPrefix(name, "mcp__")
	server, tool, found := strings.Cut(rest, "__")
	if !ours || !found {
		return cut(name, 60)
	}
	if i := strings.LastIndex(server, "_"); strings.HasPrefix(server, "plugin_") && i > 0 {
		server = server[i+1:]
	}
	return cut(server+":"+tool, 60)
}
