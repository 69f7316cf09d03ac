package server_test

import (
	"flag"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

var update = flag.Bool("update", false, "write testdata anew")

// get is one answer as text.
func (c *coordinator) get(t *testing.T, path string) (int, string) {
	t.Helper()
	answer, err := http.Get(c.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// A sample is one line of a scrape.
type sample struct {
	name   string
	labels string
	value  float64
}

var sampleLine = regexp.MustCompile(`(?m)^([a-z0-9_]+)(?:\{(.*)\})? (\S+)$`)

func (c *coordinator) scrape(t *testing.T) []sample {
	t.Helper()
	status, text := c.get(t, "/metrics")
	if status != http.StatusOK {
		t.Fatalf("/metrics answers %d", status)
	}
	var all []sample
	for _, line := range sampleLine.FindAllStringSubmatch(text, -1) {
		value, err := strconv.ParseFloat(line[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, sample{line[1], line[2], value})
	}
	return all
}

// valueOf is the value of one series, or -1.
func valueOf(samples []sample, name, labels string) float64 {
	for _, s := range samples {
		if s.name == name && s.labels == labels {
			return s.value
		}
	}
	return -1
}

// traffic makes every sort of thing happen once.
func traffic(t *testing.T, c *coordinator) c3po.Receipt {
	t.Helper()
	c.must(t, "bob-the-agent", "ping", c3po.None{}, nil)
	var first c3po.Receipt
	ask := c3po.SendInput{Target: "bob-the-agent", Message: "hello", ClientKey: "key-of-ann"}
	c.must(t, "ann-the-agent", "send_message", ask, &first)
	c.must(t, "ann-the-agent", "send_message", ask, nil)
	c.must(t, "bob-the-agent", "get_messages", c3po.GetMessagesInput{}, nil)
	c.must(t, "bob-the-agent", "get_messages", c3po.GetMessagesInput{}, nil)
	c.must(t, "bob-the-agent", "reply", c3po.ReplyInput{MessageID: first.ID, Response: "yes"}, nil)
	woken := make(chan error, 1)
	go func() {
		_, err := c.op(t.Context(), "bob-the-agent", "wait_for_message", c3po.WaitInput{Timeout: 30}, nil)
		woken <- err
	}()
	c.wantWaiting(t, "bob-the-agent")
	for n := range 9 {
		c.must(t, "ann-the-agent", "send_message", c3po.SendInput{Target: "bob-the-agent", Message: "more " + strconv.Itoa(n)}, nil)
	}
	if err := <-woken; err != nil {
		t.Fatal(err)
	}
	for _, in := range []c3po.SendInput{{Target: "bob-the-agent", Message: "too many"}, {Target: "nobody-at-all", Message: "x"}} {
		if status, err := c.op(t.Context(), "ann-the-agent", "send_message", in, nil); err != nil || status == http.StatusOK {
			t.Fatalf("send to %s: %d %v", in.Target, status, err)
		}
	}
	if status, _ := c.get(t, "/some/path/nobody-serves"); status != http.StatusNotFound {
		t.Fatalf("an unknown path answers %d", status)
	}
	return first
}

func TestMetricsCountWhatHappened(t *testing.T) {
	t.Parallel()
	c := start(t, server.Config{RedisURL: redistest.Start(t, "--appendfsync", "always"), Version: "1.2.3", Commit: "abc"})
	traffic(t, c)
	got := c.scrape(t)
	for _, want := range []sample{
		{"c3po_build_info", `commit="abc",version="1.2.3"`, 1},
		{"c3po_messages_accepted_total", `durability="fsync",kind="message"`, 10},
		{"c3po_messages_accepted_total", `durability="fsync",kind="reply"`, 1},
		{"c3po_messages_duplicate_total", "", 1},
		{"c3po_messages_rejected_total", `reason="RATE_LIMITED"`, 1},
		{"c3po_messages_rejected_total", `reason="AGENT_NOT_FOUND"`, 1},
		{"c3po_rate_limited_total", "", 1},
		{"c3po_messages_delivered_total", `redelivered="false",route="rest"`, 2},
		{"c3po_messages_delivered_total", `redelivered="true",route="rest"`, 1},
		{"c3po_messages_acked_total", "", 1},
		{"c3po_messages_pending", "", 10},
		{"c3po_delivery_latency_seconds_count", "", 2},
		{"c3po_wake_latency_seconds_count", "", 1},
		{"c3po_http_request_duration_seconds_count", `code="200",route="POST /api/op/reply"`, 1},
		{"c3po_store_op_duration_seconds_count", `op="message_reply"`, 1},
		{"c3po_store_up", "", 1},
		{"c3po_store_fsync_mode", `mode="fsync"`, 1},
		{"c3po_store_fsync_mode", `mode="memory"`, 0},
		{"c3po_store_rollback_total", "", 0},
		{"c3po_store_corrupt_total", "", 0},
		{"c3po_waiters", "", 0},
		{"c3po_sse_clients", "", 0},
		{"c3po_draining", "", 0},
	} {
		if value := valueOf(got, want.name, want.labels); value != want.value {
			t.Errorf("%s{%s} is %v, want %v", want.name, want.labels, value, want.value)
		}
	}
}

func TestTheNamesOfTheMetricsAreAContract(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	c := start(t, server.Config{RedisURL: redis.URL()})
	traffic(t, c)
	names := map[string]bool{}
	note := func() {
		for _, s := range c.scrape(t) {
			if !strings.HasPrefix(s.name, "c3po_") {
				continue
			}
			var labels []string
			for _, pair := range labelPair.FindAllStringSubmatch(s.labels, -1) {
				if pair[1] != "le" {
					labels = append(labels, pair[1])
				}
			}
			names[strings.TrimRight(s.name+" "+strings.Join(labels, " "), " ")] = true
		}
	}
	note()
	redis.Kill()
	if status, err := c.op(t.Context(), "ann", "get_messages", c3po.GetMessagesInput{}, nil); err != nil || status == http.StatusOK {
		t.Fatalf("without Redis: %d %v", status, err)
	}
	note()
	text := strings.Join(slices.Sorted(maps.Keys(names)), "\n") + "\n"
	const golden = "testdata/metrics.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("names and labels, -update accepts them (-want +got):\n%s", diff)
	}
	docs, err := os.ReadFile("../../docs/operations/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range names {
		name, _, _ = strings.Cut(name, " ")
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			name = strings.TrimSuffix(name, suffix)
		}
		if !strings.Contains(string(docs), "`"+name) {
			t.Errorf("docs/operations/operations.md does not name %s", name)
		}
	}
}

var labelPair = regexp.MustCompile(`([a-z_]+)="([^"]*)"`)

// seriesOfCalls counts the series that calls of agents make; a step that the
// coordinator takes by itself may be counted for the first time at any moment.
func seriesOfCalls(samples []sample) int {
	return len(slices.DeleteFunc(samples, func(s sample) bool {
		return !strings.HasPrefix(s.name, "c3po_") || strings.HasPrefix(s.name, "c3po_store_op_") || strings.Contains(s.labels, "/metrics")
	}))
}

func TestNoLabelCarriesAnId(t *testing.T) {
	t.Parallel()
	c := start(t, server.Config{RedisURL: redistest.Start(t)})
	c.space = "secret-space"
	first := traffic(t, c)
	_, _, hex := first.ID.Split()
	before := seriesOfCalls(c.scrape(t))
	for _, s := range c.scrape(t) {
		for _, id := range []string{"the-agent", "nobody", "secret-space", "key-of", "::", hex, "nobody-serves"} {
			if strings.Contains(s.labels, id) {
				t.Errorf("%s{%s} carries %q", s.name, s.labels, id)
			}
		}
	}
	for _, id := range []string{"p", "q", "r", "s"} {
		c.must(t, id, "ping", c3po.None{}, nil)
		c.must(t, id, "send_message", c3po.SendInput{Target: "bob-the-agent", Message: id}, nil)
	}
	if after := seriesOfCalls(c.scrape(t)); after > before {
		t.Errorf("four more agents made %d more series", after-before)
	}
}
