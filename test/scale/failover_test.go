package scale_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// silence is how long the servers of these tests wait before they call another
// dead. What a failover takes is this, and little more.
const silence = 5 * time.Second

func TestAShardThatLosesItsPrimaryTakesWritesAgain(t *testing.T) {
	s := newSite(t, silence)
	all := s.startAll(t, 10*time.Millisecond)
	hurt := all[0]
	for _, f := range all {
		f.flows(int64(faultrig.Size(50, 2_000)))
	}
	prober := agentOf(t, s.balancer.URL(), hurt.space, "prober")
	master, replica := s.cluster.Shard(tagOf(hurt.space))
	master.Kill()
	killed := time.Now()
	in := c3po.SendInput{Target: "prober", Message: "is anybody there", ClientKey: "probe"}
	must(t, "the shard takes writes", func() bool {
		_, err := prober.SendMessage(t.Context(), in)
		return err == nil
	})
	took := time.Since(killed)
	if role := roleOf(t, replica); role != "master" {
		t.Errorf("the replica is still %s", role)
	}
	for _, f := range all {
		f.flows(int64(faultrig.Size(50, 2_000)))
	}
	faultrig.Hold(t, "from the kill to the first write that was accepted", took, 3*silence)

	stored, lost, doubled := 0, 0, 0
	for i, f := range all {
		report := f.end()
		stored, lost, doubled = stored+report.Stored, lost+report.Count(faultrig.Lost), doubled+report.Count(faultrig.Doubled)
		if own, _ := s.cluster.Shard(tagOf(f.space)); len(report.Violations) > 0 && (i == 0 || roleOf(t, own) != "master") {
			// What the replica did not have yet is lost: nobody may believe otherwise.
			// A machine that is too busy can have such an election of its own accord.
			must(t, "the alarm is raised", func() bool { return s.alarms(t) > 0 })
			t.Logf("%d acknowledged messages were lost with the primary, and the alarm says so", report.Count(faultrig.Lost))
			continue
		}
		if len(report.Violations) > 0 {
			t.Errorf("%s has nothing to do with it, and %d promises were broken", f.space, len(report.Violations))
		}
	}
	faultrig.Verdict{
		Row: "S1", Holds: []faultrig.Invariant{faultrig.OneMessageAKey, faultrig.BooksBalance, faultrig.UnknownIsSaid},
		Size:   fmt.Sprintf("%d sends, 3 coordinators, 3 shards with a replica each, node timeout %s", stored, silence),
		Faults: "a primary killed",
		Lost:   lost, Doubled: doubled, Recovery: took,
	}.Record(t)
}

func TestAFailoverThatForgetsAcknowledgedWritesRaisesTheAlarm(t *testing.T) {
	s := newSite(t, silence)
	t.Run("and writers go on at once", func(t *testing.T) { s.forgetfulFailover(t, s.spaces()[0], true) })
	if faultrig.Torture() { // the short form has seen the harder one
		t.Run("and nobody writes", func(t *testing.T) { s.forgetfulFailover(t, s.spaces()[1], false) })
	}
}

func (s *site) forgetfulFailover(t *testing.T, space c3po.Space, busy bool) {
	const kept, forgotten = 20, 5
	master, replica := s.cluster.Shard(tagOf(space))
	sender, reader := agentOf(t, s.balancer.URL(), space, "sender"), agentOf(t, s.balancer.URL(), space, "reader")
	tell := func(kind string, count int) {
		for n := range count {
			text := fmt.Sprintf("%s %d", kind, n)
			if _, err := sender.SendMessage(t.Context(), c3po.SendInput{Target: "reader", Message: text, ClientKey: text}); err != nil {
				t.Fatal(err)
			}
		}
	}
	tell("kept", kept)
	must(t, "the replica has it all", func() bool { return offsetOf(t, master) == offsetOf(t, replica) })
	before := s.alarms(t)

	// The replica stands still and is not connected: what is stored from here on
	// it can never have.
	replica.Freeze()
	if _, err := redistest.Do(master.Addr(), "CLIENT", "KILL", "TYPE", "replica"); err != nil {
		t.Fatal(err)
	}
	tell("forgotten", forgotten)
	master.Kill()
	replica.Thaw()
	killed := time.Now()
	if busy {
		// The numbers are soon beyond those that were forgotten.
		f := startTraffic(t, s.balancer.URL(), space, time.Millisecond)
		f.flows(10 * forgotten)
		defer f.end()
	}
	must(t, "a coordinator says that the store went back", func() bool { return s.alarms(t) > before })
	took := time.Since(killed)
	faultrig.Hold(t, "from the kill to the alarm", took, 2*silence+5*time.Second)

	list, err := reader.GetMessages(t.Context(), c3po.GetMessagesInput{})
	if err != nil || list.Count != kept {
		t.Errorf("%d messages are left (%v), want the %d that the replica had", list.Count, err, kept)
	}
	faultrig.Verdict{
		Row: "S2", Holds: []faultrig.Invariant{faultrig.UnknownIsSaid, faultrig.BooksBalance},
		Size:   fmt.Sprintf("%d acknowledged messages that the replica never had: lost, as the alarm says", forgotten),
		Faults: "the primary killed, the replica behind",
		Lost:   forgotten, Recovery: took,
	}.Record(t)
}

// offsetOf is how far a server has come with what it replicates.
func offsetOf(t *testing.T, s *redistest.Server) string {
	t.Helper()
	return infoOf(t, s.Addr(), "replication", "master_repl_offset")
}

func roleOf(t *testing.T, s *redistest.Server) string {
	t.Helper()
	return infoOf(t, s.Addr(), "replication", "role")
}

// infoOf is one word of Redis's INFO.
func infoOf(t *testing.T, addr, section, name string) string {
	t.Helper()
	text, err := redistest.Do(addr, "INFO", section)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text.(string)) {
		if value, found := strings.CutPrefix(line, name+":"); found {
			return strings.TrimSpace(value)
		}
	}
	t.Fatalf("INFO %s has no %s", section, name)
	return ""
}
