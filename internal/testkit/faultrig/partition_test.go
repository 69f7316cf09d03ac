package faultrig_test

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// One of three coordinators loses its network. Nobody is told: its connections
// stay open and silent, to Redis as to those who wait there.
//
// Claims: C11, A11
func TestWhoWaitsAtACoordinatorThatIsCutOffWaitsElsewhereSoon(t *testing.T) {
	const nodes, waiters, batch = 3, 12, 5
	network := faultrig.NewNetwork(t)
	redis := redistest.New(t, "--bind", "127.0.0.1", network.Address(), "--protected-mode", "no")
	_, port, err := net.SplitHostPort(redis.Addr())
	if err != nil {
		t.Fatal(err)
	}
	var hosts []*faultrig.Host
	var coordinators []*faultrig.Coordinator
	var urls []string
	for range nodes {
		host := network.Host()
		node := faultrig.StartOn(t, host, "redis://"+net.JoinHostPort(network.Address(), port))
		hosts, coordinators, urls = append(hosts, host), append(coordinators, node), append(urls, node.URL())
	}
	balancer := faultrig.NewBalancer(t, urls...)
	v := newVigil(t, balancer.URL(), waiters)

	cuts, lasts := faultrig.Size(1, 20), time.Duration(faultrig.Size(1, 10))*time.Second
	if faultrig.Night() {
		lasts = 30 * time.Second
	}
	var rehomed, slowest, back time.Duration
	moved := 0
	for n := range cuts {
		cut, elsewhere := n%nodes, client.New(client.Config{URL: urls[(n+1)%nodes], AgentID: "writer"})
		v.allWait(coordinators)
		held := waitersOn(t.Context(), urls[cut])
		moved += held
		over := time.After(lasts)
		pulled := time.Now()
		hosts[cut].Pull()
		word := fmt.Sprintf("cut-%d", n)
		slowest = max(slowest, v.write(elsewhere, "writer", word))
		rehomed = max(rehomed, v.awaitAll(word).Sub(pulled))
		for i := range batch {
			word := fmt.Sprintf("cut-%d-%d", n, i)
			slowest = max(slowest, v.write(elsewhere, "writer", word))
			v.awaitAll(word)
		}
		<-over
		hosts[cut].Plug()
		back = max(back, until(t, "it is back", func() bool { return balancer.Ready() == nodes }))
	}
	v.end()
	for _, id := range v.ids {
		if err := drain(t.Context(), &v.rec, lossy(balancer.URL(), id), id); err != nil {
			t.Fatal(err)
		}
	}
	report := faultrig.Check(v.rec.History())
	t.Logf("%d waits were moved; %s", moved, report)
	if sent := cuts * (batch + 1) * waiters; report.Stored != sent || len(report.Violations) > 0 {
		t.Errorf("of %d: %s", sent, report)
	}
	if moved == 0 {
		t.Error("nobody waited at a coordinator that was cut off")
	}
	balanced(t, agent(t, urls[0], "auditor"))
	faultrig.Hold(t, "until the last has heard elsewhere", rehomed, 5*time.Second)
	faultrig.Hold(t, "the slowest send elsewhere", slowest, time.Second)
	faultrig.Verdict{
		Row: "C3", Holds: []faultrig.Invariant{
			faultrig.NothingStoredIsLost, faultrig.AckIsFinal, faultrig.OneMessageAKey, faultrig.OrderIsKept, faultrig.BooksBalance, faultrig.NoWakeIsLost,
		},
		Size:   fmt.Sprintf("%d sends to %d waiters, %d of which had to move; elsewhere the slowest took %v", report.Stored, waiters, moved, slowest.Round(time.Millisecond)),
		Faults: fmt.Sprintf("%d times one of %d coordinators was cut off, for at least %v; ready again after %v", cuts, nodes, lasts, back.Round(time.Millisecond)),
		Lost:   report.Count(faultrig.Lost), Doubled: report.Count(faultrig.Doubled), Recovery: rehomed,
	}.Record(t)
}
