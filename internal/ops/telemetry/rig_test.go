package telemetry_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/ops/telemetry"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// longEnough is how long anything here may take before it counts as stuck.
const longEnough = 20 * time.Second

// A collector takes OTLP over HTTP and gRPC, and keeps it.
type collector struct {
	url string

	mu      sync.Mutex
	spans   []*tracepb.Span
	metrics []*metricspb.Metric
	raw     []byte        // all that it was ever posted
	headers []http.Header // of each request
	refuse  int           // the status it answers with instead, if any
	partial []byte        // what it answers with
	taken   chan struct{} // says that it has spans, and waits for leave to answer; nil if it does not
}

func collect(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	front := httptest.NewUnstartedServer(c)
	front.Config.Protocols = &http.Protocols{}
	front.Config.Protocols.SetHTTP1(true)
	front.Config.Protocols.SetUnencryptedHTTP2(true)
	front.Start()
	t.Cleanup(front.Close)
	c.url = front.URL
	return c
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.headers, c.raw = append(c.headers, r.Header), append(c.raw, body...)
	grpc := r.Header.Get("Content-Type") == "application/grpc+proto"
	if c.refuse != 0 && !grpc {
		w.WriteHeader(c.refuse)
		return
	}
	if grpc {
		if r.ProtoMajor != 2 || len(body) < 5 || int(binary.BigEndian.Uint32(body[1:5])) != len(body)-5 {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		body = body[5:]
	}
	if strings.Contains(strings.ToLower(r.URL.Path), "trace") {
		var data tracepb.TracesData
		err = proto.Unmarshal(body, &data)
		for _, resource := range data.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				c.spans = append(c.spans, scope.Spans...)
			}
		}
		if c.taken != nil {
			c.taken <- struct{}{}
			<-c.taken
			c.taken = nil
		}
	} else {
		var data metricspb.MetricsData
		err = proto.Unmarshal(body, &data)
		for _, resource := range data.ResourceMetrics {
			for _, scope := range resource.ScopeMetrics {
				c.metrics = append(c.metrics, scope.Metrics...)
			}
		}
	}
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if !grpc {
		w.Header().Set("Content-Type", "application/x-protobuf")
		_, _ = w.Write(c.partial) // it looks for what arrived, not for who left
		return
	}
	w.Header().Set("Content-Type", "application/grpc+proto")
	w.Header().Set("Trailer", "Grpc-Status")
	frame := make([]byte, 5, 5+len(c.partial))
	binary.BigEndian.PutUint32(frame[1:], uint32(len(c.partial)))
	_, _ = w.Write(append(frame, c.partial...))
	w.Header().Set("Grpc-Status", "0")
}

// bySpan are the spans by the message that each is of. No message has two.
func (c *collector) bySpan(t *testing.T) map[c3po.MessageID]*tracepb.Span {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[c3po.MessageID]*tracepb.Span{}
	for _, span := range c.spans {
		id := c3po.MessageID(attribute(span, "messaging.message.id"))
		if all[id] != nil {
			t.Errorf("%s was exported twice", id)
		}
		all[id] = span
	}
	return all
}

func attribute(span *tracepb.Span, key string) string {
	for _, a := range span.Attributes {
		if a.Key == key {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

func eventNames(span *tracepb.Span) (names []string) {
	for _, e := range span.Events {
		names = append(names, e.Name)
	}
	return names
}

// A coordinator is a running server.
type coordinator struct {
	t     *testing.T
	url   string
	stop  context.CancelFunc
	ended chan error
	log   *faultrig.Buffer
}

func start(t *testing.T, redis string, export telemetry.Config) *coordinator {
	t.Helper()
	c := &coordinator{t: t, ended: make(chan error, 1), log: &faultrig.Buffer{}}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	c.stop = stop
	ready := make(chan string, 1)
	cfg := server.Config{Listen: ":0", RedisURL: redis, Auth: auth.None, Telemetry: export, Version: "1.2.3", Log: slog.New(slog.NewTextHandler(c.log, nil))}
	go func() { c.ended <- server.Run(ctx, cfg, func(addr string) { ready <- addr }) }()
	select {
	case addr := <-ready:
		c.url = cfg.URL(addr)
	case err := <-c.ended:
		t.Fatalf("the coordinator ended with %v\n%s", err, c.log)
	case <-time.After(longEnough):
		t.Fatalf("the coordinator is not ready\n%s", c.log)
	}
	t.Cleanup(c.end)
	return c
}

// end stops it; what it has left is exported then.
func (c *coordinator) end() {
	c.stop()
	select {
	case err := <-c.ended:
		if err != nil {
			c.t.Errorf("the coordinator ended with %v", err)
		}
		c.ended <- nil
	case <-time.After(longEnough):
		c.t.Errorf("the coordinator does not end\n%s", c.log)
	}
}

// op calls an operation, which has to succeed. Headers are name, value, name, value.
func op[Out any](c *coordinator, as, name string, in any, headers ...string) Out {
	c.t.Helper()
	var out Out
	body, err := json.Marshal(in)
	if err != nil {
		c.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(c.t.Context(), "POST", c.url+"/api/op/"+name, bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Agent-ID", as)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil || answer.StatusCode != http.StatusOK {
		c.t.Fatalf("%s as %s: %d %v %s\n%s", name, as, answer.StatusCode, err, data, c.log)
	}
	return out
}
