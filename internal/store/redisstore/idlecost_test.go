package redisstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// Five coordinators look after spaces in which nothing happens. One of them
// reaps, and one step tells it that a space has nothing due.
func TestIdleSpacesCostNextToNothing(t *testing.T) {
	const coordinators = 5
	spaces, every, passes := 200, 500*time.Millisecond, 8
	if faultrig.Torture() {
		spaces, every, passes = 10_000, 60*time.Second, 2
	}
	url := redistest.Start(t)
	limits := c3po.DefaultLimits()
	limits.ReapEvery = every
	opened := func() *Store {
		s, err := Open(t.Context(), Config{URL: url, Limits: limits})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s
	}
	seed := opened()
	for n := range spaces {
		idle(t, seed, c3po.Space(fmt.Sprintf("idle-%d", n)))
	}

	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	t.Cleanup(func() { stop(); running.Wait() })
	for range coordinators {
		h := hub.New(hub.Config{Store: opened(), Limits: limits})
		running.Go(func() { _ = h.Run(ctx) })
	}
	// The first passes find out that nothing is due.
	faultrig.Pass(t.Context(), 3*every)
	began, before := time.Now(), usage(t, url)
	faultrig.Pass(t.Context(), time.Duration(passes)*every)
	used := usage(t, url)

	// A busy machine lets more time pass, and with it more passes.
	visits := float64(spaces) * float64(time.Since(began)) / float64(every)
	scripts := float64(used.scripts-before.scripts) / visits
	cpu := (used.cpu - before.cpu) / visits
	// What the same visits cost 10,000 spaces that are looked at once a minute.
	core := 100 * cpu * 10_000 / 60
	t.Logf("%d idle spaces, %d coordinators: %.2f scripts and %.1f µs of Redis for each space and pass; 10,000 spaces take %.2f %% of a core",
		spaces, coordinators, scripts, cpu*1e6, core)
	if scripts > 1.5 {
		t.Errorf("%.2f scripts for each idle space and pass, want one", scripts)
	}
	const minute = 1200 * time.Millisecond // 2 % of it
	faultrig.Hold(t, "what 10,000 idle spaces take of a Redis core in a minute", time.Duration(cpu*10_000*float64(time.Second)), minute)
}

// idle makes a space with two agents, a message that was dealt with, and nothing to do.
func idle(t *testing.T, s *Store, space c3po.Space) {
	t.Helper()
	for _, id := range []c3po.AgentID{"ana", "bob"} {
		if _, err := s.Register(t.Context(), space, store.RegisterStep{Want: id}); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := s.Send(t.Context(), space, store.SendStep{
		Draft: store.Draft{From: "ana", To: "bob", Kind: c3po.KindMessage, Text: "hi"}, Durability: c3po.InMemory,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Ack(t.Context(), space, "bob", "", []c3po.MessageID{stored.Message.ID}); err != nil {
		t.Fatal(err)
	}
}

// spent is what a Redis has done so far.
type spent struct {
	scripts int64
	cpu     float64 // seconds
}

func usage(t *testing.T, url string) (s spent) {
	t.Helper()
	answer, err := redistest.Do(strings.TrimPrefix(url, "redis://"), "INFO", "everything")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(answer.(string)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch name {
		case "cmdstat_evalsha", "cmdstat_eval", "cmdstat_evalsha_ro":
			calls, _, _ := strings.Cut(strings.TrimPrefix(value, "calls="), ",")
			n, err := strconv.ParseInt(calls, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			s.scripts += n
		case "used_cpu_sys", "used_cpu_user":
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			s.cpu += n
		}
	}
	return s
}
