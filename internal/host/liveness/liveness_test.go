package liveness_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/internal/host/liveness"
)

// machine is a table of processes: number to start time.
type machine struct {
	mu    sync.Mutex
	table map[int]int64
	ended []string
	fails int // so many reports fail
}

func (m *machine) started(pid int) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.table[pid]
}

func (m *machine) set(pid int, start int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.table[pid] = start
}

func (m *machine) report(_ context.Context, run liveness.Run) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fails > 0 {
		m.fails--
		return errors.New("no coordinator")
	}
	m.ended = append(m.ended, string(run.Agent))
	return nil
}

// watched runs a watcher on a machine for a test.
func watched(t *testing.T, test func(*machine, *liveness.Watcher)) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{table: map[int]int64{7: 70, 8: 80}}
		w := liveness.New(liveness.Config{Host: "box", Started: m.started, Ended: m.report})
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = w.Run(ctx) })
		test(m, w)
		stop()
		running.Wait()
	})
}

func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func (m *machine) want(t *testing.T, agents ...string) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if diff := cmp.Diff(agents, m.ended); diff != "" {
		t.Errorf("reported (-want +got):\n%s", diff)
	}
}

func TestAProcessThatEndsIsReportedOnce(t *testing.T) {
	watched(t, func(m *machine, w *liveness.Watcher) {
		w.Watch("main", "bob", "box:7:70")
		w.Watch("main", "bob", "box:7:70")
		w.Watch("main", "carol", "box:8:80")
		pass(10 * time.Second)
		m.want(t)
		m.set(7, 0)
		pass(time.Second)
		m.want(t, "bob")
		pass(time.Minute)
		m.want(t, "bob")
	})
}

func TestAReusedNumberIsAnotherProcess(t *testing.T) {
	watched(t, func(m *machine, w *liveness.Watcher) {
		w.Watch("main", "bob", "box:7:70")
		m.set(7, 71)
		pass(time.Second)
		m.want(t, "bob")
	})
}

func TestNothingIsSaidOfAProcessThatWasNeverSeenAlive(t *testing.T) {
	watched(t, func(m *machine, w *liveness.Watcher) {
		w.Watch("main", "gone", "box:9:90")
		w.Watch("main", "reused", "box:7:69")
		w.Watch("main", "elsewhere", "other:7:70")
		w.Watch("main", "named", "a runner's word")
		pass(time.Minute)
		m.set(7, 0)
		pass(time.Minute)
		m.want(t)
	})
}

func TestAReportThatFailsIsMadeAgain(t *testing.T) {
	watched(t, func(m *machine, w *liveness.Watcher) {
		m.fails = 3
		w.Watch("main", "bob", "box:7:70")
		m.set(7, 0)
		pass(10 * time.Second)
		m.want(t, "bob")
	})
}

func TestADeclaredProcessIsReportedWhenItEndsAndWhenItNeverWas(t *testing.T) {
	watched(t, func(m *machine, w *liveness.Watcher) {
		w.Declare("main", "there", "box", 7, 70)
		w.Declare("main", "without-start", "box", 8, 0)
		w.Declare("main", "never-was", "box", 4711, 0)
		w.Declare("main", "number-of-another", "box", 7, 69)
		w.Declare("main", "elsewhere", "another", 4711, 0)
		<-time.After(1500 * time.Millisecond)
		synctest.Wait()
		m.mu.Lock()
		slices.Sort(m.ended)
		if diff := cmp.Diff([]string{"never-was", "number-of-another"}, m.ended); diff != "" {
			t.Errorf("reported at once (-want +got):\n%s", diff)
		}
		m.ended = nil
		m.mu.Unlock()
		m.set(7, 0)
		m.set(8, 81)
		<-time.After(1500 * time.Millisecond)
		synctest.Wait()
		m.mu.Lock()
		defer m.mu.Unlock()
		slices.Sort(m.ended)
		if diff := cmp.Diff([]string{"there", "without-start"}, m.ended); diff != "" {
			t.Errorf("reported when they ended (-want +got):\n%s", diff)
		}
	})
}
