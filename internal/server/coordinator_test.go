package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// longEnough is how long anything here may take before it counts as stuck.
const longEnough = time.Minute

// A coordinator is a running server.
type coordinator struct {
	url   string
	space string
	stop  context.CancelFunc
	ended chan error
	log   *faultrig.Buffer
}

// start runs a coordinator until the test is over.
func start(t *testing.T, cfg server.Config) *coordinator {
	t.Helper()
	book := &faultrig.Buffer{}
	return startLogging(t, cfg, book, slog.New(slog.NewTextHandler(book, nil)))
}

// startLogging is start with a log of the test's own, which writes to book.
func startLogging(t *testing.T, cfg server.Config, book *faultrig.Buffer, log *slog.Logger) *coordinator {
	t.Helper()
	c := &coordinator{ended: make(chan error, 1), log: book}
	cfg.Log = log
	if cfg.Listen == "" {
		cfg.Listen = ":0"
	}
	if cfg.Auth == "" {
		// What most tests promise is the same whoever calls.
		cfg.Auth = auth.None
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	c.stop = stop
	ready := make(chan string, 1)
	go func() { c.ended <- server.Run(ctx, cfg, func(addr string) { ready <- addr }) }()
	select {
	case addr := <-ready:
		c.url = cfg.URL(addr)
	case err := <-c.ended:
		t.Fatalf("the coordinator ended with %v\n%s", err, c.log)
	case <-time.After(longEnough):
		t.Fatalf("the coordinator is not ready\n%s", c.log)
	}
	t.Cleanup(func() {
		stop()
		c.wantEnd(t)
		faultrig.CheckLog(t, "the coordinator's", book.String())
	})
	return c
}

// wantEnd waits until the coordinator has ended well.
func (c *coordinator) wantEnd(t *testing.T) {
	t.Helper()
	select {
	case err := <-c.ended:
		if err != nil {
			t.Errorf("the coordinator ended with %v", err)
		}
		c.ended <- nil
	case <-time.After(longEnough):
		t.Errorf("the coordinator does not end\n%s", c.log)
	}
}

// op calls an operation and returns the status. A nil out is not decoded.
func (c *coordinator) op(ctx context.Context, as, name string, in, out any) (int, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return 0, err
	}
	r, err := http.NewRequestWithContext(ctx, "POST", c.url+"/api/op/"+name, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Agent-ID", as)
	if c.space != "" {
		r.Header.Set("X-C3PO-Space", c.space)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err
	}
	if out != nil {
		err = json.Unmarshal(data, out)
	}
	return answer.StatusCode, err
}

// must is op that has to succeed.
func (c *coordinator) must(t *testing.T, as, name string, in, out any) {
	t.Helper()
	status, err := c.op(t.Context(), as, name, in, out)
	if err != nil || status != http.StatusOK {
		t.Fatalf("%s as %s: %d %v\n%s", name, as, status, err, c.log)
	}
}

// wantWaiting returns once a wait of the agent is under way.
func (c *coordinator) wantWaiting(t *testing.T, id string) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(longEnough)
	for {
		var agent c3po.Agent
		if status, err := c.op(t.Context(), "observer", "get_agent_status", c3po.AgentInput{AgentID: id}, &agent); err == nil &&
			status == http.StatusOK && agent.Reachability == c3po.ReachNow {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s never began to wait\n%s", id, c.log)
		}
	}
}

func config(redis string, log *faultrig.Buffer) server.Config {
	return server.Config{RedisURL: redis, Log: slog.New(slog.NewTextHandler(log, nil))}
}
