package verify

import (
	"bufio"
	"context"
	"strings"

	"github.com/c3po-dev/c3po"
)

// monitor wants the line that wakes an idle session.
func (s *session) monitor(ctx context.Context) (c3po.MessageID, string, error) {
	if s.client.Monitor == nil {
		return "", "", failed("its configuration names no monitor, so nothing wakes an idle session")
	}
	name, err := s.begin(ctx)
	if err != nil {
		return "", "", err
	}
	if err := s.idle(ctx, name); err != nil {
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
		return "", "", failed("its command does not start: %v", err)
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
	select {
	case <-ctx.Done():
		return probe, "", failed("it prints nothing for a session that is idle")
	case line, open := <-lines:
		if !open {
			return probe, "", failed("its command ended at once. %s", said.text())
		}
		if !strings.Contains(line, "get_messages") {
			return probe, "", failed("it prints %.200q", line)
		}
	}
	if err := s.goesOn(ctx, name, userPromptSubmit); err != nil { // the turn that the line starts
		return probe, "", err
	}
	if err := s.notifiedTo(ctx, probe, name); err != nil {
		return probe, "", err
	}
	return probe, "it woke an idle session", s.ack(ctx, probe)
}
