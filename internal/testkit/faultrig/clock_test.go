package faultrig_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestTheClockOfRedisCanBeMoved(t *testing.T) {
	t.Parallel()
	redis := faultrig.NewClocked(t)
	for _, by := range []time.Duration{0, 48 * time.Hour, -2 * time.Hour, 0} {
		redis.Move(by) // fails if the server does not go by it
	}
}

func TestAClockThatJumpsExpiresAndReordersNothing(t *testing.T) {
	t.Parallel()
	redis := faultrig.NewClocked(t)
	// The clock of a coordinator is that of Redis, unless it was given one.
	other, injected := redistest.New(t), atomic.Int64{}
	now := func() time.Time { return time.Now().Add(time.Duration(injected.Load())) }
	verdict := faultrig.Verdict{
		Row: "D1", Holds: []faultrig.Invariant{faultrig.NothingStoredIsLost, faultrig.OneMessageAKey, faultrig.OrderIsKept, faultrig.BooksBalance},
	}
	rounds, sent := faultrig.Size(1, 10), 0
	for _, clock := range []struct {
		addr string
		move func(time.Duration)
		cfg  server.Config
	}{
		{redis.Addr(), redis.Move, server.Config{RedisURL: redis.URL()}},
		{other.Addr(), func(by time.Duration) { injected.Store(int64(by)) }, server.Config{RedisURL: other.URL(), Now: now}},
	} {
		report := jumpAround(t, clock.addr, clock.move, clock.cfg, rounds)
		t.Logf("%s", report)
		sent += report.Stored
		verdict.Lost, verdict.Doubled = verdict.Lost+report.Count(faultrig.Lost), verdict.Doubled+report.Count(faultrig.Doubled)
	}
	verdict.Size = fmt.Sprintf("%d sends", sent)
	verdict.Faults = fmt.Sprintf("%d jumps each of %v and back, of the clock of Redis and of one injected", rounds, jumps())
	verdict.Record(t)
}

// Leases end by Redis' clock. A coordinator's next renewal may be 24 seconds away.
func TestAClockThatJumpsTakesNobodyWhoWaitsForOffline(t *testing.T) {
	t.Parallel()
	redis := faultrig.NewClocked(t)
	limits := noLimits()
	limits.NodeLease = 10 * time.Minute // so that no renewal is due while this test runs
	url, other := inProcess(t, server.Config{RedisURL: redis.URL(), Limits: limits}), inProcess(t, server.Config{RedisURL: redis.URL(), Limits: limits})
	ann, eve := agent(t, url, "ann"), agent(t, other, "eve")
	shown := func(id string, to *client.Client) c3po.Reachability {
		t.Helper()
		got, err := to.GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: id})
		if err != nil && !errors.Is(err, c3po.AgentNotFound) {
			t.Fatal(err)
		}
		return got.Reachability
	}
	bob, carl := agent(t, url, "bob"), agent(t, url, "carl")
	asked, err := carl.SendMessage(t.Context(), c3po.SendInput{Target: "ann", Message: "Which host?"})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = bob.WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 600}) }()
	// Mail does not end this wait, so that it lasts longer than the sending.
	go func() { _, _ = carl.WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 600, MessageID: asked.ID}) }()
	eventually(t, "both wait", func() bool { return shown("bob", eve) == c3po.ReachNow && shown("carl", eve) == c3po.ReachNextStep })
	redis.Move(3 * time.Hour)
	if got := shown("bob", ann); got != c3po.ReachNow {
		t.Errorf("after three hours bob, who waits, is %s", got)
	}
	eventually(t, "the other coordinator knows too", func() bool { return shown("bob", ann) == shown("bob", eve) })
	redis.Move(48 * time.Hour)
	receipt, err := ann.SendMessage(t.Context(), c3po.SendInput{Target: "carl", Message: "Which port?"})
	if err != nil || receipt.Reachability != c3po.ReachNextStep {
		t.Errorf("after two days the receipt of mail to carl, who waits, says %s, %v", receipt.Reachability, err)
	}
}

func jumps() []time.Duration {
	return []time.Duration{time.Hour, -time.Hour, 48 * time.Hour, 365 * 24 * time.Hour, -2 * time.Hour}
}

// jumpAround sends before and after every jump, lets the reaper see both, and
// reads it all.
func jumpAround(t *testing.T, addr string, move func(time.Duration), cfg server.Config, rounds int) faultrig.Report {
	t.Helper()
	cfg.Limits = noLimits()
	cfg.Limits.ReapEvery = 20 * time.Millisecond
	// Mail that would have died of every jump ahead.
	cfg.Limits.MessageLife = 30 * time.Minute
	url := inProcess(t, cfg)
	reader, sender := agent(t, url, "reader"), agent(t, url, "sender")
	var rec faultrig.Recorder
	sent := 0
	send := func(at time.Duration) {
		t.Helper()
		text := fmt.Sprintf("sent at %s, %d", at, sent)
		if _, err := rec.Send(t.Context(), sender, "sender", c3po.SendInput{Target: "reader", Message: text, ClientKey: text}); err != nil {
			t.Fatal(err)
		}
		sent++
	}
	for range rounds {
		for _, by := range jumps() {
			send(0)
			move(by)
			send(by)
			// The reaper has been there at this time, twice.
			passes(t, addr, 2)
			move(0)
		}
	}
	if err := drain(t.Context(), &rec, reader, "reader"); err != nil {
		t.Fatal(err)
	}
	report := faultrig.Check(rec.History())
	if report.Stored != sent || len(report.Violations) > 0 {
		t.Errorf("%d of %d stored: %s", report.Stored, sent, report)
	}
	if audit := balanced(t, reader); audit.Dead != 0 {
		t.Errorf("%d messages died of the clock", audit.Dead)
	}
	return report
}

// ticked is when the reaper passed last, as the store writes it down.
func ticked(t *testing.T, addr string) any {
	t.Helper()
	at, err := redistest.Do(addr, "HGET", "c3po:1:{main}:meta", "ticked")
	if err != nil {
		t.Fatal(err)
	}
	return at
}
