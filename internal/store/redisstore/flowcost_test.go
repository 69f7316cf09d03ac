package redisstore

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// Both stores have the same Redis and take turns, send by send, so that what
// else the machine does falls on both.
func TestTheBudgetsOfASendCostLittle(t *testing.T) {
	const bar, rounds = 1.2, 5
	each := faultrig.Size(400, 2_000)
	redis := redistest.Start(t, "--appendfsync", "always")
	off := c3po.DefaultLimits().Unbudgeted()
	on := c3po.DefaultLimits()
	// Budgets that are kept and never spent.
	for _, most := range []*int{&on.ChainMessages, &on.ChainBytes, &on.ChainHops, &on.PairMessages, &on.PairBytes, &on.AgentMessages, &on.AgentBytes} {
		*most = 1 << 30
	}
	var medians [2][]time.Duration
	for round := range rounds {
		var took [2][]time.Duration
		var stores [2]*Store
		space := func(i int) c3po.Space { return c3po.Space(fmt.Sprintf("flow-%d-%d", round, i)) }
		for i, limits := range []c3po.Limits{off, on} {
			s, err := Open(t.Context(), Config{URL: redis, Limits: limits})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			for _, id := range []c3po.AgentID{"ana", "bob"} {
				if _, err := s.Register(t.Context(), space(i), store.RegisterStep{Want: id}); err != nil {
					t.Fatal(err)
				}
			}
			stores[i] = s
		}
		for n := range each {
			for i, s := range stores {
				in := sendStep(fmt.Sprint("sent ", n))
				in.Text, in.Alias, in.RateLimit, in.Within = fmt.Sprint(n, strings.Repeat("x", 1000)), "", 0, 0
				began := time.Now()
				if _, err := s.Send(t.Context(), space(i), in); err != nil {
					t.Fatal(err)
				}
				took[i] = append(took[i], time.Since(began))
			}
		}
		for i := range took {
			medians[i] = append(medians[i], median(took[i]))
		}
	}
	without, with := median(medians[0]), median(medians[1])
	ratio := float64(with) / float64(without)
	t.Logf("a send without budgets %s, with them %s: %.2f times (medians of %d rounds)", without, with, ratio, rounds)
	faultrig.Hold(t, "a send with budgets, of one without", ratio, bar)
}
