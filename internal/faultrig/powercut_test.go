package faultrig_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/faultrig"
	"github.com/c3po-dev/c3po/internal/redistest"
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

// Claims: I2, C11
func TestAPowerCutLosesNothingThatAReceiptCallsOnDisk(t *testing.T) {
	t.Parallel()
	report, receipts := cutThePower(t, "always", faultrig.Size(3, 20))
	t.Logf("always: %s", report)
	if lost := report.Count(faultrig.Lost); lost > 0 || report.Count(faultrig.Doubled) > 0 || report.Stored == 0 {
		t.Errorf("%d of %d acknowledged messages are lost", lost, report.Stored)
	}
	if receipts[c3po.InMemory] > 0 || receipts[c3po.OnDisk] == 0 {
		t.Errorf("receipts: %v, all should say %s", receipts, c3po.OnDisk)
	}
}

// The same cuts where Redis syncs once a second do lose mail: the test above
// can fail, and a receipt does not promise what that Redis does not do.
func TestUnderEverysecReceiptsSayMemoryAndAPowerCutLosesMail(t *testing.T) {
	t.Parallel()
	report, receipts := cutThePower(t, "everysec", faultrig.Size(1, 20))
	lost := report.Count(faultrig.Lost)
	t.Logf("everysec: %d of %d acknowledged messages lost, receipts %v", lost, report.Stored, receipts)
	if faultrig.Torture() && lost == 0 {
		t.Error("nothing was lost: the cut takes nothing, so the test under always proves nothing")
	}
	if receipts[c3po.OnDisk] > 0 || receipts[c3po.InMemory] == 0 {
		t.Errorf("receipts: %v, all should say %s", receipts, c3po.InMemory)
	}
}

// cutThePower sends through a coordinator until the power of Redis is cut, so
// many times, and then reads what is left.
func cutThePower(t *testing.T, appendfsync string, cuts int) (report faultrig.Report, receipts map[c3po.Durability]int) {
	t.Helper()
	const writers, each = 8, 40
	redis := faultrig.NewPowered(t, "--appendfsync", appendfsync)
	coordinator := faultrig.Start(t, redis.URL())
	var rec faultrig.Recorder
	var mu sync.Mutex
	receipts = map[c3po.Durability]int{}
	for cut := range cuts {
		box := c3po.AgentID(fmt.Sprintf("box-%d", cut))
		agent(t, coordinator.URL(), box)
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
						receipts[receipt.Durability]++
						mu.Unlock()
					}
					if n == each {
						enough <- struct{}{}
					}
				}
			})
		}
		<-enough
		redis.Cut()
		stop()
		writing.Wait()
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
	return faultrig.Check(rec.History()), receipts
}
