package verify

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	// protocol is the version of MCP that is spoken; servers answer with their own.
	protocol = "2025-06-18"
	// maxLineBytes is the longest answer: a page of mail.
	maxLineBytes = 16 << 20
	// endTimeout is how long a program may take to end once its stdin is closed.
	endTimeout = 2 * time.Second
)

// tools is a session process that was started as a client starts it, over stdin and
// stdout. One call is made at a time.
type tools struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan []byte
	said  *head // on stderr
	last  int
}

// startTools starts a session process and greets it.
func startTools(ctx context.Context, command Command) (*tools, error) {
	t := &tools{cmd: command.cmd(), lines: make(chan []byte), said: &head{}}
	t.cmd.Stderr = t.said
	var err error
	if t.in, err = t.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := t.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := t.cmd.Start(); err != nil {
		return nil, failuref("it does not start: %v", err)
	}
	go func() {
		defer close(t.lines)
		scanner := bufio.NewScanner(out)
		scanner.Buffer(nil, maxLineBytes)
		for scanner.Scan() {
			t.lines <- bytes.Clone(scanner.Bytes())
		}
	}()
	_, err = t.request(ctx, "initialize", map[string]any{
		"protocolVersion": protocol, "capabilities": map[string]any{}, "clientInfo": map[string]string{"name": "c3po-verify", "version": "1"},
	})
	if err == nil {
		err = t.write(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	}
	if err != nil {
		t.end()
		return nil, err
	}
	return t, nil
}

// call calls a tool and returns the text of its answer. meta may be nil.
func (t *tools) call(ctx context.Context, name string, arguments, meta any) (string, error) {
	params := map[string]any{"name": name, "arguments": arguments}
	if meta != nil {
		params["_meta"] = meta
	}
	result, err := t.request(ctx, "tools/call", params)
	if err != nil {
		return "", err
	}
	var answer struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		IsError bool `json:"isError"`
	}
	if err := json.Unmarshal(result, &answer); err != nil {
		return "", failuref("its answer to %s is not understood", name)
	}
	var text strings.Builder
	for _, part := range answer.Content {
		text.WriteString(part.Text)
	}
	if answer.IsError {
		return "", toolFailure(text.String())
	}
	return text.String(), nil
}

// toolFailure is what a tool says when it cannot do its work: an error of ours
// with what to do next, or any text.
func toolFailure(text string) *failure {
	var e struct {
		Error      string `json:"error"`
		Suggestion string `json:"suggestion"`
	}
	if json.Unmarshal([]byte(text), &e) == nil && e.Error != "" {
		return &failure{says: e.Error, fix: e.Suggestion}
	}
	return failuref("%s", text)
}

func (t *tools) request(ctx context.Context, method string, params any) (json.RawMessage, error) {
	t.last++
	if err := t.write(map[string]any{"jsonrpc": "2.0", "id": t.last, "method": method, "params": params}); err != nil {
		return nil, t.endError()
	}
	for {
		select {
		case <-ctx.Done():
			return nil, failuref("it does not answer %s", method)
		case line, open := <-t.lines:
			if !open {
				return nil, t.endError()
			}
			var answer struct {
				ID     json.RawMessage `json:"id"`
				Result json.RawMessage `json:"result"`
				Error  *struct {
					Message string `json:"message"`
				} `json:"error"`
			}
			if json.Unmarshal(line, &answer) != nil {
				return nil, failuref("it does not speak MCP, but says %.200q", line)
			}
			if string(answer.ID) != fmt.Sprint(t.last) {
				continue // a word of its own, or the answer to a call that was given up
			}
			if answer.Error != nil {
				return nil, failuref("it refuses %s: %s", method, answer.Error.Message)
			}
			return answer.Result, nil
		}
	}
}

// endError is why a session process is not there any more.
func (t *tools) endError() error {
	if said := t.said.text(); said != "" {
		return failuref("it ended, and said: %s", said)
	}
	return failuref("it ended at once")
}

func (t *tools) write(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = t.in.Write(append(line, '\n'))
	return err
}

// end hangs up, as a client does, and ends what does not end by itself.
func (t *tools) end() {
	_ = t.in.Close()
	kill := time.AfterFunc(endTimeout, func() { _ = t.cmd.Process.Kill() })
	defer kill.Stop()
	for range t.lines { // what is left unread would keep it
		continue
	}
	_ = t.cmd.Wait()
}

// A head keeps the first of what a program says, enough to see why it failed.
type head struct {
	mu   sync.Mutex
	kept []byte
}

const maxSaidBytes = 500

func (t *head) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p[:min(len(p), maxSaidBytes-len(t.kept))]...)
	return len(p), nil
}

func (t *head) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(strings.Fields(string(t.kept)), " ")
}
