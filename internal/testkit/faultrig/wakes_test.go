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
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
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

// It times, so it runs alone.
func TestAWakeTakesLittleLongerThanABareSubscribersNews(t *testing.T) {
	redis := redistest.Start(t, "--appendfsync", "always")
	coordinator := faultrig.Start(t, redis)
	agent(t, coordinator.URL(), "bare")
	sender := agent(t, coordinator.URL(), "sender")
	woken := make(chan time.Time, 1)
	defer listener(t, coordinator.URL(), "waiter", func(c3po.Message) { woken <- time.Now() })()
	publish, told := bareSubscriber(t, redis)

	var bare, wake []time.Duration
	for n := range faultrig.Size(100, 1_000) {
		began := time.Now()
		publish(n)
		bare = append(bare, (<-told).Sub(began))

		began = time.Now()
		if _, err := sender.SendMessage(t.Context(), c3po.SendInput{Target: "waiter", Message: strconv.Itoa(n)}); err != nil {
			t.Fatal(err)
		}
		wake = append(wake, (<-woken).Sub(began))
		asleep(t, coordinator.URL(), 1)
	}
	slices.Sort(bare)
	slices.Sort(wake)
	t.Logf("median of %d: script and bare subscriber %s, send and wait %s", len(bare), median(bare), median(wake))
	faultrig.Hold(t, "median wake as a multiple of a bare subscriber's", float64(median(wake))/float64(median(bare)), 3)
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

// bareSubscriber runs the send script without a coordinator, and hears of it by
// a subscription of its own.
func bareSubscriber(t *testing.T, redis string) (publish func(int), told <-chan time.Time) {
	t.Helper()
	open := func() *redisstore.Store {
		store, err := redisstore.Open(t.Context(), redisstore.Config{URL: redis, Limits: noLimits()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(store.Close)
		return store
	}
	publisher, subscriber := open(), open()
	ready, news := make(chan struct{}, 16), make(chan time.Time, 16)
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() {
		_ = subscriber.Listen(ctx, "main", func() { ready <- struct{}{} }, func(w store.Wake) {
			if w.Agent == "bare" {
				news <- time.Now()
			}
		})
	})
	t.Cleanup(func() {
		cancel()
		work.Wait()
	})
	<-ready
	return func(n int) {
		if _, err := publisher.Send(t.Context(), "main", store.SendStep{
			Draft: store.Draft{From: "sender", To: "bare", Kind: c3po.KindMessage, Priority: c3po.Normal, Text: strconv.Itoa(n), Key: strconv.Itoa(n)},
		}); err != nil {
			t.Error(err)
		}
	}, news
}

// It times, so it runs alone.
func TestWakesStayQuickUnderLoad(t *testing.T) {
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
	name, held := faultrig.Percentile(took)
	faultrig.Hold(t, name+" from due to woken", held, 25*time.Millisecond)
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

// It times, so it runs alone.
func TestABurstOfEventsStallsNoCommand(t *testing.T) {
	const waits, chunk = 200, 500
	events := faultrig.Size(2_000, 10_000)
	redis := redistest.New(t)
	coordinator := faultrig.Start(t, redis.URL())
	crowd := startWaiters(t, redis.URL(), coordinator.URL(), waits)

	// Two probes run all the time: a command of the coordinator's, and Redis alone.
	stop := make(chan struct{})
	var probing sync.WaitGroup
	probe := func(ask func() error) *[]time.Duration {
		took := new([]time.Duration)
		probing.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
				}
				began := time.Now()
				if err := ask(); err != nil {
					t.Error(err)
					return
				}
				*took = append(*took, time.Since(began))
			}
		})
		return took
	}
	svc := client.New(client.Config{URL: coordinator.URL(), AgentID: "prober"})
	commands := probe(func() error { _, err := svc.Peek(t.Context(), c3po.GetMessagesInput{}); return err })
	bare := probe(func() error { _, err := redistest.Do(redis.Addr(), "PING"); return err })

	for sent := 0; sent < events; sent += chunk {
		if _, err := redistest.Do(redis.Addr(), "EVAL", burst, "2", "c3po:1:{main}:meta", "c3po:1:{main}:events",
			"c3po:1:{main}:wake", strconv.Itoa(chunk), strconv.Itoa(waits)); err != nil {
			t.Fatal(err)
		}
	}
	// Every waiter is woken and looks. What is sent now comes after all that.
	wake(t, agent(t, coordinator.URL(), "sender"), crowd, waits, waits)
	close(stop)
	probing.Wait()
	slices.Sort(*commands)
	slices.Sort(*bare)
	slowest, alone := (*commands)[len(*commands)-1], (*bare)[len(*bare)-1]
	t.Logf("%d events: %d commands, median %s, slowest %s; Redis alone slowest %s", events, len(*commands), median(*commands), slowest, alone)
	faultrig.Hold(t, "the slowest command beyond what Redis took itself", slowest-alone, 100*time.Millisecond)
}

// burst writes events as the scripts do, one after the other.
const burst = `
local seq = tonumber(redis.call('HGET', KEYS[1], 'seq') or 0)
for i = 1, tonumber(ARGV[2]) do
  seq = seq + 1
  local agent = 'w-' .. (seq % tonumber(ARGV[3]))
  redis.call('XADD', KEYS[2], seq .. '-0', 'k', 'acked', 'a', agent, 'i', '', 't', '1')
  redis.call('HSET', KEYS[1], 'seq', seq)
  redis.call('SPUBLISH', ARGV[1], seq .. ' ' .. agent)
end
return seq`
