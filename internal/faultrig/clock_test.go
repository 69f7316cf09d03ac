package faultrig_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/faultrig"
	"github.com/c3po-dev/c3po/internal/redistest"
	"github.com/c3po-dev/c3po/internal/server"
)

func TestTheClockOfRedisCanBeMoved(t *testing.T) {
	t.Parallel()
	redis := faultrig.NewClocked(t)
	for _, by := range []time.Duration{0, 48 * time.Hour, -2 * time.Hour, 0} {
		redis.Move(by)
		off := redisTime(t, redis.Addr()).Sub(time.Now().Add(by))
		if off.Abs() > 10*time.Second {
			t.Errorf("moved by %s its clock is off by %s", by, off)
		}
	}
}

func redisTime(t *testing.T, addr string) time.Time {
	t.Helper()
	parts, err := redistest.Do(addr, "TIME")
	if err != nil {
		t.Fatal(err)
	}
	seconds, err := strconv.ParseInt(parts.([]any)[0].(string), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Unix(seconds, 0)
}

// Claims: A8
func TestAClockThatJumpsExpiresAndReordersNothing(t *testing.T) {
	t.Parallel()
	redis := faultrig.NewClocked(t)
	limits := noLimits()
	limits.ReapEvery = 20 * time.Millisecond
	url := inProcess(t, server.Config{RedisURL: redis.URL(), Limits: limits})
	reader, sender := agent(t, url, "reader"), agent(t, url, "sender")
	var rec faultrig.Recorder
	sent := 0
	for _, by := range []time.Duration{0, time.Hour, 48 * time.Hour, 365 * 24 * time.Hour, -2 * time.Hour, 0} {
		redis.Move(by)
		text := fmt.Sprintf("sent at %s, %d", by, sent)
		if _, err := rec.Send(t.Context(), sender, "sender", c3po.SendInput{Target: "reader", Message: text, ClientKey: text}); err != nil {
			t.Fatal(err)
		}
		sent++
		// The reaper has been there at this time, twice.
		for range 2 {
			was := ticked(t, redis.Addr())
			eventually(t, "the reaper has passed", func() bool { return ticked(t, redis.Addr()) != was })
		}
	}
	if err := drain(t.Context(), &rec, reader, "reader"); err != nil {
		t.Fatal(err)
	}
	report := faultrig.Check(rec.History())
	t.Logf("%s", report)
	if report.Stored != sent || len(report.Violations) > 0 {
		t.Errorf("%d of %d stored", report.Stored, sent)
	}
	if audit := balanced(t, reader); audit.Dead != 0 {
		t.Errorf("%d messages died of the clock", audit.Dead)
	}
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
