package scale_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// calm is longer than any server is silent without being dead.
const calm = time.Minute

// startAll is traffic in a space of each shard.
func (s *site) startAll(t *testing.T, every time.Duration) []*traffic {
	t.Helper()
	var all []*traffic
	for _, space := range s.spaces() {
		all = append(all, startTraffic(t, s.balancer.URL(), space, every))
	}
	return all
}

// endAll ends it, and fails the test if a promise was broken.
func endAll(t *testing.T, all []*traffic) (stored, lost, doubled int) {
	t.Helper()
	var reports []faultrig.Report
	for _, f := range all {
		reports = append(reports, f.end())
	}
	stored, lost, doubled, violations := lostAndDoubled(reports)
	if violations > 0 {
		t.Errorf("%d promises were broken", violations)
	}
	return stored, lost, doubled
}

// slowestOf is the longest that any of it had to wait since.
func slowestOf(all []*traffic, since time.Time) time.Duration {
	slowest := time.Duration(0)
	for _, f := range all {
		slowest = max(slowest, f.slowest(since))
	}
	return slowest
}

// conclude ends it where nothing may be lost, and records what was found.
func conclude(t *testing.T, all []*traffic, slowest, most time.Duration, v faultrig.Verdict) {
	t.Helper()
	stored, lost, doubled := endAll(t, all)
	faultrig.Hold(t, "the longest a sender had to wait", slowest, most)
	v.Holds = []faultrig.Invariant{faultrig.NothingStoredIsLost, faultrig.AckIsFinal, faultrig.OneMessageAKey, faultrig.OrderIsKept, faultrig.BooksBalance}
	v.Size = fmt.Sprintf("%d sends, 3 coordinators, 3 shards", stored)
	v.Lost, v.Doubled, v.Recovery = lost, doubled, slowest
	v.Record(t)
}

func TestACoordinatorThatIsCutOffIsLeftOutAndComesBack(t *testing.T) {
	cuts, each := faultrig.Size(1, 10), int64(faultrig.Size(50, 1_000))
	s := newSite(t, calm)
	all := s.startAll(t, 10*time.Millisecond)
	began := time.Now()
	for n := range cuts {
		for _, f := range all {
			f.flows(each)
		}
		host := s.hosts[n%len(s.hosts)]
		host.Pull()
		must(t, "it is left out", func() bool { return s.balancer.Ready() == len(s.hosts)-1 })
		for _, f := range all {
			f.flows(each) // the others carry it
		}
		host.Plug()
		must(t, "it is back", func() bool { return s.balancer.Ready() == len(s.hosts) })
	}
	for _, f := range all {
		f.flows(each)
	}
	slowest := slowestOf(all, began)
	conclude(t, all, slowest, 5*time.Second, faultrig.Verdict{Row: "S4", Faults: fmt.Sprintf("%d coordinators cut off", cuts)})
}

func TestARollingRestartOverAClusterFailsNoSend(t *testing.T) {
	rounds, each := faultrig.Size(1, 10), int64(faultrig.Size(30, 300))
	s := newSite(t, calm)
	all := s.startAll(t, 10*time.Millisecond)
	began := time.Now()
	for range rounds {
		for _, c := range s.coordinators {
			for _, f := range all {
				f.flows(each)
			}
			c.Stop()
			for _, f := range all {
				f.flows(each)
			}
			c.Restart()
		}
	}
	slowest := slowestOf(all, began)
	conclude(t, all, slowest, 2*time.Second, faultrig.Verdict{Row: "S5", Faults: fmt.Sprintf("%d restarts of a coordinator", rounds*len(s.coordinators))})
}

func TestASlotThatMovesUnderLoadLosesNothing(t *testing.T) {
	moves, each := faultrig.Size(2, 40), int64(faultrig.Size(50, 500))
	s := newSite(t, calm)
	all := s.startAll(t, 10*time.Millisecond)
	moving := all[0]
	began := time.Now()
	longest := time.Duration(0)
	servers := s.cluster.Servers()
	for n := range moves {
		moving.flows(each)
		from, to := servers[n%3], servers[(n+1)%3]
		at := time.Now()
		s.cluster.MoveSlot(s.cluster.Slot(tagOf(moving.space)), from, to)
		longest = max(longest, time.Since(at))
	}
	moving.flows(each)
	slowest := moving.slowest(began)
	t.Logf("the longest move took %s", longest)
	conclude(t, all, slowest, 5*time.Second, faultrig.Verdict{Row: "S3", Faults: fmt.Sprintf("%d moves of the slot of a space", moves)})
}
