package telemetry_test

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/ops/telemetry"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

const (
	callerTrace  = "4bf92f3577b34da6a3ce929d0e0e4736"
	callerSpan   = "00f067aa0ba902b7"
	callerParent = "00-" + callerTrace + "-" + callerSpan + "-01"
	secret       = "the-password-is-swordfish"
)

// asked is the mail of one exchange: ann asks bob, who asks carol before he answers.
type asked struct{ question, further, answer, last c3po.MessageID }

// exchange has ann and carol call one coordinator and bob the other.
func exchange(t *testing.T, one, two *coordinator, headers ...string) asked {
	t.Helper()
	ann, bob, carol := "laptop/ann", "server/bob", "laptop/carol"
	op[c3po.Agent](two, bob, "ping", c3po.None{})
	op[c3po.Agent](one, carol, "ping", c3po.None{})
	question := op[c3po.Receipt](one, ann, "send_message", c3po.SendInput{Target: bob, Message: secret, Context: secret, Metadata: json.RawMessage(`{"note":"` + secret + `"}`)}, headers...)
	list := op[[]c3po.Message](two, bob, "get_messages", c3po.GetMessagesInput{})
	if len(list) != 1 || !bytes.Contains(list[0].Metadata, []byte("swordfish")) {
		t.Fatalf("bob reads %+v", list)
	}
	further := op[c3po.Receipt](two, bob, "send_message", c3po.SendInput{Target: carol, Message: secret + " again"})
	op[[]c3po.Message](one, carol, "get_messages", c3po.GetMessagesInput{})
	answer := op[c3po.Message](one, carol, "reply", c3po.ReplyInput{MessageID: further.ID, Response: secret})
	op[[]c3po.Message](two, bob, "get_messages", c3po.GetMessagesInput{})
	op[c3po.AckResult](two, bob, "ack_messages", c3po.AckInput{MessageIDs: []c3po.MessageID{answer.ID}})
	last := op[c3po.Message](two, bob, "reply", c3po.ReplyInput{MessageID: question.ID, Response: secret})
	op[c3po.AckResult](one, ann, "ack_messages", c3po.AckInput{MessageIDs: []c3po.MessageID{last.ID}})
	return asked{question.ID, further.ID, answer.ID, last.ID}
}

func TestAChainOfThreeAgentsOnTwoCoordinatorsIsOneTrace(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{telemetry.HTTP, telemetry.GRPC} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			there, redis := collect(t), redistest.Start(t)
			export := telemetry.Config{Protocol: protocol, Endpoint: there.url, Headers: "authorization=Bearer%20x,tenant=c3po"}
			one, two := start(t, redis, export), start(t, redis, export)
			mail := exchange(t, one, two, "Traceparent", callerParent, "Tracestate", "rojo=1")
			trace := op[c3po.Trace](two, "server/bob", "trace", c3po.MessageInput{MessageID: mail.last})
			if trace.TraceID != callerTrace {
				t.Errorf("trace shows %q", trace.TraceID)
			}
			one.end()
			two.end()
			spans := there.bySpan(t)
			if len(spans) != 4 {
				t.Fatalf("%d spans of four messages\n%s", len(spans), two.log)
			}
			for id, parent := range map[c3po.MessageID]string{
				mail.question: callerSpan,
				mail.further:  hex.EncodeToString(spans[mail.question].SpanId),
				mail.answer:   hex.EncodeToString(spans[mail.further].SpanId),
				mail.last:     hex.EncodeToString(spans[mail.question].SpanId),
			} {
				span := spans[id]
				if got := hex.EncodeToString(span.TraceId); got != callerTrace {
					t.Errorf("%s is in trace %s", id, got)
				}
				if got := hex.EncodeToString(span.ParentSpanId); got != parent {
					t.Errorf("%s follows from %s, not %s", id, got, parent)
				}
				if span.StartTimeUnixNano == 0 || span.EndTimeUnixNano < span.StartTimeUnixNano {
					t.Errorf("%s is from %d to %d", id, span.StartTimeUnixNano, span.EndTimeUnixNano)
				}
			}
			question := spans[mail.question]
			if names := eventNames(question); !slices.Contains(names, "accepted") || !slices.Contains(names, "served") || !slices.Contains(names, "answered") || names[len(names)-1] != "acked" {
				t.Errorf("the question's events are %v", names)
			}
			if question.Name != "invoke_agent bob" || question.Kind != tracepb.Span_SPAN_KIND_CLIENT || attribute(question, "gen_ai.agent.id") != "server/bob" || attribute(question, "gen_ai.conversation.id") != string(mail.question) {
				t.Errorf("the question is %s, %v", question.Name, question.Attributes)
			}
			if spans[mail.last].Name != "reply ann" || attribute(spans[mail.last], "gen_ai.operation.name") != "" {
				t.Errorf("the answer is %s", spans[mail.last].Name)
			}
			if bytes.Contains(there.raw, []byte("swordfish")) {
				t.Error("what was written has left in a span")
			}
			if h := there.headers[0]; h.Get("Authorization") != "Bearer x" || h.Get("Tenant") != "c3po" {
				t.Errorf("the collector was shown %v", h)
			}
		})
	}
}

func TestAMessageThatFollowsFromNothingBeginsATrace(t *testing.T) {
	t.Parallel()
	there, redis := collect(t), redistest.Start(t)
	c := start(t, redis, telemetry.Config{Protocol: telemetry.HTTP, Endpoint: there.url})
	first, second := exchange(t, c, c), exchange(t, c, c)
	shown := op[c3po.Trace](c, "laptop/ann", "trace", c3po.MessageInput{MessageID: first.answer}).TraceID
	c.end()
	spans := there.bySpan(t)
	a, b := spans[first.question], spans[second.question]
	if a == nil || b == nil || len(a.ParentSpanId)+len(b.ParentSpanId) > 0 || bytes.Equal(a.TraceId, b.TraceId) {
		t.Fatalf("two questions are %v and %v", a, b)
	}
	if hex.EncodeToString(a.TraceId) != shown || !bytes.Equal(spans[first.last].TraceId, a.TraceId) {
		t.Errorf("the trace is %x, %s is shown", a.TraceId, shown)
	}
}

// What an agent sends on about a thread belongs to that thread's trace, also if it was given
// nothing lately.
func TestAThreadGoesOnInItsTrace(t *testing.T) {
	t.Parallel()
	there, redis := collect(t), redistest.Start(t)
	export := telemetry.Config{Protocol: telemetry.HTTP, Endpoint: there.url}
	one, two := start(t, redis, export), start(t, redis, export)
	mail := exchange(t, one, two, "Traceparent", callerParent)
	more := op[c3po.Receipt](two, "laptop/ann", "send_message", c3po.SendInput{Target: "server/bob", Message: "one more thing", Thread: string(mail.question)})
	op[c3po.AckResult](one, "server/bob", "ack_messages", c3po.AckInput{MessageIDs: []c3po.MessageID{more.ID}})
	one.end()
	two.end()
	spans := there.bySpan(t)
	if got := spans[more.ID]; got == nil || hex.EncodeToString(got.TraceId) != callerTrace || !bytes.Equal(got.ParentSpanId, spans[mail.question].SpanId) {
		t.Errorf("it is %v", got)
	}
}

// Over MCP the call's own metadata is nearer to the caller than the headers of its request.
func TestACallerOverMCPIsTakenUpByItsMetadataOrItsHeaders(t *testing.T) {
	t.Parallel()
	there, redis := collect(t), redistest.Start(t)
	c := start(t, redis, telemetry.Config{Protocol: telemetry.HTTP, Endpoint: there.url})
	op[c3po.Agent](c, "bob", "ping", c3po.None{})
	other := strings.Replace(callerParent, "00f067", "00f068", 1)
	for _, way := range []struct{ header, meta, arguments, span string }{
		{callerParent, "", "", callerSpan},
		{other, callerParent, "", callerSpan},
		{"", callerParent, "", callerSpan},
		// What the front door leaves to the SDK.
		{"", callerParent, `,"unknown":{}`, callerSpan},
		{"", strings.ToUpper(callerParent), "", ""},
	} {
		text := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send_message","_meta":{"traceparent":"` + way.meta + `","tracestate":"rojo=1"},"arguments":{"target":"bob","message":"` + rand.Text() + `"}` + way.arguments + `}}`
		r, err := http.NewRequestWithContext(t.Context(), "POST", c.url+"/mcp", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25", "X-Agent-ID": "ann", "Traceparent": way.header} {
			r.Header.Set(name, value)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%d %v %s", answer.StatusCode, err, said)
		}
		list := op[[]c3po.Message](c, "bob", "get_messages", c3po.GetMessagesInput{})
		if len(list) != 1 {
			t.Fatalf("bob has %d messages: %s", len(list), said)
		}
		op[c3po.AckResult](c, "bob", "ack_messages", c3po.AckInput{MessageIDs: []c3po.MessageID{list[0].ID}})
		if place, _ := c3po.TraceIn("main", list[0].ID, list[0].Metadata); strings.Trim(place.From.String(), "0") != strings.Trim(way.span, "0") {
			t.Errorf("%+v follows from %s", way, place.From)
		}
	}
}

func TestATraceparentThatIsNoneIsIgnored(t *testing.T) {
	t.Parallel()
	there, redis := collect(t), redistest.Start(t)
	c := start(t, redis, telemetry.Config{Protocol: telemetry.HTTP, Endpoint: there.url})
	var ids []c3po.MessageID
	op[c3po.Agent](c, "bob", "ping", c3po.None{})
	for _, headers := range [][]string{
		{"Traceparent", strings.ToUpper(callerParent)},
		{"Traceparent", "ff" + callerParent[2:]},
		{"Traceparent", "00-" + strings.Repeat("0", 32) + "-" + callerSpan + "-01"},
		{"Traceparent", callerParent + strings.Repeat("-x", 5000)},
		{"Traceparent", callerParent, "Traceparent", callerParent},
		{"Traceparent", callerParent + "'; DROP TABLE spans"},
	} {
		ids = append(ids, op[c3po.Receipt](c, "ann", "send_message", c3po.SendInput{Target: "bob", Message: headers[1], Metadata: json.RawMessage(`{"traceparent":"nonsense"}`)}, headers...).ID)
	}
	op[c3po.AckResult](c, "bob", "ack_messages", c3po.AckInput{MessageIDs: ids})
	c.end()
	spans := there.bySpan(t)
	for _, id := range ids {
		if span := spans[id]; span == nil || hex.EncodeToString(span.TraceId) == callerTrace || len(span.ParentSpanId) > 0 {
			t.Errorf("%s is %v", id, span)
		}
	}
}

// Each try of a send may come from another span; it is the same message all the same.
func TestARepeatInAnotherSpanIsTheSameMessage(t *testing.T) {
	t.Parallel()
	there, redis := collect(t), redistest.Start(t)
	c := start(t, redis, telemetry.Config{Protocol: telemetry.HTTP, Endpoint: there.url})
	op[c3po.Agent](c, "bob", "ping", c3po.None{})
	in := c3po.SendInput{Target: "bob", Message: "once", ClientKey: "k", Metadata: json.RawMessage(`{"b":1,"a":2}`)}
	first := op[c3po.Receipt](c, "ann", "send_message", in, "Traceparent", callerParent)
	for _, headers := range [][]string{{}, {"Traceparent", strings.Replace(callerParent, "00f067", "00f068", 1)}} {
		if again := op[c3po.Receipt](c, "ann", "send_message", in, headers...); again.ID != first.ID {
			t.Errorf("%s was sent again as %s", first.ID, again.ID)
		}
	}
}

func TestACallerThatDoesNotRecordItsTraceHasNoSpans(t *testing.T) {
	t.Parallel()
	there, redis := collect(t), redistest.Start(t)
	c := start(t, redis, telemetry.Config{Protocol: telemetry.HTTP, Endpoint: there.url})
	exchange(t, c, c, "Traceparent", strings.TrimSuffix(callerParent, "1")+"0")
	c.end()
	if spans := there.bySpan(t); len(spans) != 0 {
		t.Errorf("%d spans were exported", len(spans))
	}
}

func TestWithoutACollectorNothingIsAdded(t *testing.T) {
	t.Parallel()
	c := start(t, redistest.Start(t), telemetry.Config{Protocol: telemetry.Off, Endpoint: "http://127.0.0.1:1"})
	op[c3po.Agent](c, "bob", "ping", c3po.None{})
	sent := op[c3po.Receipt](c, "ann", "send_message", c3po.SendInput{Target: "bob", Message: "hello"}, "Traceparent", callerParent)
	list := op[[]c3po.Message](c, "bob", "get_messages", c3po.GetMessagesInput{})
	if len(list) != 1 || len(list[0].Metadata) > 0 {
		t.Errorf("the message carries %s", list[0].Metadata)
	}
	shown := op[c3po.Trace](c, "ann", "trace", c3po.MessageInput{MessageID: sent.ID}).TraceID
	if again := op[c3po.Trace](c, "bob", "trace", c3po.MessageInput{MessageID: sent.ID}).TraceID; len(shown) != 32 || shown != again || shown == callerTrace {
		t.Errorf("trace shows %q and %q", shown, again)
	}
}

// A collector that accepts connections and never answers is the worst: nothing fails.
func TestACollectorThatHangsDelaysNoSendAndWhatIsLostIsSaid(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	c := start(t, redistest.Start(t), telemetry.Config{Protocol: telemetry.GRPC, Endpoint: "http://" + silent.Addr().String()})
	began := time.Now()
	for range 5 {
		exchange(t, c, c)
	}
	if took := time.Since(began); took > longEnough/2 {
		t.Errorf("fifty calls took %s", took)
	}
	c.end()
	if log := c.log.String(); !strings.Contains(log, "spans were not exported") || !strings.Contains(log, "why=stopped spans=20") {
		t.Errorf("nothing is said of what was lost:\n%s", log)
	}
}

func TestACollectorThatComesBackGetsWhatEndedMeanwhileOnce(t *testing.T) {
	t.Parallel()
	there, redis := collect(t), redistest.Start(t)
	there.refuse = http.StatusServiceUnavailable
	c := start(t, redis, telemetry.Config{Protocol: telemetry.HTTP, Endpoint: there.url})
	exchange(t, c, c)
	asked := func() int {
		there.mu.Lock()
		defer there.mu.Unlock()
		return len(there.headers)
	}
	if !faultrig.Within(longEnough, func() bool { return asked() > 0 }) {
		t.Fatal("the collector was never asked")
	}
	there.mu.Lock()
	there.refuse = 0
	there.mu.Unlock()
	if !faultrig.Within(longEnough, func() bool { return len(there.bySpan(t)) == 4 }) {
		t.Fatalf("%d spans came\n%s", len(there.bySpan(t)), c.log)
	}
	c.end()
	if log := c.log.String(); len(there.bySpan(t)) != 4 || !strings.Contains(log, "takes no spans; they wait") || strings.Contains(log, "spans were not exported") {
		t.Errorf("%d spans came in the end:\n%s", len(there.bySpan(t)), log)
	}
}

// endsWithAll stops a coordinator, whose collector has the four spans of an exchange by then.
func endsWithAll(t *testing.T, c *coordinator, there *collector) {
	t.Helper()
	c.end()
	if log := c.log.String(); len(there.bySpan(t)) != 4 || strings.Contains(log, "spans were not exported") {
		t.Errorf("%d spans came in the end:\n%s", len(there.bySpan(t)), log)
	}
}

func TestWhatWaitsForACollectorIsSentWhenTheCoordinatorStops(t *testing.T) {
	t.Parallel()
	there, redis := collect(t), redistest.Start(t)
	there.refuse = http.StatusServiceUnavailable
	c := start(t, redis, telemetry.Config{Protocol: telemetry.HTTP, Endpoint: there.url})
	exchange(t, c, c)
	if !faultrig.Within(longEnough, func() bool { return strings.Contains(c.log.String(), "takes no spans; they wait") }) {
		t.Fatal("the collector was never asked")
	}
	there.mu.Lock()
	there.refuse = 0
	there.mu.Unlock()
	endsWithAll(t, c, there)
}

func TestSpansThatTheCollectorIsTakingAreNotSaidToBeLost(t *testing.T) {
	t.Parallel()
	there, redis := collect(t), redistest.Start(t)
	there.taken = make(chan struct{})
	c := start(t, redis, telemetry.Config{Protocol: telemetry.HTTP, Endpoint: there.url})
	exchange(t, c, c)
	<-there.taken
	c.stop()
	there.taken <- struct{}{}
	endsWithAll(t, c, there)
}

func TestWhatACollectorRefusesIsCounted(t *testing.T) {
	t.Parallel()
	there, redis := collect(t), redistest.Start(t)
	there.refuse = http.StatusBadRequest
	c := start(t, redis, telemetry.Config{Protocol: telemetry.HTTP, Endpoint: there.url})
	exchange(t, c, c)
	c.end()
	if log := c.log.String(); !strings.Contains(log, "why=refused spans=4") {
		t.Errorf("nothing is said of what was refused:\n%s", log)
	}
}

func TestWhatACollectorTakesInPartIsCounted(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{telemetry.HTTP, telemetry.GRPC} {
		there := collect(t)
		there.partial = []byte{0x0a, 0x02, 0x08, 0x03} // partial_success: 3 rejected
		c := start(t, redistest.Start(t), telemetry.Config{Protocol: protocol, Endpoint: there.url})
		exchange(t, c, c)
		c.end()
		if log := c.log.String(); !strings.Contains(log, "why=refused spans=3") {
			t.Errorf("%s: nothing is said of what was refused:\n%s", protocol, log)
		}
	}
}

func TestTheNumbersAreThoseOfPrometheus(t *testing.T) {
	t.Parallel()
	there, redis := collect(t), redistest.Start(t)
	c := start(t, redis, telemetry.Config{Protocol: telemetry.GRPC, Endpoint: there.url})
	exchange(t, c, c)
	c.end()
	there.mu.Lock()
	defer there.mu.Unlock()
	sums, histograms := map[string]float64{}, 0
	for _, m := range there.metrics {
		for _, p := range m.GetSum().GetDataPoints() {
			sums[m.Name] += p.GetAsDouble()
		}
		for _, p := range m.GetHistogram().GetDataPoints() {
			histograms++
			counted := uint64(0)
			for _, n := range p.BucketCounts {
				counted += n
			}
			if len(p.BucketCounts) != len(p.ExplicitBounds)+1 || counted != p.Count {
				t.Errorf("%s has %d in its buckets of %d", m.Name, counted, p.Count)
			}
		}
	}
	if sums["c3po_messages_accepted_total"] != 4 || sums["c3po_messages_acked_total"] != 4 || sums["c3po_spans_exported_total"] != 4 || histograms == 0 {
		t.Errorf("the sums are %v, with %d histograms", sums, histograms)
	}
}

func TestASettingThatCannotWorkIsRefused(t *testing.T) {
	t.Parallel()
	with := func(name, value string) func(string) string {
		return func(asked string) string { return map[string]string{name: value}[asked] }
	}
	const endpoint, headers, certificate = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_CERTIFICATE"
	for to, getenv := range map[string]func(string) string{
		"smoke": with("", ""), "collector:4318": with("", ""), "ftp://collector": with("", ""), "http://": with("", ""),
		"http://me:" + secret + "@collector": with("", ""), "grpc://collector/v1/traces": with("", ""), "http://collector?a=" + secret: with("", ""),
		"http": with(endpoint, "collector:4318"), "grpc": with(headers, secret), "https://collector": with(headers, "a="+secret+"%0d%0aX: y"), "grpcs://collector": with(certificate, "/nowhere.pem"),
	} {
		if _, err := telemetry.Parse(to, getenv); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", to, err)
		}
	}
	for to, want := range map[string]telemetry.Config{
		"": {Protocol: telemetry.Off}, "off": {Protocol: telemetry.Off}, "http": {Protocol: telemetry.HTTP}, "grpc": {Protocol: telemetry.GRPC},
		"http://collector:4318": {Protocol: telemetry.HTTP, Endpoint: "http://collector:4318"}, "https://collector/otlp": {Protocol: telemetry.HTTP, Endpoint: "https://collector/otlp"},
		"grpc://collector:4317": {Protocol: telemetry.GRPC, Endpoint: "http://collector:4317"}, "grpcs://collector": {Protocol: telemetry.GRPC, Endpoint: "https://collector"},
	} {
		if got, err := telemetry.Parse(to, with("", "")); err != nil || got != want {
			t.Errorf("%q: %+v %v", to, got, err)
		}
	}
	if got, err := telemetry.Parse("grpc", with(endpoint, "https://collector:4317")); err != nil || got.Endpoint != "https://collector:4317" {
		t.Errorf("%+v %v", got, err)
	}
}
