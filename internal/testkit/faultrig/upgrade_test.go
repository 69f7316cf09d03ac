package faultrig_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
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

// An olderClient is the command line of an earlier version: every call is a
// process of it. It has only the calls that the Recorder makes.
type olderClient struct {
	c3po.Service
	binary, home, url string
	id                c3po.AgentID
}

func (o olderClient) run(ctx context.Context, out any, args ...string) error {
	cmd := exec.CommandContext(ctx, o.binary, append(args, "--json", "--as", string(o.id), "--url", o.url)...)
	cmd.Env = []string{"HOME=" + o.home, "PATH=/usr/bin:/bin"}
	var answer, refusal bytes.Buffer
	cmd.Stdout, cmd.Stderr = &answer, &refusal
	if err := cmd.Run(); err != nil {
		refused := &c3po.Error{}
		if json.Unmarshal(refusal.Bytes(), refused) == nil && refused.Code != "" {
			return refused
		}
		return fmt.Errorf("c3po %s: %w: %s", strings.Join(args, " "), err, refusal.String())
	}
	return json.Unmarshal(answer.Bytes(), out)
}

func (o olderClient) SendMessage(ctx context.Context, in c3po.SendInput) (out c3po.Receipt, err error) {
	return out, o.run(ctx, &out, "send", in.Target, in.Message, "--key", in.ClientKey)
}

func (o olderClient) GetMessages(ctx context.Context, _ c3po.GetMessagesInput) (out c3po.MessageList, err error) {
	return out, o.run(ctx, out.Rows(), "inbox")
}

func (o olderClient) AckMessages(ctx context.Context, in c3po.AckInput) (out c3po.AckResult, err error) {
	args := []string{"ack"}
	for _, id := range in.MessageIDs {
		args = append(args, string(id))
	}
	return out, o.run(ctx, &out, args...)
}

// Coordinators are upgraded one by one and taken back one by one, while clients of
// both versions talk through all of them.
func TestARollingUpgradeAndTheWayBackLoseNothing(t *testing.T) {
	t.Parallel()
	const writers, readers, nodes, oldWriters = 8, 4, 3, 2
	rounds := faultrig.Size(1, 10)
	messages := faultrig.Size(800, 40_000)
	previous, current := faultrig.Previous(t), faultrig.Binary(t)

	redis := redistest.New(t, "--appendfsync", "always")
	var coordinators []*faultrig.Coordinator
	for range nodes {
		coordinators = append(coordinators, faultrig.StartOf(t, previous, redis.URL()))
	}
	at := func(i int) string { return coordinators[i%nodes].URL() }
	reader := func(i int) c3po.AgentID { return c3po.AgentID(fmt.Sprintf("reader-%d", i%readers)) }
	for i := range readers {
		agent(t, at(i), reader(i))
	}
	older := func(i int, id c3po.AgentID) olderClient {
		return olderClient{binary: previous, home: faultrig.Home(t), url: at(i), id: id}
	}

	var rec faultrig.Recorder
	var stored, byOlder atomic.Int64
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Minute)
	defer cancel()
	var writing, reading sync.WaitGroup
	next := make(chan int) // message of whichever writer is free: the slow ones hold nobody up
	go func() {
		defer close(next)
		for n := range messages {
			select {
			case next <- n:
			case <-ctx.Done():
				return
			}
		}
	}()
	for w := range writers {
		id := c3po.AgentID(fmt.Sprintf("writer-%d", w))
		var svc c3po.Service = client.New(client.Config{URL: at(w), AgentID: id})
		if w < oldWriters {
			svc = older(w, id)
		}
		writing.Go(func() {
			for n := range next {
				in := c3po.SendInput{Target: string(reader(n)), Message: fmt.Sprintf("%s says %d", id, n), ClientKey: fmt.Sprintf("key-%d", n)}
				if _, err := rec.Send(ctx, svc, id, in); err != nil {
					t.Errorf("%s: %v", id, err)
					return
				}
				stored.Add(1)
				if w < oldWriters {
					byOlder.Add(1)
				}
			}
		})
	}
	done := make(chan struct{})
	for r := range readers - 1 {
		reading.Go(func() { readUntil(ctx, t, &rec, at(r), reader(r), done) })
	}
	reading.Go(func() {
		svc := older(readers-1, reader(readers-1))
		for ctx.Err() == nil {
			if err := drain(ctx, &rec, svc, svc.id); err != nil {
				t.Errorf("%s: %v", svc.id, err)
				return
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})

	var slowest time.Duration
	replaced, replacements := 0, rounds*2*nodes
	replaceAll := func(with, version string) {
		for _, node := range coordinators {
			due := int64(messages * (replaced + 1) / (replacements + 1))
			eventuallyWithin(t, 10*time.Minute, fmt.Sprintf("%d messages are stored", due), func() bool { return stored.Load() >= due || t.Failed() })
			began := time.Now()
			node.Replace(with)
			slowest, replaced = max(slowest, time.Since(began)), replaced+1
			info, err := agent(t, node.URL(), "auditor").ServerInfo(ctx, c3po.None{})
			if err != nil || info.Version != version {
				t.Errorf("%s is version %q, want %q: %v", node.URL(), info.Version, version, err)
			}
		}
	}
	for range rounds {
		replaceAll(current, "dev")
		replaceAll(previous, faultrig.PreviousVersion)
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
	t.Logf("%d coordinators replaced, the slowest in %s; %d messages by the previous version's client: %s", replaced, slowest, byOlder.Load(), report)
	if len(report.Violations) > 0 || report.Stored != messages {
		t.Errorf("%d of %d stored, %d violations", report.Stored, messages, len(report.Violations))
	}
	if byOlder.Load() == 0 {
		t.Error("the previous version's client sent nothing")
	}
	// By the previous version, and by this one.
	for _, version := range []string{previous, current} {
		coordinators[0].Replace(version)
		audit := balanced(t, agent(t, at(0), "auditor"))
		if audit.Sent != int64(messages) || audit.Acked != int64(messages) {
			t.Errorf("fsck counts otherwise: %+v", audit)
		}
	}
	faultrig.Verdict{
		Row: "G2", Holds: []faultrig.Invariant{faultrig.NothingStoredIsLost, faultrig.AckIsFinal, faultrig.OneMessageAKey, faultrig.OrderIsKept, faultrig.BooksBalance},
		Size:   fmt.Sprintf("%d messages by clients of both versions", messages),
		Faults: fmt.Sprintf("%d coordinators replaced, half of them by the previous version", replaced),
		Lost:   report.Count(faultrig.Lost), Doubled: report.Count(faultrig.Doubled), Recovery: slowest,
	}.Record(t)
}
