package faultrig_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

const (
	maxUntilRed   = 3 * time.Second // until a coordinator that cannot work says so
	maxUntilError = 2 * time.Second // until a caller is told
	maxUntilGreen = 2 * time.Second // until all is well again
)

// probeTimeout is how long who watches a coordinator waits for its answer, which is
// longer than it takes to find out that Redis is away.
const probeTimeout = 2500 * time.Millisecond

// answers says whether a coordinator answers a path with 200, in time.
func answers(ctx context.Context, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// until is how long something takes to come about.
func until(t *testing.T, what string, holds func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	eventuallyWithin(t, time.Minute, what, holds)
	return time.Since(began)
}

func TestWhileRedisIsFrozenCallersAreToldSoonAndNothingIsLost(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	// As if every agent were seen again after a while: then its roles are read, too.
	c := faultrig.StartWith(t, redis.URL(), "limits:\n  seen_every: 1ms\n")
	reader, writer := agent(t, c.URL(), "reader"), lossy(c.URL(), "writer")
	var rec faultrig.Recorder
	send := func(n int) c3po.SendInput {
		return c3po.SendInput{Target: "reader", Message: fmt.Sprint("number ", n), ClientKey: fmt.Sprint("key ", n)}
	}
	const atOnce = 8 // one after the other they would wait longer than each of them may
	rounds, lasts := faultrig.Size(1, 10), frozenFor()
	var red, told, green time.Duration
	for n := range rounds {
		over := time.After(lasts)
		thaw := faultrig.Freeze(t, redis.PID())
		var asked sync.WaitGroup
		var took [atOnce + 1]time.Duration
		for i := range atOnce {
			asked.Go(func() {
				began := time.Now()
				_, err := rec.Attempt(t.Context(), writer, "writer", send(atOnce*n+i))
				// It may be in the hands of the kernel: then Redis finds it when it wakes.
				if !errors.Is(err, c3po.UnknownOutcome) && !errors.Is(err, c3po.RedisUnavailable) {
					t.Errorf("a send ended with %v", err)
				}
				took[i] = time.Since(began)
			})
		}
		asked.Go(func() {
			began := time.Now()
			if _, err := lossy(c.URL(), "reader").GetMessages(t.Context(), c3po.GetMessagesInput{}); !errors.Is(err, c3po.RedisUnavailable) {
				t.Errorf("a read ended with %v", err)
			}
			took[atOnce] = time.Since(began)
		})
		asked.Go(func() {
			red = max(red, until(t, "readiness is red", func() bool { return !answers(t.Context(), c.URL()+"/readyz") }))
		})
		asked.Wait()
		told = max(told, slices.Max(took[:]))
		if !answers(t.Context(), c.URL()+"/livez") {
			t.Error("it is called dead, and only Redis hangs")
		}
		<-over
		thaw()
		green = max(green, until(t, "readiness is green", func() bool { return answers(t.Context(), c.URL()+"/readyz") }))
		for i := range atOnce {
			if _, err := rec.Send(t.Context(), writer, "writer", send(atOnce*n+i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := drain(t.Context(), &rec, reader, "reader"); err != nil {
		t.Fatal(err)
	}
	report := faultrig.Check(rec.History())
	t.Logf("%s", report)
	if report.Stored != atOnce*rounds || len(report.Violations) > 0 {
		t.Errorf("%s", report)
	}
	balanced(t, reader)
	faultrig.Hold(t, "until readiness is red", red, maxUntilRed)
	faultrig.Hold(t, "until callers are told", told, maxUntilError)
	faultrig.Hold(t, "until readiness is green", green, maxUntilGreen)
	faultrig.Verdict{
		Row: "C4", Holds: []faultrig.Invariant{faultrig.NothingStoredIsLost, faultrig.OneMessageAKey, faultrig.BooksBalance, faultrig.UnknownIsSaid},
		Size:   fmt.Sprintf("%d sends; red after %v, callers told after %v", report.Stored, red.Round(time.Millisecond), told.Round(time.Millisecond)),
		Faults: fmt.Sprintf("Redis frozen %d times for %v", rounds, lasts),
		Lost:   report.Count(faultrig.Lost), Doubled: report.Count(faultrig.Doubled), Recovery: green,
	}.Record(t)
}

// frozenFor is how long a process is stopped.
func frozenFor() time.Duration {
	if faultrig.Night() {
		return 30 * time.Second
	}
	return time.Duration(faultrig.Size(3, 5)) * time.Second
}

func TestAFrozenCoordinatorHoldsNobodyElseUp(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	frozen, awake := faultrig.Start(t, redis.URL()), faultrig.Start(t, redis.URL())
	reader := agent(t, awake.URL(), "reader")
	writer, other := agent(t, awake.URL(), "writer"), agent(t, frozen.URL(), "other")
	var rec faultrig.Recorder
	send := func(svc c3po.Service, from c3po.AgentID, n int) error {
		text := fmt.Sprintf("%s says %d", from, n)
		_, err := rec.Attempt(t.Context(), svc, from, c3po.SendInput{Target: "reader", Message: text, ClientKey: text})
		return err
	}
	const sends = 20
	rounds, lasts := faultrig.Size(1, 10), frozenFor()
	var red, slowest, green time.Duration
	for n := range rounds {
		if err := send(other, "other", n); err != nil {
			t.Fatal(err)
		}
		over := time.After(lasts)
		frozen.Freeze()
		var watched sync.WaitGroup
		watched.Go(func() {
			red = max(red, until(t, "it is seen to be frozen", func() bool { return !answers(t.Context(), frozen.URL()+"/readyz") }))
		})
		for i := range sends {
			began := time.Now()
			if err := send(writer, "writer", sends*n+i); err != nil {
				t.Errorf("through the one that is awake: %v", err)
			}
			slowest = max(slowest, time.Since(began))
		}
		watched.Wait()
		<-over
		frozen.Thaw()
		green = max(green, until(t, "it is ready again", func() bool { return answers(t.Context(), frozen.URL()+"/readyz") }))
	}
	if err := send(other, "other", rounds); err != nil {
		t.Errorf("through the one that was frozen: %v", err)
	}
	if err := drain(t.Context(), &rec, reader, "reader"); err != nil {
		t.Fatal(err)
	}
	report := faultrig.Check(rec.History())
	t.Logf("%s", report)
	if report.Stored != rounds*(sends+1)+1 || len(report.Violations) > 0 {
		t.Errorf("%s", report)
	}
	frozen.Stop()
	faultrig.Hold(t, "until it is seen to be frozen", red, maxUntilRed)
	faultrig.Hold(t, "until it is ready again", green, maxUntilGreen)
	faultrig.Hold(t, "the slowest send elsewhere", slowest, time.Second)
	faultrig.Verdict{
		Row: "C4", Holds: []faultrig.Invariant{faultrig.NothingStoredIsLost, faultrig.OneMessageAKey, faultrig.OrderIsKept},
		Size:   fmt.Sprintf("%d sends, the slowest of %v", report.Stored, slowest.Round(time.Millisecond)),
		Faults: fmt.Sprintf("one of two coordinators frozen %d times for %v", rounds, lasts),
		Lost:   report.Count(faultrig.Lost), Doubled: report.Count(faultrig.Doubled), Recovery: green,
	}.Record(t)
}
