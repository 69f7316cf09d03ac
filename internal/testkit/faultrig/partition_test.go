package faultrig_test

import (
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// One of three coordinators loses its network, in both directions or in one. Nobody
// is told: its connections stay open and silent, to Redis as to those who wait there.
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

	ways := []func(*faultrig.Host){(*faultrig.Host).Pull, (*faultrig.Host).Deafen, (*faultrig.Host).Mute}
	cuts, lasts := faultrig.Size(len(ways), 21), time.Duration(faultrig.Size(1, 10))*time.Second
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
		ways[(n+n/nodes)%len(ways)](hosts[cut])
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
		Faults: fmt.Sprintf("%d times one of %d coordinators was cut off, in both directions, from what arrives, or from what leaves, for at least %v; ready again after %v", cuts, nodes, lasts, back.Round(time.Millisecond)),
		Lost:   report.Count(faultrig.Lost), Doubled: report.Count(faultrig.Doubled), Recovery: rehomed,
	}.Record(t)
}

// Packets are lost on the way to and from every coordinator: what TCP mends takes long,
// what it gives up ends connections.
func TestWherePacketsAreLostMailIsNot(t *testing.T) {
	const nodes, writers = 3, 6
	part, messages := 0.1, faultrig.Size(120, 6_000)
	network := faultrig.NewNetwork(t)
	redis := redistest.New(t, "--bind", "127.0.0.1", network.Address(), "--protected-mode", "no")
	_, port, err := net.SplitHostPort(redis.Addr())
	if err != nil {
		t.Fatal(err)
	}
	var urls []string
	var hosts []*faultrig.Host
	for range nodes {
		host := network.Host()
		hosts, urls = append(hosts, host), append(urls, faultrig.StartOn(t, host, "redis://"+net.JoinHostPort(network.Address(), port)).URL())
	}
	for n := range writers {
		agent(t, urls[n%nodes], readerOf(n))
	}
	for _, host := range hosts {
		host.Lossy(part)
	}
	var rec faultrig.Recorder
	var writing, reading sync.WaitGroup
	done := make(chan struct{})
	for n := range writers {
		writer := c3po.AgentID(fmt.Sprintf("writer-%d", n))
		writing.Go(func() {
			svc := client.New(client.Config{URL: urls[n%nodes], AgentID: writer})
			for i := range messages / writers {
				in := c3po.SendInput{Target: string(readerOf(n)), Message: fmt.Sprintf("%s says %d", writer, i), ClientKey: fmt.Sprintf("%s-%d", writer, i)}
				if _, err := rec.Send(t.Context(), svc, writer, in); err != nil {
					t.Errorf("%s: %v", writer, err)
				}
			}
		})
		reading.Go(func() { readUntil(t.Context(), t, &rec, urls[(n+1)%nodes], readerOf(n), done) })
	}
	writing.Wait()
	for _, host := range hosts {
		host.Plug()
	}
	close(done)
	reading.Wait()
	for n := range writers {
		if err := drain(t.Context(), &rec, client.New(client.Config{URL: urls[0], AgentID: readerOf(n)}), readerOf(n)); err != nil {
			t.Fatal(err)
		}
	}
	history := rec.History()
	report := faultrig.Check(history)
	var longest time.Duration
	for _, call := range history {
		if call.Op == "send" {
			longest = max(longest, call.Returned.Sub(call.Invoked))
		}
	}
	t.Logf("the longest send took %v; %s", longest, report)
	if report.Stored != messages || len(report.Violations) > 0 {
		t.Errorf("of %d: %s", messages, report)
	}
	balanced(t, agent(t, urls[0], "auditor"))
	faultrig.Verdict{
		Row: "C3", Holds: []faultrig.Invariant{
			faultrig.NothingStoredIsLost, faultrig.AckIsFinal, faultrig.OneMessageAKey, faultrig.OrderIsKept, faultrig.BooksBalance,
		},
		Size:   fmt.Sprintf("%d sends, the longest took %v", report.Stored, longest.Round(time.Millisecond)),
		Faults: fmt.Sprintf("%.0f %% of all packets are lost, to and from each of %d coordinators", 100*part, nodes),
		Lost:   report.Count(faultrig.Lost), Doubled: report.Count(faultrig.Doubled), Recovery: longest,
	}.Record(t)
}

func readerOf(writer int) c3po.AgentID { return c3po.AgentID(fmt.Sprintf("reader-%d", writer)) }
