package faultrig_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestARollingRestartFailsNoSendAndEveryWaiterIsSoonBack(t *testing.T) {
	t.Parallel()
	const nodes, waiters, writers = 3, 12, 4
	rounds := faultrig.Size(1, 10)
	redis := redistest.New(t)
	var coordinators []*faultrig.Coordinator
	var urls []string
	for range nodes {
		node := faultrig.Start(t, redis.URL())
		coordinators, urls = append(coordinators, node), append(urls, node.URL())
	}
	balancer := faultrig.NewBalancer(t, urls...)
	v := newVigil(t, balancer.URL(), waiters)
	agent(t, balancer.URL(), "reader")

	// Load: what our client, left to itself, does not get through is a failure.
	var rec faultrig.Recorder
	var stored atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			id := c3po.AgentID(fmt.Sprintf("writer-%d", w))
			svc := client.New(client.Config{URL: balancer.URL(), AgentID: id})
			pace := time.NewTicker(10 * time.Millisecond)
			defer pace.Stop()
			for n := 0; ctx.Err() == nil; n++ {
				<-pace.C
				text := fmt.Sprintf("%s says %d", id, n)
				if _, err := rec.Attempt(t.Context(), svc, id, c3po.SendInput{Target: "reader", Message: text, ClientKey: text}); err != nil {
					t.Errorf("%s: %v", text, err)
					return
				}
				stored.Add(1)
			}
		})
	}

	done := make(chan struct{})
	writing.Go(func() { readUntil(t.Context(), t, &rec, balancer.URL(), "reader", done) })

	var drained, returned time.Duration
	for n := range rounds * nodes {
		due := stored.Load() + 5*writers
		eventually(t, "the load goes on", func() bool { return stored.Load() >= due || t.Failed() })
		v.allWait(coordinators)
		node, elsewhere := coordinators[n%nodes], client.New(client.Config{URL: urls[(n+1)%nodes], AgentID: "bell"})
		word := fmt.Sprintf("restart-%d", n)
		began := time.Now()
		var stopping sync.WaitGroup
		stopping.Go(func() {
			node.Stop()
			drained = max(drained, time.Since(began))
		})
		v.write(elsewhere, "bell", word)
		returned = max(returned, v.awaitAll(word).Sub(began))
		stopping.Wait()
		node.Restart()
		eventually(t, "it has its share again", func() bool { return balancer.Ready() == nodes })
	}
	stop()
	close(done)
	writing.Wait()
	v.end()
	for _, id := range v.ids {
		if err := drain(t.Context(), &v.rec, lossy(balancer.URL(), id), id); err != nil {
			t.Fatal(err)
		}
	}
	if err := drain(t.Context(), &rec, agent(t, balancer.URL(), "reader"), "reader"); err != nil {
		t.Fatal(err)
	}
	load, rung := faultrig.Check(rec.History()), faultrig.Check(v.rec.History())
	t.Logf("load: %s", load)
	t.Logf("waiters: %s", rung)
	if int64(load.Stored) != stored.Load() || len(load.Violations)+len(rung.Violations) > 0 || rung.Stored != rounds*nodes*waiters {
		t.Errorf("load: %s\nwaiters: %s", load, rung)
	}
	balanced(t, agent(t, urls[0], "auditor"))
	faultrig.Hold(t, "the longest a coordinator took to drain", drained, 10*time.Second)
	faultrig.Hold(t, "until the last waiter has heard elsewhere", returned, 2*time.Second)
	faultrig.Verdict{
		Row: "G1", Holds: []faultrig.Invariant{
			faultrig.NothingStoredIsLost, faultrig.AckIsFinal, faultrig.OneMessageAKey, faultrig.OrderIsKept, faultrig.BooksBalance, faultrig.NoWakeIsLost,
		},
		Size:   fmt.Sprintf("%d sends, none failed; %d waiters", load.Stored+rung.Stored, waiters),
		Faults: fmt.Sprintf("%d restarts of each of %d coordinators, drained after %v at the most", rounds, nodes, drained.Round(time.Millisecond)),
		Lost:   load.Count(faultrig.Lost) + rung.Count(faultrig.Lost), Doubled: load.Count(faultrig.Doubled) + rung.Count(faultrig.Doubled), Recovery: returned,
	}.Record(t)
}
