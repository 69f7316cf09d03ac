package verify

import (
	"bufio"
	"context"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
)

// monitor wants the line that wakes an idle session.
func (s *session) monitor(ctx context.Context) (c3po.MessageID, string, error) {
	if s.client.Monitor == nil {
		return "", "", failuref("its configuration names no monitor, so nothing wakes an idle session")
	}
	name, err := s.begin(ctx)
	if err != nil {
		return "", "", err
	}
	if err := s.endTurn(ctx, name); err != nil {
		return "", "", err
	}
	cmd := s.client.Monitor.cmd()
	var said head
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", "", err
	}
	if err := cmd.Start(); err != nil {
		return "", "", failuref("its command does not start: %v", err)
	}
	lines := make(chan string)
	defer func() {
		_ = cmd.Process.Kill()
		for range lines {
			continue
		}
		_ = cmd.Wait()
	}()
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(out)
		for scanner.Scan() {
			lines <- scanner.Text()
		}
	}()
	probe, err := s.send(ctx, pathMonitor, true)
	if err != nil {
		return "", "", err
	}
	printed, err := wakes(ctx, lines, probe)
	if err != nil {
		return probe, "", err
	}
	if printed == "" {
		return probe, "", failuref("its command ended at once. %s", said.text())
	}
	// The turn that it starts has what was printed in its prompt.
	if _, err := s.tools.call(ctx, hookTool, map[string]string{"hook_event_name": userPromptSubmit, "session_id": name, "prompt": printed}, nil); err != nil {
		return probe, "", err
	}
	if err := s.notifiedTo(ctx, probe, name); err != nil {
		return probe, "", err
	}
	return probe, "it woke an idle session", s.ack(ctx, probe)
}

// wakes reads what wakes a session: the line that tells of the probe, or the lines
// that bring it. It is empty if the command has ended.
func wakes(ctx context.Context, lines <-chan string, probe c3po.MessageID) (printed string, err error) {
	for {
		select {
		case <-ctx.Done():
			if printed == "" {
				return "", failuref("it prints nothing for a session that is idle")
			}
			return "", failuref("it prints %.200q", printed)
		case line, open := <-lines:
			if !open {
				return "", nil
			}
			printed += line + "\n"
			if strings.Contains(line, "get_messages") || strings.Contains(line, string(probe)) {
				return printed, nil
			}
			if len(printed) > maxPrinted {
				return "", failuref("it prints %.200q", printed)
			}
		}
	}
}

// maxPrinted is more than any mail that wakes a session.
const maxPrinted = 8 << 10
