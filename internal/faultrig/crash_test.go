package faultrig_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/faultrig"
	"github.com/c3po-dev/c3po/internal/redistest"
)

// Claims: C11, I2, B8
func TestNothingIsLostDoubledOrReorderedWhileProcessesAreKilled(t *testing.T) {
	t.Parallel()
	const writers, readers, nodes = 20, 10, 3
	messages, nodeKills, redisKills := faultrig.Size(2_000, 50_000), faultrig.Size(3, 20), faultrig.Size(2, 10)

	redis := redistest.New(t, "--appendfsync", "always")
	var coordinators []*faultrig.Coordinator
	for range nodes {
		coordinators = append(coordinators, faultrig.Start(t, redis.URL()))
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

	// The faults are spread evenly over the messages, Redis and coordinators in turn.
	faults := nodeKills + redisKills
	for f := range faults {
		due := int64(messages * (f + 1) / (faults + 1))
		eventuallyWithin(t, 10*time.Minute, fmt.Sprintf("%d messages are stored", due), func() bool { return stored.Load() >= due || t.Failed() })
		if (f+1)*redisKills/faults > f*redisKills/faults {
			redis.Kill()
			redis.Restart()
			continue
		}
		node := coordinators[f%nodes]
		node.Kill()
		node.Restart()
	}
	writing.Wait()
	close(done)
	reading.Wait()
	for i := range readers {
		if err := drain(ctx, &rec, client.New(client.Config{URL: at(i), AgentID: reader(i)}), reader(i)); err != nil {
			t.Fatal(err)
		}
	}

	report := faultrig.Check(rec.History())
	t.Logf("%d coordinator kills, %d Redis kills, %d attempts failed and %d unknown: %s",
		nodeKills, redisKills, rec.Count("send", faultrig.Failed), rec.Count("send", faultrig.Unknown), report)
	if len(report.Violations) > 0 || report.Stored != messages {
		t.Errorf("%d of %d stored, %d violations", report.Stored, messages, len(report.Violations))
	}
	audit := balanced(t, agent(t, at(0), "auditor"))
	if audit.Sent != int64(messages) || audit.Acked != int64(messages) || audit.Pending != 0 {
		t.Errorf("fsck counts otherwise: %+v", audit)
	}
}

// readUntil waits for mail, reads it and acks it, until done.
func readUntil(ctx context.Context, t *testing.T, rec *faultrig.Recorder, url string, id c3po.AgentID, done <-chan struct{}) {
	svc := client.New(client.Config{URL: url, AgentID: id})
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
		// The wait only says that there is something; what the reader has is what
		// it reads.
		if _, err := svc.Pending(waits, c3po.PendingInput{Timeout: 30, Limit: 1}); err != nil {
			continue
		}
		if err := drain(ctx, rec, svc, id); err != nil {
			t.Errorf("%s: %v", id, err)
			return
		}
	}
}
