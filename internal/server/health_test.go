package server_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// infoLine is one number of INFO.
func infoLine(t *testing.T, addr, section, key string) int {
	t.Helper()
	reply, err := redistest.Do(addr, "INFO", section)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(fmt.Sprint(reply)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), key); ok {
			digits := value[:len(value)-len(strings.TrimLeft(value, "0123456789"))]
			n, err := strconv.Atoi(digits)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			return n
		}
	}
	return 0
}

func commandCount(t *testing.T, addr, command string) int {
	t.Helper()
	return infoLine(t, addr, "commandstats", "cmdstat_"+command+":calls=")
}

func connections(t *testing.T, addr string) int {
	t.Helper()
	return infoLine(t, addr, "clients", "connected_clients:")
}

func TestReadinessNeverWritesAndLivenessNeverAsks(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	limits := c3po.DefaultLimits()
	limits.CompareEvery = 0
	c := start(t, server.Config{RedisURL: redis.URL(), Limits: limits})
	log, asked := infoLine(t, redis.Addr(), "persistence", "aof_current_size:"), commandCount(t, redis.Addr(), "info")
	for range 50 {
		if status, text := c.get(t, "/readyz"); status != http.StatusOK || !strings.Contains(text, `"reasons":[]`) {
			t.Fatalf("not ready: %d %s", status, text)
		}
	}
	if now := infoLine(t, redis.Addr(), "persistence", "aof_current_size:"); now != log {
		t.Errorf("50 questions after readiness grew the log of Redis by %d bytes", now-log)
	}
	if got := commandCount(t, redis.Addr(), "info") - asked; got < 50 {
		t.Errorf("Redis was asked %d times, want 50: the counters are not what this test thinks", got)
	}
	asked = commandCount(t, redis.Addr(), "info")
	for range 50 {
		if status, _ := c.get(t, "/livez"); status != http.StatusOK {
			t.Fatalf("not alive: %d", status)
		}
	}
	if got := commandCount(t, redis.Addr(), "info") - asked; got > 25 { // some are this test's own
		t.Errorf("liveness asked Redis %d times", got)
	}
}

func TestARedisThatHangsTurnsReadinessRedWithinTwoSeconds(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	c := start(t, server.Config{RedisURL: redis.URL()})
	redis.Freeze()
	began := time.Now()
	status, text := c.get(t, "/readyz")
	faultrig.Hold(t, "until readiness is red", time.Since(began), 2*time.Second)
	alive, _ := c.get(t, "/livez")
	redis.Thaw()
	if status != http.StatusServiceUnavailable || !strings.Contains(text, "Redis") {
		t.Errorf("readiness of a hung Redis: %d %s", status, text)
	}
	if alive != http.StatusOK {
		t.Errorf("a coordinator without Redis is called dead: %d", alive)
	}
	deadline := time.Now().Add(longEnough)
	for status, _ = c.get(t, "/readyz"); status != http.StatusOK; status, _ = c.get(t, "/readyz") {
		if time.Now().After(deadline) {
			t.Fatalf("it never became ready again: %d", status)
		}
	}
}

func TestTheLogTellsRequestsAndChangesButNoBodies(t *testing.T) {
	t.Parallel()
	book := &faultrig.Buffer{}
	c := startLogging(t, server.Config{RedisURL: redistest.Start(t)}, book, slog.New(slog.NewJSONHandler(book, nil)))
	c.must(t, "bob", "ping", c3po.None{}, nil)
	var sent c3po.Receipt
	c.must(t, "ann", "send_message", c3po.SendInput{Target: "bob", Message: "xyzzy", Context: "plugh", ClientKey: "frotz"}, &sent)
	c.must(t, "bob", "reply", c3po.ReplyInput{MessageID: sent.ID, Response: "gnusto"}, nil)
	if status, err := c.op(t.Context(), "bob", "send_message", c3po.SendInput{Target: "nobody", Message: "rezrov"}, nil); err != nil || status != http.StatusNotFound {
		t.Fatalf("send to nobody: %d %v", status, err)
	}
	type line struct {
		Msg, Node, Kind, Route string
		ReqID                  string `json:"req_id"`
		MessageID              string `json:"message_id"`
		Changed                struct {
			Kind      string
			MessageID string `json:"message_id"`
		}
	}
	nodes, requests, changes := map[string]bool{}, map[string]string{}, map[string]line{}
	for text := range strings.Lines(book.String()) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		nodes[l.Node] = true
		switch l.Msg {
		case "request":
			if requests[l.ReqID] != "" || l.ReqID == "" {
				t.Errorf("the request has the id of another: %s", text)
			}
			requests[l.ReqID] = l.Route
			if l.Changed.Kind != "" {
				l.MessageID = l.Changed.MessageID
				changes[l.Changed.Kind] = l
			}
		case "changed":
			changes[l.Kind] = l
		}
	}
	if len(nodes) != 1 || nodes[""] {
		t.Errorf("the lines name the nodes %v, want one", nodes)
	}
	if len(requests) != 4 {
		t.Errorf("%d requests are logged, want 4", len(requests))
	}
	for kind, route := range map[string]string{
		"registered": "POST /api/op/send_message", "accepted": "POST /api/op/send_message", "answered": "POST /api/op/reply", "acked": "POST /api/op/reply",
	} {
		l, ok := changes[kind]
		if !ok || requests[l.ReqID] != route {
			t.Errorf("the change %s is logged as %+v, want in the request %s", kind, l, route)
		}
	}
	if changes["accepted"].MessageID != string(sent.ID) {
		t.Errorf("accepted is logged for %q, want %q", changes["accepted"].MessageID, sent.ID)
	}
	for _, secret := range []string{"xyzzy", "plugh", "frotz", "gnusto", "rezrov"} {
		if strings.Contains(book.String(), secret) {
			t.Errorf("the log holds %q:\n%s", secret, book)
		}
	}
}
