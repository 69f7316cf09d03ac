package faultrig_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// A vigil is agents who do nothing but wait for mail, each on a connection of its
// own to a balancer, and the books of all that was sent to them.
type vigil struct {
	t       *testing.T
	rec     faultrig.Recorder
	ids     []c3po.AgentID
	arrived chan arrival
	end     func() // returns when nobody waits any more
}

// An arrival is a message in the hands of its reader.
type arrival struct {
	text string
	at   time.Time
}

// newVigil lets so many agents wait at url.
func newVigil(t *testing.T, url string, size int) *vigil {
	t.Helper()
	v := &vigil{t: t, arrived: make(chan arrival, 1024)}
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	v.end = func() {
		cancel()
		work.Wait()
	}
	t.Cleanup(v.end)
	for i := range size {
		id := c3po.AgentID(fmt.Sprintf("waiter-%d", i))
		transport := &http.Transport{}
		t.Cleanup(transport.CloseIdleConnections)
		svc := agentThrough(t, transport, url, id)
		v.ids = append(v.ids, id)
		work.Go(func() { v.wait(ctx, svc, id) })
	}
	return v
}

// wait waits, reads and acks until ctx ends. What our client cannot hide from
// its caller is for the caller to do again.
func (v *vigil) wait(ctx context.Context, svc *client.Client, id c3po.AgentID) {
	for ctx.Err() == nil {
		if _, err := svc.Pending(ctx, c3po.PendingInput{Timeout: 50, Limit: 1}); err != nil {
			continue
		}
		page, err := v.rec.Read(ctx, svc, id, c3po.GetMessagesInput{})
		if err != nil {
			continue
		}
		for _, m := range page.Messages {
			v.arrived <- arrival{m.Text(), time.Now()}
		}
		if len(page.Messages) > 0 {
			_ = v.rec.Ack(ctx, svc, id, idsOf(page.Messages)) // else it is read again
		}
	}
}

// write sends every one of them a message, and returns the slowest send. None
// may fail at svc.
func (v *vigil) write(svc c3po.Service, from c3po.AgentID, word string) (slowest time.Duration) {
	v.t.Helper()
	for _, id := range v.ids {
		text := fmt.Sprintf("%s for %s from %s", word, id, from)
		began := time.Now()
		if _, err := v.rec.Attempt(v.t.Context(), svc, from, c3po.SendInput{Target: string(id), Message: text, ClientKey: text}); err != nil {
			v.t.Errorf("%s: %v", text, err)
		}
		slowest = max(slowest, time.Since(began))
	}
	return slowest
}

// awaitAll waits until every one of them has read the word, and says when the
// last did.
func (v *vigil) awaitAll(word string) (last time.Time) {
	v.t.Helper()
	seen, over := map[string]bool{}, time.After(time.Minute)
	for len(seen) < len(v.ids) {
		select {
		case a := <-v.arrived:
			if strings.HasPrefix(a.text, word+" ") && !seen[a.text] {
				seen[a.text], last = true, a.at
			}
		case <-over:
			v.t.Fatalf("%d of %d have read %q", len(seen), len(v.ids), word)
		}
	}
	return last
}

// allWait waits until every one of them waits at one of the coordinators.
func (v *vigil) allWait(coordinators []*faultrig.Coordinator) {
	v.t.Helper()
	eventually(v.t, "all wait", func() bool {
		waiting := 0
		for _, node := range coordinators {
			waiting += waitersOn(v.t.Context(), node.URL())
		}
		return waiting >= len(v.ids)
	})
}

// waitersOn is how many waits a coordinator says that it holds.
func waitersOn(ctx context.Context, url string) (n int) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/metrics", nil)
	if err != nil {
		return 0
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, "c3po_waiters "); found {
			_, _ = fmt.Sscan(value, &n)
		}
	}
	return n
}
