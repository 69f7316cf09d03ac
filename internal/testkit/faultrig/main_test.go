package faultrig_test

import (
	"context"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// TestMain also is the other process of the tests that need one.
func TestMain(m *testing.M) {
	if url := os.Getenv(workerOf); url != "" {
		if err := work(url, c3po.AgentID(os.Getenv(workerID))); err != nil {
			println(err.Error())
			os.Exit(1)
		}
		return
	}
	faultrig.Main(m)
}

// eventually polls until what holds, or fails after a while.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	eventuallyWithin(t, time.Minute, what, holds)
}

func eventuallyWithin(t *testing.T, most time.Duration, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(most); !holds(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("it never came to this: %s", what)
		}
	}
}

// agent is a client of one agent, registered.
func agent(t *testing.T, url string, id c3po.AgentID) *client.Client {
	t.Helper()
	c := client.New(client.Config{URL: url, AgentID: id})
	if _, err := c.RegisterAgent(t.Context(), c3po.RegisterInput{}); err != nil {
		t.Fatalf("register %s: %v", id, err)
	}
	return c
}

// drain reads and acks everything an agent has.
func drain(ctx context.Context, rec *faultrig.Recorder, svc c3po.Service, id c3po.AgentID) error {
	for {
		page, err := rec.Read(ctx, svc, id, c3po.GetMessagesInput{})
		if err != nil || len(page.Messages) == 0 {
			return err
		}
		if err := rec.Ack(ctx, svc, id, idsOf(page.Messages)); err != nil {
			return err
		}
	}
}

func idsOf(messages []c3po.Message) []c3po.MessageID {
	ids := make([]c3po.MessageID, len(messages))
	for i, m := range messages {
		ids[i] = m.ID
	}
	return ids
}

// balanced asks fsck, and fails the test if the books do not balance.
func balanced(t *testing.T, svc c3po.Service) c3po.Audit {
	t.Helper()
	audit, err := svc.Fsck(t.Context(), c3po.None{})
	if err != nil {
		t.Fatal(err)
	}
	if !audit.Balanced {
		t.Errorf("the books do not balance: %+v", audit)
	}
	return audit
}

// agentThrough is agent over a transport whose connections the test closes.
func agentThrough(t *testing.T, transport *http.Transport, url string, id c3po.AgentID) *client.Client {
	t.Helper()
	c := client.New(client.Config{URL: url, AgentID: id, HTTP: &http.Client{Transport: transport}})
	if _, err := c.RegisterAgent(t.Context(), c3po.RegisterInput{}); err != nil {
		t.Fatalf("register %s: %v", id, err)
	}
	return c
}
