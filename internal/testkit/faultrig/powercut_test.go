package faultrig_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestThePowerCutTakesWhatWasNotSynced(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]any{"always": "1", "no": nil} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			redis := faultrig.NewPowered(t, "--appendfsync", mode)
			if _, err := redistest.Do(redis.Addr(), "SET", "kept", "1"); err != nil {
				t.Fatal(err)
			}
			taken := redis.Cut()
			redis.Restart()
			if got, err := redistest.Do(redis.Addr(), "GET", "kept"); got != want || err != nil {
				t.Errorf("after a power cut there is %v (%v), want %v; %d bytes were taken", got, err, want, taken)
			}
		})
	}
}

func TestAPowerCutLosesNothingThatAReceiptCallsOnDisk(t *testing.T) {
	t.Parallel()
	held := cutThePower(t, "always", faultrig.Size(3, 50), atOnce)
	t.Logf("always: %s", held.report)
	held.mustKeep(t)
	held.record(t, "power cuts")
}

// While Redis writes its log anew there are two of it, and a manifest that says
// which of them counts.
func TestAPowerCutWhileTheLogIsWrittenAnewLosesNothing(t *testing.T) {
	t.Parallel()
	held := cutThePower(t, "always", faultrig.Size(2, 20), whileRewriting)
	t.Logf("always, while the log is written anew: %s", held.report)
	held.mustKeep(t)
	held.record(t, "power cuts while the log is written anew")
}

// The same cuts where Redis syncs once a second do lose mail: the tests above
// can fail, and a receipt does not promise what that Redis does not do.
func TestUnderEverysecReceiptsSayMemoryAndAPowerCutLosesMail(t *testing.T) {
	t.Parallel()
	held := cutThePower(t, "everysec", faultrig.Size(1, 20), atOnce)
	lost := held.report.Count(faultrig.Lost)
	t.Logf("everysec: %d of %d acknowledged messages lost, receipts %v", lost, held.report.Stored, held.receipts)
	if faultrig.Torture() && lost == 0 {
		t.Error("nothing was lost: the cut takes nothing, so the test under always proves nothing")
	}
	if held.receipts[c3po.OnDisk] > 0 || held.receipts[c3po.InMemory] == 0 {
		t.Errorf("receipts: %v, all should say %s", held.receipts, c3po.InMemory)
	}
}

// A cutting is what a number of power cuts left.
type cutting struct {
	cuts     int
	report   faultrig.Report
	receipts map[c3po.Durability]int
	recovery time.Duration // the longest, from the return of the power until something is stored
}

func (c cutting) mustKeep(t *testing.T) {
	t.Helper()
	if lost := c.report.Count(faultrig.Lost); lost > 0 || c.report.Count(faultrig.Doubled) > 0 || c.report.Stored == 0 {
		t.Errorf("%d of %d acknowledged messages are lost: %s", lost, c.report.Stored, c.report)
	}
	if c.receipts[c3po.InMemory] > 0 || c.receipts[c3po.OnDisk] == 0 {
		t.Errorf("receipts: %v, all should say %s", c.receipts, c3po.OnDisk)
	}
	faultrig.Hold(t, "from the return of the power until something is stored", c.recovery, 5*time.Second)
}

func (c cutting) record(t *testing.T, faults string) {
	t.Helper()
	faultrig.Verdict{
		Row: "B3", Holds: []faultrig.Invariant{faultrig.NothingStoredIsLost, faultrig.OneMessageAKey},
		Size: fmt.Sprintf("%d sends", c.report.Sends), Faults: fmt.Sprintf("%d %s", c.cuts, faults),
		Lost: c.report.Count(faultrig.Lost), Doubled: c.report.Count(faultrig.Doubled), Recovery: c.recovery,
	}.Record(t)
}

func atOnce(*testing.T, *faultrig.Powered) {}

// whileRewriting returns when Redis is at some point of writing its log anew.
func whileRewriting(t *testing.T, redis *faultrig.Powered) {
	t.Helper()
	// It pauses at every key, or it would be done before anything could happen.
	if _, err := redistest.Do(redis.Addr(), "CONFIG", "SET", "rdb-key-save-delay", "50000"); err != nil {
		t.Fatal(err)
	}
	// On a machine that is busy enough it is done nevertheless, and begins again.
	for range 20 {
		if _, err := redistest.Do(redis.Addr(), "BGREWRITEAOF"); err != nil {
			t.Fatal(err)
		}
		faultrig.Pass(t.Context(), rand.N(300*time.Millisecond))
		if figure(t, redis.Server, "aof_rewrite_in_progress") == 1 {
			return
		}
	}
	t.Fatal("the log was written anew too quickly to be disturbed")
}

// cutThePower sends through a coordinator until the power of Redis is cut, so
// many times and each time at a certain moment, and then reads what is left.
func cutThePower(t *testing.T, appendfsync string, cuts int, moment func(*testing.T, *faultrig.Powered)) cutting {
	t.Helper()
	const writers, each = 8, 40
	redis := faultrig.NewPowered(t, "--appendfsync", appendfsync)
	coordinator := faultrig.Start(t, redis.URL())
	var rec faultrig.Recorder
	var mu sync.Mutex
	held := cutting{cuts: cuts, receipts: map[c3po.Durability]int{}}
	var returned time.Time
	for cut := range cuts {
		box := c3po.AgentID(fmt.Sprintf("box-%d", cut))
		agent(t, coordinator.URL(), box)
		if cut > 0 {
			held.recovery = max(held.recovery, time.Since(returned))
		}
		ctx, stop := context.WithCancel(t.Context())
		var writing sync.WaitGroup
		enough := make(chan struct{}, writers)
		for w := range writers {
			writing.Go(func() {
				id := c3po.AgentID(fmt.Sprintf("writer-%d", w))
				svc := lossy(coordinator.URL(), id)
				for n := 0; ctx.Err() == nil; n++ {
					receipt, err := rec.Attempt(ctx, svc, id, c3po.SendInput{
						Target: string(box), Message: fmt.Sprintf("%s says %d to %s", id, n, box), ClientKey: fmt.Sprintf("%s-%s-%d", id, box, n),
					})
					if err == nil {
						mu.Lock()
						held.receipts[receipt.Durability]++
						mu.Unlock()
					}
					if n == each {
						enough <- struct{}{}
					}
				}
			})
		}
		<-enough
		moment(t, redis)
		redis.Cut()
		stop()
		writing.Wait()
		returned = time.Now()
		redis.Restart()
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for cut := range cuts {
		box := c3po.AgentID(fmt.Sprintf("box-%d", cut))
		if err := drain(ctx, &rec, client.New(client.Config{URL: coordinator.URL(), AgentID: box}), box); err != nil {
			t.Fatal(err)
		}
	}
	held.report = faultrig.Check(rec.History())
	return held
}
