package faultrig_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// A stdio is a client of a session process, as far as it speaks: a line for each call, and
// a line for its answer.
type stdio struct {
	t     *testing.T
	in    io.WriteCloser
	lines *bufio.Scanner
	calls int
}

// open starts a session process, or what starts one, and greets it.
func (s *stdio) open(server *exec.Cmd, client string) {
	s.t.Helper()
	in, err := server.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := server.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = in.Close() // then it ends, if it has not yet
		_ = server.Wait()
	})
	s.in, s.lines = in, bufio.NewScanner(out)
	s.lines.Buffer(nil, 1<<20)
	s.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"`+client+`","version":"1"}}`)
}

// ask makes a request and gives the line of its answer.
func (s *stdio) ask(method, params string) string {
	s.t.Helper()
	s.calls++
	if _, err := fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", s.calls, method, params); err != nil {
		s.t.Fatal(err)
	}
	for s.lines.Scan() {
		if line := s.lines.Text(); strings.Contains(line, fmt.Sprintf(`"id":%d,`, s.calls)) || strings.Contains(line, fmt.Sprintf(`"id":%d}`, s.calls)) {
			return line
		}
	}
	s.t.Fatalf("no answer to %s", method)
	return ""
}

// tool calls one.
func (s *stdio) tool(name string, arguments any) string {
	s.t.Helper()
	text, err := json.Marshal(map[string]any{"name": name, "arguments": arguments})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.ask("tools/call", string(text))
}
