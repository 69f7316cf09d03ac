package faultrig_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// lossy is a client that gives up at its first failure, and says so.
func lossy(url string, id c3po.AgentID) *client.Client {
	return client.New(client.Config{URL: url, AgentID: id, Patience: time.Nanosecond})
}

func TestAnAnswerLostAfterTheDeedIsOneMessage(t *testing.T) {
	t.Parallel()
	const hops = 2
	times := faultrig.Size(50, 1_000)
	redis := redistest.New(t)
	toRedis := faultrig.NewProxy(t, redis.URL())
	coordinator := faultrig.Start(t, "redis://"+toRedis.Addr())
	toCoordinator := faultrig.NewProxy(t, coordinator.URL())
	reader := agent(t, coordinator.URL(), "reader")

	verdict := faultrig.Verdict{
		Row: "C2", Holds: []faultrig.Invariant{faultrig.NothingStoredIsLost, faultrig.OneMessageAKey, faultrig.UnknownIsSaid},
		Size: fmt.Sprintf("%d sends on either side of the coordinator, each made three times", times), Faults: fmt.Sprintf("%d cuts between request and answer", hops*times),
	}
	for _, hop := range []struct {
		name  string
		proxy *faultrig.Proxy
		// ends says how an attempt whose answer was lost here may end: our store
		// may repeat the step by itself, a client that may not repeat cannot know.
		ends func(error) bool
	}{
		{"between client and coordinator", toCoordinator, func(err error) bool { return errors.Is(err, c3po.UnknownOutcome) }},
		{"between coordinator and Redis", toRedis, func(err error) bool { return err == nil || errors.Is(err, c3po.UnknownOutcome) }},
	} {
		t.Run(hop.name, func(t *testing.T) {
			var rec faultrig.Recorder
			id := c3po.AgentID("writer-" + hop.name[len(hop.name)-5:])
			svc := lossy("http://"+toCoordinator.Addr(), id)
			was := hop.proxy.Lost()
			for n := range times {
				key := fmt.Sprintf("%s-key-%d;", id, n)
				in := c3po.SendInput{Target: "reader", Message: fmt.Sprintf("%s says %d", id, n), ClientKey: key}
				hop.proxy.LoseAnswer(key)
				if _, err := rec.Attempt(t.Context(), svc, id, in); !hop.ends(err) {
					t.Fatalf("the attempt whose answer was lost ended with %v", err)
				}
				receipt, err := rec.Send(t.Context(), svc, id, in)
				if err != nil {
					t.Fatal(err)
				}
				if repeat, err := rec.Send(t.Context(), svc, id, in); err != nil || repeat.ID != receipt.ID {
					t.Fatalf("the same key gave %s, then %s (%v)", receipt.ID, repeat.ID, err)
				}
			}
			if lost := hop.proxy.Lost() - was; lost != times {
				t.Errorf("%d answers were lost, want %d", lost, times)
			}
			if err := drain(t.Context(), &rec, reader, "reader"); err != nil {
				t.Fatal(err)
			}
			report := faultrig.Check(rec.History())
			t.Logf("%s", report)
			if report.Stored != times || report.Read != times || len(report.Violations) > 0 {
				t.Errorf("%d sends stored %d messages, %d were read", times, report.Stored, report.Read)
			}
			verdict.Lost, verdict.Doubled = verdict.Lost+report.Count(faultrig.Lost), verdict.Doubled+report.Count(faultrig.Doubled)
		})
	}
	if audit := balanced(t, reader); audit.Sent != int64(hops*times) {
		t.Errorf("%d messages were stored, want %d", audit.Sent, hops*times)
	}
	verdict.Record(t)
}

func TestASendThatRedisCarriesOutAndNeverAnswersIsUnknownNotFailed(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	proxy := faultrig.NewProxy(t, redis.URL())
	coordinator := faultrig.Start(t, "redis://"+proxy.Addr())
	reader := agent(t, coordinator.URL(), "reader")
	svc := lossy(coordinator.URL(), "writer")
	if _, err := svc.RegisterAgent(t.Context(), c3po.RegisterInput{}); err != nil {
		t.Fatal(err)
	}
	var rec faultrig.Recorder
	in := c3po.SendInput{Target: "reader", Message: "are you there?", ClientKey: "the-key;"}

	proxy.LoseAnswers(in.ClientKey)
	ctx, cancel := context.WithTimeout(t.Context(), aWhile)
	defer cancel()
	began := time.Now()
	if _, err := rec.Attempt(ctx, svc, "writer", in); !errors.Is(err, c3po.UnknownOutcome) {
		t.Errorf("it ended with %v", err)
	}
	if proxy.Lost() == 0 {
		t.Error("no answer was lost")
	}
	faultrig.Hold(t, "time to say so", time.Since(began), 3*time.Second)
	proxy.Heal()
	if _, err := rec.Send(t.Context(), svc, "writer", in); err != nil {
		t.Fatal(err)
	}
	if err := drain(t.Context(), &rec, reader, "reader"); err != nil {
		t.Fatal(err)
	}
	if report := faultrig.Check(rec.History()); len(report.Violations) > 0 || report.Read != 1 {
		t.Errorf("%s", report)
	}
}

func TestASendWithoutRedisFailsAndSaysThatNothingWasStored(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	coordinator := faultrig.Start(t, redis.URL())
	reader := agent(t, coordinator.URL(), "reader")
	svc := lossy(coordinator.URL(), "writer")
	if _, err := svc.RegisterAgent(t.Context(), c3po.RegisterInput{}); err != nil {
		t.Fatal(err)
	}
	var rec faultrig.Recorder
	redis.Kill()
	eventually(t, "a send fails for certain", func() bool {
		// The first may have been on its way when Redis ended: that is unknown.
		_, err := rec.Attempt(t.Context(), svc, "writer", c3po.SendInput{Target: "reader", Message: "one", ClientKey: "one"})
		return errors.Is(err, c3po.RedisUnavailable)
	})
	redis.Restart()
	in := c3po.SendInput{Target: "reader", Message: "two", ClientKey: "two"}
	if _, err := rec.Send(t.Context(), svc, "writer", in); err != nil {
		t.Fatal(err)
	}
	if err := drain(t.Context(), &rec, reader, "reader"); err != nil {
		t.Fatal(err)
	}
	if report := faultrig.Check(rec.History()); len(report.Violations) > 0 || report.Stored != 1 {
		t.Errorf("%s", report)
	}
}
