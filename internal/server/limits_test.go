package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestJSONThatIsTooDeepIsRefusedOnEveryDoor(t *testing.T) {
	t.Parallel()
	c := start(t, server.Config{RedisURL: redistest.Shared(t), Auth: auth.None})
	nested := func(depth int) string {
		return `{"metadata":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + `}`
	}
	call := func(depth int) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + nested(depth-1) + `}`
	}
	for name, ask := range map[string]struct {
		path, body string
		refused    bool
	}{
		"an operation, deep enough": {"/api/op/ping", nested(64), false},
		"an operation, too deep":    {"/api/op/ping", nested(65), true},
		"MCP, deep enough":          {"/mcp", call(64), false},
		"MCP, too deep":             {"/mcp", call(65), true},
		"brackets in a text":        {"/api/op/ping", `{"x":"` + strings.Repeat(`[{\"`, 100) + `"}`, false},
		"MCP, a million deep":       {"/mcp", strings.Repeat("[", 1_000_000), true},
	} {
		answer := post(t, c, ask.path, "application/json", strings.NewReader(ask.body))
		if got := strings.Contains(answer.text, "nested more than 64"); got != ask.refused {
			t.Errorf("%s: %d %.200s", name, answer.status, answer.text)
		}
		if ask.refused && answer.status != http.StatusBadRequest {
			t.Errorf("%s: %d", name, answer.status)
		}
	}
}

type answered struct {
	status int
	text   string
}

func post(t *testing.T, c *coordinator, path, kind string, body io.Reader) answered {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", c.url+path, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("X-Agent-ID", "ann")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answered{answer.StatusCode, string(text)}
}

func TestOneAgentCannotHoldAllTheWaits(t *testing.T) {
	t.Parallel()
	limits := c3po.DefaultLimits()
	limits.WaitsPerAgent = 3
	c := start(t, server.Config{RedisURL: redistest.Start(t), Limits: limits, Auth: auth.None})
	ctx, cancel := context.WithCancel(t.Context())
	var waits sync.WaitGroup
	for range 3 {
		waits.Go(func() {
			// The look below may have been there first.
			for ctx.Err() == nil {
				_, _ = c.op(ctx, "ann", "wait_for_message", c3po.WaitInput{Timeout: 600}, nil)
			}
		})
	}
	var refusal c3po.Error
	refused := func() bool {
		refusal = c3po.Error{}
		status, err := c.op(t.Context(), "ann", "wait_for_message", c3po.WaitInput{Timeout: 1}, &refusal)
		return err == nil && status == http.StatusTooManyRequests
	}
	for deadline := time.Now().Add(longEnough); !refused(); {
		if time.Now().After(deadline) {
			t.Fatal("a fourth wait is let in")
		}
	}
	if refusal.Code != c3po.RateLimited || refusal.Suggestion == "" || !strings.Contains(refusal.Message, "3") {
		t.Errorf("refused with %+v", refusal)
	}
	// It is the agent's own limit, and sending is not waiting.
	c.must(t, "bob", "wait_for_message", c3po.WaitInput{Timeout: 1}, nil)
	c.must(t, "ann", "send_message", c3po.SendInput{Target: "bob", Message: "hello"}, nil)
	// A message that was accepted is never answered with an error, whatever
	// becomes of the wait for its answer.
	var receipt c3po.Receipt
	c.must(t, "ann", "send_message", c3po.SendInput{Target: "bob", Message: "and?", WaitSeconds: 5}, &receipt)
	if receipt.ID == "" || receipt.Wait == nil {
		t.Errorf("the receipt is %+v", receipt)
	}
	cancel()
	waits.Wait()
	for deadline := time.Now().Add(longEnough); refused(); {
		if time.Now().After(deadline) {
			t.Fatal("waits that ended still count")
		}
	}
}

func TestStreamsOfEventsAreBounded(t *testing.T) {
	t.Parallel()
	limits := c3po.DefaultLimits()
	limits.Streams = 2
	c := start(t, server.Config{RedisURL: redistest.Shared(t), Limits: limits, Auth: auth.None})
	open := func() *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), "GET", c.url+"/api/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	for range 2 {
		stream := open()
		defer stream.Body.Close()
		if stream.StatusCode != http.StatusOK {
			t.Fatalf("a stream is answered %d", stream.StatusCode)
		}
	}
	third := open()
	defer third.Body.Close()
	var refusal c3po.Error
	if err := json.NewDecoder(third.Body).Decode(&refusal); err != nil || third.StatusCode != http.StatusTooManyRequests || refusal.Code != c3po.RateLimited {
		t.Errorf("a third stream is answered %d %+v, %v", third.StatusCode, refusal, err)
	}
}

func TestAConnectionTooManyIsClosedAndOneThatEndedMakesRoom(t *testing.T) {
	t.Parallel()
	limits := c3po.DefaultLimits()
	limits.Connections = 2
	c := start(t, server.Config{RedisURL: redistest.Shared(t), Limits: limits, Auth: auth.None})
	dial := func() net.Conn {
		t.Helper()
		conn, err := net.Dial("tcp", strings.TrimPrefix(c.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if err := conn.SetDeadline(time.Now().Add(longEnough)); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	served := func(conn net.Conn) bool {
		fmt.Fprint(conn, "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		_, _ = io.Copy(io.Discard, answer.Body)
		return answer.StatusCode == http.StatusOK
	}
	first, second := dial(), dial()
	if !served(first) || !served(second) {
		t.Fatal("those within the limit are not served")
	}
	if served(dial()) {
		t.Error("a connection beyond the limit is served")
	}
	if !strings.Contains(c.log.String(), "too many connections") {
		t.Errorf("the log does not say so: %s", c.log)
	}
	first.Close()
	for deadline := time.Now().Add(longEnough); !served(dial()); {
		if time.Now().After(deadline) {
			t.Fatal("a connection that ended leaves no room")
		}
	}
}

// Headers that are too many are refused before anything is made of them.
func TestAMillionHeadersAreRefused(t *testing.T) {
	t.Parallel()
	c := start(t, server.Config{RedisURL: redistest.Shared(t), Auth: auth.None})
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(longEnough)); err != nil {
		t.Fatal(err)
	}
	wrote := make(chan error, 1)
	go func() {
		out := bufio.NewWriter(conn)
		_, err := fmt.Fprint(out, "GET /livez HTTP/1.1\r\nHost: localhost\r\n")
		for i := 0; i < 1_000_000 && err == nil; i++ {
			_, err = fmt.Fprintf(out, "X-%d: y\r\n", i)
		}
		wrote <- err
	}()
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err == nil {
		answer.Body.Close()
		if answer.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("answered %d", answer.StatusCode)
		}
	} else if !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "reset") {
		t.Errorf("ended with %v", err)
	}
	if err := <-wrote; err == nil {
		t.Error("all of them were taken")
	}
}

func TestATokenThatCallsWithoutEndIsHeldBackAndOthersAreNot(t *testing.T) {
	t.Parallel()
	limits := c3po.DefaultLimits()
	limits.TokenCalls = 1
	g := startGuarded(t, redistest.Start(t), server.Config{Limits: limits})
	loop := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "loop/*"}).Secret
	honest := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "box/*"}).Secret
	var refused atomic.Int64
	var work sync.WaitGroup
	for n := range 20 {
		work.Go(func() {
			status, _, err := call(t.Context(), http.DefaultClient, "POST", g.url+"/api/op/ping", loop, "{}", auth.AgentHeader, fmt.Sprintf("loop/m%d", n))
			if err != nil {
				t.Error(err)
			}
			if status == http.StatusTooManyRequests {
				refused.Add(1)
			}
		})
	}
	work.Wait()
	// One at once, and five that wait for theirs.
	if n := refused.Load(); n < 5 || n > 14 {
		t.Errorf("of 20 calls at once %d are refused, want about 14", n)
	}
	if status, refusal := g.do(t, honest, "box/api", "ping", c3po.None{}, nil); status != http.StatusOK {
		t.Errorf("another token is answered %d %+v", status, refusal)
	}
}
