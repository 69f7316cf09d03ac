package faultrig_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// A Redis that syncs once a second stays up on a full disk and refuses, so sends
// are refused too; one that syncs always ends, and whoever started it starts it
// again. Either way nothing that was acknowledged is lost.
func TestAFullDiskRefusesSendsAndLosesNone(t *testing.T) {
	t.Parallel()
	// A machine that is slow besides loses an answer in either mode.
	honest := []c3po.Code{c3po.StoreFull, c3po.RedisUnavailable, c3po.UnknownOutcome}
	for _, mode := range []string{"everysec", "always"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			fills := faultrig.Size(1, 5)
			full := fillTheDisk(t, mode, fills)
			t.Logf("%s: refusals %v: %s", mode, full.told, full.report)
			if lost := full.report.Count(faultrig.Lost); lost > 0 || len(full.report.Violations) > 0 || full.report.Stored == 0 {
				t.Errorf("%d of %d acknowledged messages are lost, %d violations", lost, full.report.Stored, len(full.report.Violations))
			}
			for code := range full.told {
				if !slices.Contains(honest, code) {
					t.Errorf("senders were told %s, want one of %v", code, honest)
				}
			}
			if mode == "everysec" && full.told[c3po.StoreFull] == 0 {
				t.Errorf("nobody was told %s", c3po.StoreFull)
			}
			faultrig.Hold(t, "from the return of space until a send is stored", full.recovery, 10*time.Second)
			faultrig.Verdict{
				Row: "B6", Holds: []faultrig.Invariant{faultrig.NothingStoredIsLost, faultrig.OneMessageAKey, faultrig.BooksBalance, faultrig.UnknownIsSaid},
				Size: fmt.Sprintf("%d sends", full.report.Sends), Faults: fmt.Sprintf("%d full disks, appendfsync %s", fills, mode),
				Lost: full.report.Count(faultrig.Lost), Doubled: full.report.Count(faultrig.Doubled), Recovery: full.recovery,
			}.Record(t)
		})
	}
}

// A fullDisk is what senders were told, and what is left.
type fullDisk struct {
	report   faultrig.Report
	told     map[c3po.Code]int
	recovery time.Duration // the longest
}

func fillTheDisk(t *testing.T, appendfsync string, fills int) fullDisk {
	t.Helper()
	const writers, before, refusals = 4, 60, 20
	disk := faultrig.NewDisk(t, 8)
	redis := disk.Redis("--appendfsync", appendfsync)
	coordinator := faultrig.Start(t, redis.URL())
	agent(t, coordinator.URL(), "box")
	defer supervise(redis)()

	var rec faultrig.Recorder
	full := fullDisk{told: map[c3po.Code]int{}}
	results := make(chan error)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			id := c3po.AgentID(fmt.Sprintf("writer-%d", w))
			svc := lossy(coordinator.URL(), id)
			filler := strings.Repeat("x", 1000)
			for n := 0; ctx.Err() == nil; n++ {
				_, err := rec.Attempt(ctx, svc, id, c3po.SendInput{
					Target: "box", Message: fmt.Sprintf("%s says %d %s", id, n, filler), ClientKey: fmt.Sprintf("%s-%d", id, n),
				})
				select {
				case results <- err:
				case <-ctx.Done():
				}
			}
		})
	}
	// until counts answers of one kind, and notes what failures were told.
	until := func(enough int, counts func(error) bool) {
		t.Helper()
		late := time.After(2 * time.Minute)
		for seen := 0; seen < enough; {
			select {
			case err := <-results:
				if err != nil {
					full.told[c3po.AsError(err).Code]++
				}
				if counts(err) {
					seen++
				}
			case <-late:
				t.Fatalf("%d of %d answers of a kind; failures so far: %v", seen, enough, full.told)
			}
		}
	}
	stored := func(err error) bool { return err == nil }
	refused := func(err error) bool { return err != nil }
	until(before, stored)
	for range fills {
		disk.Fill()
		until(refusals, refused)
		disk.Free()
		began := time.Now()
		until(1, stored)
		full.recovery = max(full.recovery, time.Since(began))
		until(before, stored)
	}
	stop()
	writing.Wait()

	ending, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := drain(ending, &rec, client.New(client.Config{URL: coordinator.URL(), AgentID: "box"}), "box"); err != nil {
		t.Fatal(err)
	}
	full.report = faultrig.Check(rec.History())
	balanced(t, agent(t, coordinator.URL(), "auditor"))
	return full
}

// supervise starts a server again whenever it has ended, as a service manager does.
func supervise(redis *redistest.Server) (stop func()) {
	ended := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		for {
			select {
			case <-ended:
				return
			case <-redis.Ended():
			}
			_ = redis.TryRestart()
			select {
			case <-ended:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	return func() {
		close(ended)
		work.Wait()
	}
}
