package server_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// A follower reads a stream beside the test.
type follower struct {
	entries chan c3po.StreamEvent
	opened  chan struct{} // closed when the stream stands
}

// follow reads the events of a space until the test is over.
func follow(t *testing.T, url string, space c3po.Space) *follower {
	t.Helper()
	f := &follower{entries: make(chan c3po.StreamEvent, 100), opened: make(chan struct{})}
	// A connection of its own for each: the default keeps only a few.
	transport := &http.Transport{}
	c := client.New(client.Config{URL: url, Space: space, HTTP: &http.Client{Transport: transport}})
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var reading sync.WaitGroup
	reading.Go(func() {
		for entry, err := range c.Events(ctx, nil) {
			if err != nil {
				if ctx.Err() == nil {
					t.Errorf("the stream ended with %v", err)
				}
				return
			}
			if entry.Start != nil && entry.Start.Recovered {
				close(f.opened)
				continue
			}
			f.entries <- entry
		}
	})
	t.Cleanup(func() {
		stop()
		reading.Wait()
		transport.CloseIdleConnections()
	})
	<-f.opened
	return f
}

func (f *follower) next(t *testing.T) c3po.StreamEvent {
	t.Helper()
	select {
	case entry := <-f.entries:
		return entry
	case <-time.After(longEnough):
		t.Fatal("no event came")
		panic("unreachable")
	}
}

func TestAStreamMissesNothingOverARestartOfItsCoordinator(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	limits := c3po.DefaultLimits()
	limits.SendsPerMinute = 0
	cfg := server.Config{RedisURL: redis, Limits: limits}
	other := start(t, cfg)
	other.must(t, "bob", "ping", c3po.None{}, nil)
	other.must(t, "ann", "ping", c3po.None{}, nil)

	mine := start(t, cfg)
	f := follow(t, mine.url, "")
	const rounds, each = 3, 20
	var want []c3po.MessageID
	for round := range rounds {
		for n := range each {
			if n == each/2 {
				// Half of the mail is sent while the stream has no coordinator.
				mine.stop()
				mine.wantEnd(t)
			}
			var receipt c3po.Receipt
			other.must(t, "ann", "send_message", c3po.SendInput{Target: "bob", Message: fmt.Sprint(round, n)}, &receipt)
			want = append(want, receipt.ID)
		}
		again := cfg
		again.Listen = strings.TrimPrefix(mine.url, "http://")
		mine = start(t, again)
		if "http://"+again.Listen != mine.url {
			t.Fatalf("the coordinator came back at %s, was at %s", mine.url, again.Listen)
		}
	}
	for n, id := range want {
		if got := f.next(t); got.Event == nil || got.Event.ID != id || got.Event.Kind != c3po.EventAccepted {
			t.Fatalf("entry %d is %+v %+v, want %s", n, got.Start, got.Event, id)
		}
	}
	select {
	case extra := <-f.entries:
		t.Errorf("one too many: %+v", extra)
	default:
	}
}

func TestTwoHundredWatchersCostOneReadAnEvent(t *testing.T) {
	const watchers, events = 200, 20
	redis := redistest.New(t)
	limits := c3po.DefaultLimits()
	limits.SendsPerMinute = 0
	limits.CompareEvery = 0
	c := start(t, server.Config{RedisURL: redis.URL(), Limits: limits})
	c.must(t, "bob", "ping", c3po.None{}, nil)
	c.must(t, "ann", "ping", c3po.None{}, nil)
	before, heap := connections(t, redis.Addr()), heapInUse()
	var all []*follower
	for range watchers {
		all = append(all, follow(t, c.url, ""))
	}
	perWatcher := (heapInUse() - heap) / watchers
	reads := commandCount(t, redis.Addr(), "xrange")
	var slowest time.Duration
	for n := range events {
		began := time.Now()
		c.must(t, "ann", "send_message", c3po.SendInput{Target: "bob", Message: fmt.Sprint(n)}, nil)
		for _, f := range all {
			if got := f.next(t); got.Event == nil || got.Event.Kind != c3po.EventAccepted {
				t.Fatalf("a watcher got %+v", got)
			}
		}
		slowest = max(slowest, time.Since(began))
	}
	reads = commandCount(t, redis.Addr(), "xrange") - reads
	t.Logf("%d watchers: %d KiB each with its client, %d reads of the log for %d events, the slowest event reached all after %v, %d more connections to Redis",
		watchers, perWatcher>>10, reads, events, slowest, connections(t, redis.Addr())-before)
	if reads > 2*events {
		t.Errorf("%d events were read %d times", events, reads)
	}
	if more := connections(t, redis.Addr()) - before; more > 2 {
		t.Errorf("watchers opened %d connections to Redis", more)
	}
	if samples := c.scrape(t); valueOf(samples, "c3po_sse_clients", "") != watchers {
		t.Errorf("c3po_sse_clients is %v", valueOf(samples, "c3po_sse_clients", ""))
	}
}

func heapInUse() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapInuse + stats.StackInuse
}

func TestAnOlderLogPutBackIsNoticedAndToldToEverybody(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	c := start(t, server.Config{RedisURL: redis.URL()})
	for _, id := range []string{"ann", "bob"} {
		c.must(t, id, "ping", c3po.None{}, nil)
	}
	c.must(t, "ann", "send_message", c3po.SendInput{Target: "bob", Message: "kept"}, nil)
	f := follow(t, c.url, "")
	live, older := filepath.Join(redis.Dir(), "appendonlydir"), filepath.Join(t.TempDir(), "older")
	if err := os.CopyFS(older, os.DirFS(live)); err != nil {
		t.Fatal(err)
	}
	var lost c3po.Receipt
	c.must(t, "ann", "send_message", c3po.SendInput{Target: "bob", Message: "lost"}, &lost)
	if got := f.next(t); got.Event == nil || got.Event.ID != lost.ID {
		t.Fatalf("the stream shows %+v", got)
	}
	redis.Kill()
	if err := os.RemoveAll(live); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(live, os.DirFS(older)); err != nil {
		t.Fatal(err)
	}
	redis.Restart()
	began := time.Now()

	start := f.next(t)
	if start.Start == nil || start.Start.Recovered || start.Start.Reason != c3po.ResetEpoch || start.At.Epoch != 2 {
		t.Fatalf("the stream goes on with %+v %+v", start.Start, start.Event)
	}
	faultrig.Hold(t, "until the loss is noticed, after Redis is back", time.Since(began), 5*time.Second)
	event := f.next(t)
	if event.Event == nil || event.Event.Kind != c3po.EventRollback || event.At.Seq <= lost.Seq+1000 {
		t.Errorf("the next event is %+v", event.Event)
	}
	if got := valueOf(c.scrape(t), "c3po_store_rollback_total", ""); got != 1 {
		t.Errorf("c3po_store_rollback_total is %v", got)
	}
	if text := c.log.String(); !strings.Contains(text, "level=ERROR") || !strings.Contains(text, "the store went back") {
		t.Errorf("the log does not tell:\n%s", text)
	}
	if status, text := c.get(t, "/readyz"); status != http.StatusOK {
		t.Errorf("the coordinator is no longer ready: %s", text)
	}
	var receipt c3po.Receipt
	c.must(t, "ann", "send_message", c3po.SendInput{Target: "bob", Message: "goes on"}, &receipt)
	if receipt.ID == lost.ID || receipt.Seq <= event.At.Seq {
		t.Errorf("a number was given twice: %+v after %+v", receipt.Message, event)
	}
	if status, err := c.op(t.Context(), "bob", "trace", c3po.MessageInput{MessageID: lost.ID}, nil); err != nil || status != http.StatusBadRequest {
		t.Errorf("the trace of what was lost answers %d, %v", status, err)
	}
	var audit c3po.Audit
	c.must(t, "bob", "fsck", c3po.None{}, &audit)
	if !audit.Balanced || audit.Epoch != 2 || audit.Pending != 2 {
		t.Errorf("fsck says %+v", audit)
	}
}
