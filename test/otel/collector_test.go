// Package otel_test sends what coordinators do to a real OpenTelemetry collector.
package otel_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// built is the variable that says where run.sh has put the collector.
const built = "C3PO_OTEL"

// longEnough is how long anything here may take before it counts as stuck.
const longEnough = time.Minute

func TestMain(m *testing.M) { faultrig.Main(m) }

// A collector is the real one, which prints what it is sent.
type collector struct {
	http, grpc string

	mu      sync.Mutex
	printed bytes.Buffer
}

func (c *collector) Write(text []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.printed.Write(text)
}

func (c *collector) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.printed.String()
}

func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// startCollector starts one that prints everything (detailed), or only how much (basic).
func startCollector(t *testing.T, verbosity string) *collector {
	t.Helper()
	program := os.Getenv(built)
	if program == "" {
		t.Skip(built + " is not set: make -C test otel runs this")
	}
	c := &collector{http: free(t), grpc: free(t)}
	config := fmt.Sprintf(`yaml:
receivers: {otlp: {protocols: {http: {endpoint: "%s"}, grpc: {endpoint: "%s"}}}}
exporters: {debug: {verbosity: %s, use_internal_logger: false}}
service:
  telemetry: {metrics: {level: none}}
  pipelines: {traces: {receivers: [otlp], exporters: [debug]}, metrics: {receivers: [otlp], exporters: [debug]}}
`, c.http, c.grpc, verbosity)
	cmd := exec.Command(program, "--config", config)
	cmd.Stdout, cmd.Stderr = c, c
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for _, address := range []string{c.http, c.grpc} {
		if !faultrig.Within(longEnough, func() bool {
			conn, err := net.Dial("tcp", address)
			if err == nil {
				conn.Close()
			}
			return err == nil
		}) {
			t.Fatalf("the collector does not listen:\n%s", c)
		}
	}
	return c
}

// A span is what the collector prints of one.
type span struct{ trace, parent, id, name string }

var spanText = regexp.MustCompile(`(?s)Trace ID +: ([0-9a-f]*)\n +Parent ID +: ([0-9a-f]*)\n +ID +: ([0-9a-f]*)\n +Name +: ([^\n]*)\n(.*?)(?:Span #|\z|ResourceSpans #|\{"|ResourceMetrics #)`)

// spans are those that it was sent, by the message of each.
func (c *collector) spans(t *testing.T) map[string]span {
	t.Helper()
	all := map[string]span{}
	text := c.String()
	for from := 0; ; {
		at := spanText.FindStringSubmatchIndex(text[from:])
		if at == nil {
			return all
		}
		part := func(n int) string { return text[from+at[2*n] : from+at[2*n+1]] }
		id := regexp.MustCompile(`-> messaging\.message\.id: Str\(([^)]*)\)`).FindStringSubmatch(part(5))
		if id == nil {
			t.Fatalf("a span without a message: %s", part(0))
		}
		if _, twice := all[id[1]]; twice {
			t.Errorf("%s was sent twice", id[1])
		}
		all[id[1]] = span{part(1), part(2), part(3), part(4)}
		from += at[11]
	}
}

func TestARealCollectorGetsAChainOfThreeAgentsOnTwoHostsAsOneTrace(t *testing.T) {
	t.Parallel()
	c := startCollector(t, "detailed")
	redis := redistest.New(t).URL()
	// One coordinator for each host, and one protocol for each.
	laptop := faultrig.Start(t, redis, "--otlp", "http://"+c.http)
	server := faultrig.Start(t, redis, "--otlp", "grpc://"+c.grpc)
	as := func(at *faultrig.Coordinator, id c3po.AgentID) *client.Client {
		me := client.New(client.Config{URL: at.URL(), AgentID: id, ClientName: "test"})
		if _, err := me.RegisterAgent(t.Context(), c3po.RegisterInput{}); err != nil {
			t.Fatal(err)
		}
		return me
	}
	ann, bob, carol := as(laptop, "laptop/ann"), as(server, "server/bob"), as(laptop, "laptop/carol")
	send := func(by *client.Client, to string) c3po.MessageID {
		receipt, err := by.SendMessage(t.Context(), c3po.SendInput{Target: to, Message: "swordfish"})
		if err != nil {
			t.Fatal(err)
		}
		return receipt.ID
	}
	read := func(by *client.Client) {
		if _, err := by.GetMessages(t.Context(), c3po.GetMessagesInput{}); err != nil {
			t.Fatal(err)
		}
	}
	reply := func(by *client.Client, to c3po.MessageID) c3po.MessageID {
		answer, err := by.Reply(t.Context(), c3po.ReplyInput{MessageID: to, Response: "swordfish"})
		if err != nil {
			t.Fatal(err)
		}
		return answer.ID
	}
	ack := func(by *client.Client, id c3po.MessageID) {
		if _, err := by.AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{id}}); err != nil {
			t.Fatal(err)
		}
	}
	question := send(ann, "server/bob")
	read(bob)
	further := send(bob, "laptop/carol")
	read(carol)
	answer := reply(carol, further)
	read(bob)
	ack(bob, answer)
	last := reply(bob, question)
	read(ann)
	ack(ann, last)

	all := []c3po.MessageID{question, further, answer, last}
	if !faultrig.Within(longEnough, func() bool { return len(c.spans(t)) == len(all) }) {
		t.Fatalf("%d of %d spans arrived:\n%s", len(c.spans(t)), len(all), c)
	}
	spans := c.spans(t)
	trace, err := ann.Trace(t.Context(), c3po.MessageInput{MessageID: last})
	if err != nil {
		t.Fatal(err)
	}
	for id, parent := range map[c3po.MessageID]string{
		question: "", further: spans[string(question)].id, answer: spans[string(further)].id, last: spans[string(question)].id,
	} {
		if got := spans[string(id)]; got.trace != trace.TraceID || got.parent != parent {
			t.Errorf("%s is %+v, want trace %s and parent %q", id, got, trace.TraceID, parent)
		}
	}
	// The last metrics come when a coordinator stops.
	laptop.Stop()
	server.Stop()
	text := c.String()
	for _, want := range []string{"-> Name: c3po_messages_accepted_total", "-> Name: c3po_http_request_duration_seconds"} {
		if !strings.Contains(text, want) {
			t.Errorf("the collector has no %s:\n%s", want, text[max(0, len(text)-2000):])
		}
	}
	if strings.Contains(text, "swordfish") {
		t.Error("what was written reached the collector")
	}
	if spans := c.spans(t); len(spans) != len(all) {
		t.Errorf("%d spans of %d messages", len(spans), len(all))
	}
}
