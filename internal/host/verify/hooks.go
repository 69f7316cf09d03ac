package verify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// The events of a client's life, as Claude Code calls them.
const (
	sessionStart     = "SessionStart"
	userPromptSubmit = "UserPromptSubmit"
	preToolUse       = "PreToolUse"
	postToolUse      = "PostToolUse"
	stopEvent        = "Stop"
	sessionEnd       = "SessionEnd"
)

// ourTool is one of our tools, as Claude Code calls it.
const ourTool = "mcp__plugin_c3po_c3po__ping"

// hook tries one hook by what it is there for: most tell a session of its mail,
// one reports that mail was taken.
func (s *session) hook(ctx context.Context, h Hook) (c3po.MessageID, string, error) {
	if h.Trouble != "" {
		return "", "", failuref("%s", h.Trouble)
	}
	switch h.Event {
	case sessionStart, userPromptSubmit, stopEvent:
		return s.announces(ctx, h)
	case postToolUse:
		return s.reports(ctx, h)
	}
	text, err := s.fire(ctx, h, event{"session_id": newSession(), "tool_use_id": "verify", "tool_name": ourTool, "reason": "other"})
	if err != nil {
		return "", "", err
	}
	if h.Event == preToolUse && !strings.Contains(text, `"allow"`) {
		return "", "", failuref("it does not let the tools of c3po run without a question")
	}
	return "", "it answers", nil
}

// announces wants a hook to tell a session of the probe.
func (s *session) announces(ctx context.Context, h Hook) (c3po.MessageID, string, error) {
	if _, err := s.begin(ctx); err != nil {
		return "", "", err
	}
	probe, err := s.mail(ctx)
	if err != nil {
		return "", "", err
	}
	// A hook never waits for a coordinator: the session process may not know of the probe
	// yet. Each try is another session, which was told nothing before.
	var name string
	ended := false // a run of the hook
	for said := ""; said == ""; {
		name = newSession()
		text, err := s.fire(ctx, h, event{"session_id": name, "source": "startup"})
		if err != nil && ended && ctx.Err() != nil {
			// It has ended before: the time is over, and not its fault.
			return probe, "", failuref("it does not tell the session of the probe")
		}
		if err != nil {
			return probe, "", err
		}
		ended = true
		a, ok := understand(text)
		if !ok {
			return probe, "", failuref("its answer is not understood: %.200q", text)
		}
		if a.Message != "" {
			return probe, "", failuref("it tells the person: %s", a.Message)
		}
		if strings.Contains(a.context(), "get_messages") {
			said = a.context()
			continue
		}
		select {
		case <-ctx.Done():
			return probe, "", failuref("it does not tell the session of the probe")
		case <-time.After(pollEvery):
		}
	}
	if err := s.goesOn(ctx, name, preToolUse); err != nil {
		return probe, "", err
	}
	if err := s.notifiedTo(ctx, probe, name); err != nil {
		return probe, "", err
	}
	return probe, "it told a session of the probe", nil
}

// reports wants a hook to report that the client has taken what a tool gave it.
func (s *session) reports(ctx context.Context, h Hook) (c3po.MessageID, string, error) {
	name, err := s.begin(ctx)
	if err != nil {
		return "", "", err
	}
	probe, err := s.mail(ctx)
	if err != nil {
		return "", "", err
	}
	use := newSession()
	if err := s.read(ctx, probe, map[string]string{callName: use}); err != nil {
		return probe, "", err
	}
	if _, err := s.fire(ctx, h, event{"session_id": name, "tool_use_id": use}); err != nil {
		return probe, "", err
	}
	if err := s.awaitTrace(ctx, probe, "received", func(t c3po.Trace) bool { return t.Received != nil }); err != nil {
		return probe, "", err
	}
	return probe, "it reported that a session has the probe", nil
}

// An event is what a client tells its hooks, by the names of its fields.
type event map[string]string

// fire does what the configuration says for the event.
func (s *session) fire(ctx context.Context, h Hook, e event) (string, error) {
	e["hook_event_name"] = h.Event
	if h.Command != nil {
		return runHook(ctx, *h.Command, e)
	}
	input := map[string]string{}
	for field, value := range h.Input {
		if name, ok := strings.CutPrefix(value, "${"); ok {
			value = e[strings.TrimSuffix(name, "}")] // what an event does not have is empty
		}
		input[field] = value
	}
	return s.tools.call(ctx, h.Tool, input, nil)
}

func runHook(ctx context.Context, command Command, e event) (string, error) {
	stdin, err := json.Marshal(e)
	if err != nil {
		return "", err
	}
	cmd := command.cmd()
	var out bytes.Buffer
	var said head
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = bytes.NewReader(stdin), &out, &said, endTimeout
	if err := cmd.Start(); err != nil {
		return "", failuref("its command does not start: %v", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	err = cmd.Wait()
	if ctx.Err() != nil {
		return "", failuref("its command does not end")
	}
	if err == nil {
		return out.String(), nil
	}
	var ended *exec.ExitError
	if !errors.As(err, &ended) {
		return "", failuref("its command fails: %v", err)
	}
	if text := said.text(); text != "" {
		return "", failuref("its command fails (%v) and says: %s", ended, text)
	}
	return "", failuref("its command fails: %v", ended)
}
