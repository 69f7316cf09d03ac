package scale_test

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
)

const (
	trafficWriters = 4
	trafficReaders = 2
)

// A traffic is writers and readers of one space who go on until they are told to
// stop, and the books of all they did.
type traffic struct {
	t      *testing.T
	space  c3po.Space
	url    string
	rec    faultrig.Recorder
	stored atomic.Int64

	stopWriting, stopReading context.CancelFunc
	writing, reading         sync.WaitGroup
}

// startTraffic begins it. every is the pause of a writer between two messages.
func startTraffic(t *testing.T, url string, space c3po.Space, every time.Duration) *traffic {
	t.Helper()
	f := &traffic{t: t, space: space, url: url}
	for i := range trafficReaders {
		agentOf(t, url, space, f.reader(i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() {
		cancel()
		f.writing.Wait()
		f.reading.Wait()
	})
	writes, stopWriting := context.WithCancel(ctx)
	reads, stopReading := context.WithCancel(ctx)
	f.stopWriting, f.stopReading = stopWriting, stopReading
	for w := range trafficWriters {
		f.writing.Go(func() { f.write(ctx, writes.Done(), w, every) })
	}
	for r := range trafficReaders {
		f.reading.Go(func() { f.read(ctx, reads, r) })
	}
	return f
}

func (f *traffic) reader(i int) c3po.AgentID {
	return c3po.AgentID(fmt.Sprintf("%s-reader-%d", f.space, i%trafficReaders))
}

func (f *traffic) client(id c3po.AgentID) *client.Client {
	return client.New(client.Config{URL: f.url, Space: f.space, AgentID: id})
}

func (f *traffic) write(ctx context.Context, stop <-chan struct{}, w int, every time.Duration) {
	id := c3po.AgentID(fmt.Sprintf("%s-writer-%d", f.space, w))
	svc := f.client(id)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		in := c3po.SendInput{Target: string(f.reader(n)), Message: fmt.Sprintf("%s says %d", id, n), ClientKey: fmt.Sprintf("%s-%d", id, n)}
		if _, err := f.rec.Send(ctx, svc, id, in); err != nil {
			if !ended(ctx, err) {
				f.t.Errorf("%s: %v", id, err)
			}
			return
		}
		f.stored.Add(1)
	}
}

func (f *traffic) read(ctx, waits context.Context, r int) {
	id := f.reader(r)
	svc := f.client(id)
	for waits.Err() == nil {
		// The wait only says that there is something; what the reader has is what
		// it reads.
		if _, err := svc.Pending(waits, c3po.PendingInput{Timeout: 30, Limit: 1}); err != nil {
			continue
		}
		if err := f.drain(ctx, svc, id); err != nil {
			if !ended(ctx, err) {
				f.t.Errorf("%s: %v", id, err)
			}
			return
		}
	}
}

// drain reads and acks everything an agent has.
func (f *traffic) drain(ctx context.Context, svc c3po.Service, id c3po.AgentID) error {
	for {
		page, err := f.rec.Read(ctx, svc, id, c3po.GetMessagesInput{})
		if err != nil || len(page.Messages) == 0 {
			return err
		}
		ids := make([]c3po.MessageID, len(page.Messages))
		for i, m := range page.Messages {
			ids[i] = m.ID
		}
		if err := f.rec.Ack(ctx, svc, id, ids); err != nil {
			return err
		}
	}
}

// flows waits until so many more messages were stored.
func (f *traffic) flows(more int64) {
	f.t.Helper()
	due := f.stored.Load() + more
	must(f.t, fmt.Sprintf("%d more messages are stored in %s", more, f.space), func() bool {
		return f.stored.Load() >= due || f.t.Failed()
	})
}

// end stops it, drains every inbox, and reads the books.
func (f *traffic) end() faultrig.Report {
	f.t.Helper()
	f.stopWriting()
	f.writing.Wait()
	f.stopReading()
	f.reading.Wait()
	for i := range trafficReaders {
		if err := f.drain(f.t.Context(), f.client(f.reader(i)), f.reader(i)); err != nil {
			f.t.Fatal(err)
		}
	}
	audit, err := f.client(f.reader(0)).Fsck(f.t.Context(), c3po.None{})
	if err != nil {
		f.t.Fatal(err)
	}
	if !audit.Balanced {
		f.t.Errorf("the books of %s do not balance: %+v", f.space, audit)
	}
	report := faultrig.Check(f.rec.History())
	f.t.Logf("%s: %d attempts failed and %d unknown: %s", f.space,
		f.rec.Count("send", faultrig.Failed), f.rec.Count("send", faultrig.Unknown), report)
	return report
}

// slowest is the longest that anybody had to wait for a message to be stored, of
// those who began after a moment.
func (f *traffic) slowest(after time.Time) time.Duration {
	began := map[string]time.Time{}
	longest := time.Duration(0)
	for _, call := range f.rec.History() {
		if call.Op != "send" {
			continue
		}
		if _, known := began[call.Value]; !known {
			began[call.Value] = call.Invoked
		}
		if call.Outcome == faultrig.OK && call.Returned.After(after) {
			longest = max(longest, call.Returned.Sub(began[call.Value]))
		}
	}
	return longest
}

// The sums of what several reports show.
func lostAndDoubled(reports []faultrig.Report) (stored, lost, doubled, violations int) {
	for _, r := range reports {
		stored += r.Stored
		lost += r.Count(faultrig.Lost)
		doubled += r.Count(faultrig.Doubled)
		violations += len(r.Violations)
	}
	return stored, lost, doubled, violations
}
