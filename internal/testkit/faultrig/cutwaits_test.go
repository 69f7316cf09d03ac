package faultrig_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// inProcess runs a coordinator in this process until the test is over.
func inProcess(t *testing.T, cfg server.Config) (url string) {
	t.Helper()
	cfg.Listen, cfg.Auth = "127.0.0.1:0", auth.None
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- server.Run(ctx, cfg, func(addr string) { ready <- addr }) }()
	t.Cleanup(func() {
		stop()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("the coordinator ended with %v", err)
			}
		case <-time.After(time.Minute):
			t.Error("the coordinator was told to end and does not")
		}
	})
	select {
	case addr := <-ready:
		return "http://" + addr
	case err := <-ended:
		ended <- nil
		t.Fatalf("the coordinator did not start: %v", err)
		return ""
	}
}

// noLimits are the limits of a coordinator whose agents may send as they like.
func noLimits() c3po.Limits {
	return c3po.DefaultLimits().Unbudgeted()
}

// A door is one way to wait for a message: it gives what the answer said.
type door struct {
	name string
	open func(t *testing.T, base string, id c3po.AgentID, client *http.Client) (wait waiting, close func())
}

// waiting is one wait; a reader that knows where it is says so with after.
type waiting func(ctx context.Context, after int64) (answer string, err error)

func doors() []door {
	return []door{{"REST", restDoor}, {"MCP 2025-11-25", mcpDoor("2025-11-25")}, {"MCP 2026-07-28", mcpDoor("2026-07-28")}}
}

func restDoor(_ *testing.T, base string, id c3po.AgentID, client *http.Client) (waiting, func()) {
	return func(ctx context.Context, after int64) (string, error) {
		arguments, err := json.Marshal(waitArguments(after))
		if err != nil {
			return "", err
		}
		q, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/api/op/wait_for_message", bytes.NewReader(arguments))
		if err != nil {
			return "", err
		}
		q.Header.Set("X-Agent-ID", string(id))
		q.Header.Set("Content-Type", "application/json")
		answer, err := client.Do(q)
		if err != nil {
			return "", err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		return string(text), err
	}, func() {}
}

func waitArguments(after int64) map[string]any {
	arguments := map[string]any{"timeout": 20}
	if after > 0 {
		arguments["after"] = after
	}
	return arguments
}

func mcpDoor(version string) func(*testing.T, string, c3po.AgentID, *http.Client) (waiting, func()) {
	return func(t *testing.T, base string, id c3po.AgentID, client *http.Client) (waiting, func()) {
		t.Helper()
		named := *client
		named.Transport = signed{id, client.Transport}
		session, err := mcp.NewClient(&mcp.Implementation{Name: "faultrig"}, nil).Connect(t.Context(),
			&mcp.StreamableClientTransport{Endpoint: base + "/mcp", HTTPClient: &named, MaxRetries: -1, DisableStandaloneSSE: true},
			&mcp.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		return func(ctx context.Context, after int64) (string, error) {
			result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "wait_for_message", Arguments: waitArguments(after)})
			if err != nil {
				return "", err
			}
			var b strings.Builder
			for _, content := range result.Content {
				if text, ok := content.(*mcp.TextContent); ok {
					b.WriteString(text.Text)
				}
			}
			return b.String(), nil
		}, func() { _ = session.Close() }
	}
}

// signed says on every request who calls.
type signed struct {
	id   c3po.AgentID
	next http.RoundTripper
}

func (s signed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Agent-ID", string(s.id))
	return s.next.RoundTrip(r)
}

// It runs alone, because it counts what is left of this process at the end.
func TestTheWaitAfterACutOneGetsTheMailAndNothingIsLeftBehind(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		if err := goleak.Find(before); err != nil {
			t.Errorf("something of the cut waits is left: %v", err)
		}
	})
	s := newCutStage(t)
	rounds := (faultrig.Size(60, 1_000) + len(doors()) - 1) / len(doors())
	for i, d := range doors() {
		t.Run(d.name, func(t *testing.T) {
			id := c3po.AgentID(fmt.Sprintf("waiter-%d", i))
			waiter := agentThrough(t, s.transport, s.url, id)
			got, slowest := 0, time.Duration(0)
			for n := range rounds {
				s.cutOneWait(t, d, id, n)
				slowest = max(slowest, s.untilNoWaitIsHeld(t))
				text := fmt.Sprintf("round %d of %s.", n, id)
				receipt, err := s.sender.SendMessage(t.Context(), c3po.SendInput{Target: string(id), Message: text})
				if err != nil {
					t.Fatal(err)
				}
				wait, closeIt := d.open(t, s.url, id, &http.Client{Transport: s.transport})
				answer, err := wait(t.Context(), 0)
				if err == nil && strings.Contains(answer, text) {
					got++
				} else {
					t.Errorf("round %d: the next wait got %q, %v", n, answer, err)
				}
				closeIt()
				if _, err := waiter.AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{receipt.ID}}); err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("%d of %d", got, rounds)
			faultrig.Hold(t, "the slowest cut to end on the coordinator", slowest, time.Second)
		})
	}
}

// An answer can be written and still never arrive. A reader that says where it
// is gets the message all the same, and the inbox never hides it.
func TestMailWhoseAnswerNobodyReadIsGivenAgain(t *testing.T) {
	s := newCutStage(t)
	for i, d := range doors() {
		t.Run(d.name, func(t *testing.T) {
			id := c3po.AgentID(fmt.Sprintf("waiter-%d", i))
			waiter := agentThrough(t, s.transport, s.url, id)
			after := int64(1) // before all mail, and a number
			for n := range faultrig.Size(10, 300) {
				text := fmt.Sprintf("round %d of %s.", n, id)
				receipt := s.answerNobody(t, d, id, text, after)
				list, err := waiter.Peek(t.Context(), c3po.GetMessagesInput{})
				if err != nil || list.Count != 1 || list.Messages[0].Text() != text {
					t.Fatalf("round %d: the inbox shows %+v, %v", n, list, err)
				}
				wait, closeIt := d.open(t, s.url, id, &http.Client{Transport: s.transport})
				// Mail that is there is given at once; one that is not fails here.
				soon, cancel := context.WithTimeout(t.Context(), aWhile)
				answer, err := wait(soon, after)
				cancel()
				closeIt()
				if err != nil || !strings.Contains(answer, text) {
					t.Fatalf("round %d: the next wait got %q, %v", n, answer, err)
				}
				if _, err := waiter.AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{receipt.ID}}); err != nil {
					t.Fatal(err)
				}
				after = receipt.Seq
			}
		})
	}
}

// answerNobody sends a message that answers a wait, whose answer is lost.
func (s *cutStage) answerNobody(t *testing.T, d door, id c3po.AgentID, text string, after int64) c3po.Receipt {
	t.Helper()
	transport := &http.Transport{}
	wait, closeIt := d.open(t, "http://"+s.proxy.Addr(), id, &http.Client{Transport: transport})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if answer, err := wait(ctx, after); err == nil {
			t.Errorf("the answer came through: %q", answer)
		}
	}()
	eventually(t, "the wait is held", func() bool { return waitsHeld() == 1 })
	s.proxy.Silence()
	receipt, err := s.sender.SendMessage(t.Context(), c3po.SendInput{Target: string(id), Message: text})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the wait is answered", func() bool { return waitsHeld() == 0 })
	cancel()
	<-ended
	s.proxy.Heal()
	closeIt()
	transport.CloseIdleConnections()
	s.untilNoWaitIsHeld(t)
	return receipt
}

// A cutStage is a coordinator in this process whose waits can be cut.
type cutStage struct {
	url       string
	proxy     *faultrig.Proxy
	transport *http.Transport
	sender    *client.Client
}

func newCutStage(t *testing.T) *cutStage {
	t.Helper()
	s := &cutStage{transport: &http.Transport{}}
	s.url = inProcess(t, server.Config{RedisURL: redistest.Start(t), Limits: noLimits()})
	s.proxy = faultrig.NewProxy(t, s.url)
	t.Cleanup(s.transport.CloseIdleConnections)
	s.sender = agentThrough(t, s.transport, s.url, "sender")

	// waitsHeld is believed when it says none: see that it can say one.
	wait, _ := restDoor(t, s.url, "first", &http.Client{Transport: s.transport})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = wait(ctx, 0)
	}()
	eventually(t, "a wait is seen to be held", func() bool { return waitsHeld() == 1 })
	cancel()
	<-ended
	eventually(t, "a cancelled wait is seen to be gone", func() bool { return waitsHeld() == 0 })
	return s
}

// untilNoWaitIsHeld returns when the coordinator has let go of all cut waits,
// and says how long that took.
func (s *cutStage) untilNoWaitIsHeld(t *testing.T) time.Duration {
	t.Helper()
	began := time.Now()
	// Connections are accepted in turn: when this one is served, no cut wait is
	// still on its way to the proxy.
	probe := client.New(client.Config{URL: "http://" + s.proxy.Addr(), HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}})
	if _, err := probe.Ping(t.Context(), c3po.None{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the coordinator has let go of the cut wait", func() bool { return len(s.proxy.Links()) == 0 && waitsHeld() == 0 })
	return time.Since(began)
}

// waitsHeld counts the waits that coordinators in this process hold.
func waitsHeld() int {
	var stacks bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&stacks, 2)
	return strings.Count(stacks.String(), "hub.(*inbox).await(")
}

// cutOneWait starts a wait and ends it at some moment of its first milliseconds:
// its caller cancels it, or its caller's connection is gone.
func (s *cutStage) cutOneWait(t *testing.T, d door, id c3po.AgentID, n int) {
	t.Helper()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	wait, closeIt := d.open(t, "http://"+s.proxy.Addr(), id, &http.Client{Transport: transport})
	defer closeIt()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if answer, err := wait(ctx, 0); err == nil {
			t.Errorf("round %d: the wait to be cut was answered %q", n, answer)
		}
	}()
	faultrig.Pass(t.Context(), rand.N(8*time.Millisecond))
	if n%2 == 1 {
		s.proxy.Cut()
	}
	// A client whose connection is gone may have to be told so.
	cancel()
	<-ended
}
