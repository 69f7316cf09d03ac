package faultrig_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// listener waits again and again, as one agent, and hands each message on. It
// acks now and then, so that its inbox does not fill up.
func listener(t *testing.T, url string, id c3po.AgentID, received func(c3po.Message)) (stop func()) {
	t.Helper()
	svc := agent(t, url, id)
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() {
		in := c3po.WaitInput{Timeout: 60}
		var given []c3po.MessageID
		for ctx.Err() == nil {
			got, err := svc.WaitForMessage(ctx, in)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				t.Errorf("%s: %v", id, err)
				return
			}
			in.After = &got.Cursor
			if got.Outcome != nil {
				continue
			}
			received(got.Message)
			if given = append(given, got.ID); len(given) < 100 {
				continue
			}
			if _, err := svc.AckMessages(ctx, c3po.AckInput{MessageIDs: given}); err != nil && ctx.Err() == nil {
				t.Errorf("%s: %v", id, err)
			}
			given = nil
		}
	})
	return func() {
		cancel()
		work.Wait()
	}
}

// asleep waits until so many waits have looked and sleep on a coordinator.
func asleep(t *testing.T, url string, waits int64) {
	t.Helper()
	svc := client.New(client.Config{URL: url})
	eventually(t, fmt.Sprintf("%d waits sleep", waits), func() bool {
		info, err := svc.ServerInfo(t.Context(), c3po.None{})
		return err == nil && info.Waiters >= waits
	})
}

func median(sorted []time.Duration) time.Duration { return sorted[len(sorted)/2] }

// It times, so it runs alone.
func TestWakesStayQuickUnderLoad(t *testing.T) {
	faultrig.NeedQuiet(t)
	const waiters, senders = 100, 50
	rate, seconds := faultrig.Size(50, 1_000), faultrig.Size(3, 10)
	coordinator := faultrig.Start(t, redistest.Start(t, "--appendfsync", "always"))
	var mu sync.Mutex
	var took []time.Duration
	for i := range waiters {
		defer listener(t, coordinator.URL(), faultrig.CrowdID(i), func(m c3po.Message) {
			due, err := strconv.ParseInt(m.Text(), 10, 64)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, time.Since(time.Unix(0, due)))
		})()
	}

	all := rate * seconds
	services := make([]c3po.Service, senders)
	for i := range services {
		services[i] = agent(t, coordinator.URL(), c3po.AgentID(fmt.Sprintf("sender-%d", i)))
	}
	faultrig.SendWhenDue(t, services, waiters, rate, all)
	eventually(t, "every message has woken its waiter", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(took) >= all
	})
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(took)
	t.Logf("%d messages at %d a second: p50 %s, slowest %s", all, rate, median(took), took[len(took)-1])
	faultrig.Hold(t, "99th percentile from due to woken", faultrig.P99(took), 25*time.Millisecond)
}

func TestNoWakeIsSleptThrough(t *testing.T) {
	t.Parallel()
	coordinator := faultrig.Start(t, redistest.Start(t))
	sender := agent(t, coordinator.URL(), "sender")
	received := make(chan string, 1)
	defer listener(t, coordinator.URL(), "waiter", func(m c3po.Message) { received <- m.Text() })()
	for n := range faultrig.Size(500, 10_000) {
		// The next wait is just about to look: before, at or after this.
		faultrig.Pass(t.Context(), rand.N(time.Millisecond))
		if _, err := sender.SendMessage(t.Context(), c3po.SendInput{Target: "waiter", Message: strconv.Itoa(n)}); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-received:
			if got != strconv.Itoa(n) {
				t.Fatalf("message %d came as %q", n, got)
			}
		case <-time.After(aWhile):
			t.Fatalf("the waiter slept through message %d", n)
		}
	}
}

func TestWhatWasPublishedWhileTheSubscriptionWasGoneIsNotMissed(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	proxy := faultrig.NewProxy(t, redis.URL())
	far, near := faultrig.Start(t, "redis://"+proxy.Addr()), faultrig.Start(t, redis.URL())
	sender := agent(t, near.URL(), "sender")
	received := make(chan string, 1)
	defer listener(t, far.URL(), "waiter", func(m c3po.Message) { received <- m.Text() })()
	slowest := time.Duration(0)
	for n := range faultrig.Size(3, 30) {
		text := fmt.Sprintf("before %d", n)
		if _, err := sender.SendMessage(t.Context(), c3po.SendInput{Target: "waiter", Message: text}); err != nil {
			t.Fatal(err)
		}
		if got := <-received; got != text {
			t.Fatalf("%q came for %q", got, text)
		}
		asleep(t, far.URL(), 1)
		proxy.BlackHole()
		text = fmt.Sprintf("into the hole %d", n)
		if _, err := sender.SendMessage(t.Context(), c3po.SendInput{Target: "waiter", Message: text}); err != nil {
			t.Fatal(err)
		}
		proxy.Heal()
		began := time.Now()
		select {
		case got := <-received:
			if got != text {
				t.Fatalf("%q came for %q", got, text)
			}
		case <-time.After(aWhile):
			t.Fatalf("%q was missed", text)
		}
		slowest = max(slowest, time.Since(began))
	}
	faultrig.Hold(t, "the slowest wake after a lost subscription", slowest, 5*time.Second)
}
