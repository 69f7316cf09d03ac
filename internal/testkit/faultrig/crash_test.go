package faultrig_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// Coordinators and Redis are killed in turn under load. What callers were told
// of their sends is compared with what readers got.
func TestNothingIsLostDoubledOrReorderedWhileProcessesAreKilled(t *testing.T) {
	t.Parallel()
	const writers, readers, nodes = 20, 10, 3
	messages, nodeKills, redisKills := faultrig.Size(2_000, 200_000), faultrig.Size(3, 100), faultrig.Size(2, 50)

	redis := redistest.New(t, "--appendfsync", "always")
	var coordinators []*faultrig.Coordinator
	for range nodes {
		// What was read is forgotten soon: a file that only grows would be what the
		// long form measures.
		coordinators = append(coordinators, faultrig.StartWith(t, redis.URL(), "limits:\n  ended_bytes: 1000000\n"))
	}
	at := func(i int) string { return coordinators[i%nodes].URL() }
	reader := func(i int) c3po.AgentID { return c3po.AgentID(fmt.Sprintf("reader-%d", i%readers)) }
	for i := range readers {
		agent(t, at(i), reader(i))
	}

	var rec faultrig.Recorder
	var stored atomic.Int64
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	var writing, reading sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			id := c3po.AgentID(fmt.Sprintf("writer-%d", w))
			svc := client.New(client.Config{URL: at(w), AgentID: id})
			if w%2 == 0 {
				svc = lossy(at(w), id) // what the client does not hide, its caller repeats
			}
			for n := range messages / writers {
				in := c3po.SendInput{
					Target: string(reader(n)), Message: fmt.Sprintf("%s says %d", id, n), ClientKey: fmt.Sprintf("%s-%d", id, n),
				}
				if n%7 == 0 {
					in.Priority = c3po.Urgent
				}
				if _, err := rec.Send(ctx, svc, id, in); err != nil {
					t.Errorf("%s: %v", id, err)
					return
				}
				stored.Add(1)
			}
		})
	}
	done := make(chan struct{})
	for r := range readers {
		reading.Go(func() { readUntil(ctx, t, &rec, at(r), reader(r), done) })
	}

	// serving is how long it takes from now until a send is stored through each of
	// the coordinators that were hurt.
	probes := 0
	serving := func(hurt ...*faultrig.Coordinator) time.Duration {
		t.Helper()
		began := time.Now()
		for _, node := range hurt {
			in := c3po.SendInput{Target: string(reader(probes)), Message: fmt.Sprintf("probe %d", probes), ClientKey: fmt.Sprintf("probe-%d", probes)}
			if _, err := rec.Send(ctx, lossy(node.URL(), "prober"), "prober", in); err != nil {
				t.Fatal(err)
			}
			probes++
		}
		return time.Since(began)
	}

	// The faults are spread evenly over the messages, Redis and coordinators in turn.
	faults := nodeKills + redisKills
	var ready, again time.Duration
	for f := range faults {
		due := int64(messages * (f + 1) / (faults + 1))
		eventuallyWithin(t, 10*time.Minute, fmt.Sprintf("%d messages are stored", due), func() bool { return stored.Load() >= due || t.Failed() })
		if (f+1)*redisKills/faults > f*redisKills/faults {
			began := time.Now()
			redis.Kill()
			redis.Restart()
			serving(coordinators...)
			again = max(again, time.Since(began))
			compacted(t, redis)
			continue
		}
		node := coordinators[f%nodes]
		began := time.Now()
		node.Kill()
		node.Restart()
		serving(node)
		ready = max(ready, time.Since(began))
	}
	writing.Wait()
	close(done)
	reading.Wait()
	for i := range readers {
		if err := drain(ctx, &rec, client.New(client.Config{URL: at(i), AgentID: reader(i)}), reader(i)); err != nil {
			t.Fatal(err)
		}
	}

	history := rec.History()
	report, all := faultrig.Check(history), messages+probes
	t.Logf("%d coordinator kills, %d Redis kills, failures told to senders: %v: %s", nodeKills, redisKills, told(t, history), report)
	if len(report.Violations) > 0 || report.Stored != all {
		t.Errorf("%d of %d stored, %d violations", report.Stored, all, len(report.Violations))
	}
	audit := balanced(t, agent(t, at(0), "auditor"))
	if audit.Sent != int64(all) || audit.Acked != int64(all) || audit.Pending != 0 {
		t.Errorf("fsck counts otherwise: %+v", audit)
	}
	faultrig.Hold(t, "from the kill of a coordinator until it stores again", ready, 2*time.Second)
	faultrig.Hold(t, "from the kill of Redis until every coordinator stores again", again, 5*time.Second)
	verdict := faultrig.Verdict{
		Size: fmt.Sprintf("%d sends", all), Lost: report.Count(faultrig.Lost), Doubled: report.Count(faultrig.Doubled),
		Holds: []faultrig.Invariant{faultrig.NothingStoredIsLost, faultrig.AckIsFinal, faultrig.OneMessageAKey, faultrig.OrderIsKept, faultrig.BooksBalance, faultrig.UnknownIsSaid},
	}
	verdict.Row, verdict.Faults, verdict.Recovery = "B1", fmt.Sprintf("%d kills of a coordinator", nodeKills), ready
	verdict.Record(t)
	verdict.Row, verdict.Faults, verdict.Recovery = "B2", fmt.Sprintf("%d kills of Redis", redisKills), again
	verdict.Record(t)
}

// told counts the errors that senders were told, by code. While processes are
// killed there is no other than these.
func told(t *testing.T, history []faultrig.Call) map[c3po.Code]int {
	t.Helper()
	codes := map[c3po.Code]int{}
	for _, call := range history {
		if call.Op != "send" || call.Outcome == faultrig.OK {
			continue
		}
		codes[call.Code]++
		switch call.Code {
		case c3po.RedisUnavailable, c3po.UnknownOutcome, c3po.CoordDown:
		default:
			t.Errorf("the sender of %q was told %s", call.Value, call.Code)
		}
	}
	return codes
}

// compacted has Redis write its log anew when it has grown to where Redis would
// do so by itself, which redistest keeps it from: the next kill is to hit the
// server, and not the child that writes.
func compacted(t *testing.T, redis *redistest.Server) {
	t.Helper()
	const grown = 64 << 20
	if figure(t, redis, "aof_current_size") < grown {
		return
	}
	if _, err := redistest.Do(redis.Addr(), "BGREWRITEAOF"); err != nil {
		t.Fatal(err)
	}
	eventuallyWithin(t, time.Minute, "the log is written anew", func() bool {
		return figure(t, redis, "aof_rewrite_in_progress") == 0 && figure(t, redis, "aof_rewrite_scheduled") == 0
	})
}

// figure is one number that Redis tells of its files.
func figure(t *testing.T, redis *redistest.Server, name string) int64 {
	t.Helper()
	info, err := redistest.Do(redis.Addr(), "INFO", "persistence")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(info.(string)) {
		if value, found := strings.CutPrefix(strings.TrimSpace(line), name+":"); found {
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("Redis does not tell %s", name)
	return 0
}

// readUntil waits for mail, reads it and acks it, until done.
func readUntil(ctx context.Context, t *testing.T, rec *faultrig.Recorder, url string, id c3po.AgentID, done <-chan struct{}) {
	svc := client.New(client.Config{URL: url, AgentID: id})
	waitUntil(ctx, svc, done, func() bool {
		err := drain(ctx, rec, svc, id)
		if err != nil {
			t.Errorf("%s: %v", id, err)
		}
		return err == nil
	})
}

// waitUntil waits for mail until done, and has it read for as long as that goes
// well. The wait only says that there is something; what the reader has is what
// it reads.
func waitUntil(ctx context.Context, svc c3po.Service, done <-chan struct{}, read func() bool) {
	waits, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-done:
		case <-waits.Done():
		}
		stop()
	}()
	for waits.Err() == nil {
		if _, err := svc.Pending(waits, c3po.PendingInput{Timeout: 30, Limit: 1}); err == nil && !read() {
			return
		}
	}
}
