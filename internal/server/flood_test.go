package server_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// One token does all it can, under as many names as it can, and those beside it are
// hardly slower. It does not run beside other tests, because it measures.
func TestATokenThatFloodsEverythingHoldsUpNobodyAndNotThePerson(t *testing.T) {
	const floods = 8
	lasts := time.Duration(faultrig.Size(3, 60)) * time.Second
	limits := c3po.DefaultLimits()
	if !faultrig.Torture() {
		limits.TokenQuestions = 5 // what a flood of a few seconds spends on any machine
	}
	g := startGuarded(t, redistest.Start(t), server.Config{Limits: limits})
	mallory := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "laptop/*"}).Secret
	honest := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "box/*"}).Secret
	person := g.mint(t, auth.Grant{Role: c3po.RoleHuman}).Secret
	g.do(t, honest, "box/victim", "ping", c3po.None{}, nil)
	g.do(t, honest, "box/api", "ping", c3po.None{}, nil)

	// measure is how long honest calls take, at the worst of a hundred.
	measure := func(lasts time.Duration) time.Duration {
		t.Helper()
		var took []time.Duration
		for until := time.Now().Add(lasts); time.Now().Before(until) || len(took) < 20; {
			began := time.Now()
			if status, refusal := g.do(t, honest, "box/api", "get_messages", c3po.GetMessagesInput{}, nil); status != http.StatusOK {
				t.Fatalf("an honest call is answered %d %+v", status, refusal)
			}
			took = append(took, time.Since(began))
			faultrig.Pass(t.Context(), 5*time.Millisecond)
		}
		slices.Sort(took)
		return took[len(took)*99/100]
	}
	idle := measure(time.Second)

	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	var stored, refused atomic.Int64
	large := strings.Repeat("x", 40_000)
	for worker := range floods {
		work.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				as := fmt.Sprintf("laptop/m%d-%d", worker, n%200)
				for name, body := range map[string]string{
					"register_agent":    `{"capabilities":["x"]}`,
					"send_message":      fmt.Sprintf(`{"target":"box/victim","message":"%d %d %s"}`, worker, n, large),
					"escalate_to_human": fmt.Sprintf(`{"reason":"%d %d"}`, worker, n),
					"broadcast":         fmt.Sprintf(`{"message":"%d %d"}`, worker, n),
					"list_agents":       `{}`,
				} {
					switch status, _, err := call(ctx, http.DefaultClient, "POST", g.url+"/api/op/"+name, mallory, body, auth.AgentHeader, as); {
					case err != nil:
					case status == http.StatusOK:
						stored.Add(1)
					default:
						refused.Add(1)
					}
				}
			}
		})
	}
	woken := make(chan c3po.Message, 1)
	flooded := measure(lasts)
	go func() {
		var got c3po.Message
		for ctx.Err() == nil && got.FromAgent != c3po.Human {
			g.do(t, honest, "box/victim", "wait_for_message", c3po.WaitInput{Timeout: 20}, &got)
		}
		woken <- got
	}()
	began := time.Now()
	var stop c3po.Receipt
	if status, refusal := g.do(t, person, "", "send_message", c3po.SendInput{Target: "box/victim", Message: "STOP", Priority: c3po.Urgent}, &stop); status != http.StatusOK {
		t.Errorf("the person's STOP is answered %d %+v", status, refusal)
	}
	select {
	case got := <-woken:
		t.Logf("STOP wakes the victim after %v", time.Since(began))
		if got.ID != stop.ID {
			t.Errorf("the victim is given %s", got.ID)
		}
	case <-time.After(longEnough):
		t.Error("STOP does not wake the victim")
	}
	cancel()
	work.Wait()
	t.Logf("idle p99 %v; in a flood of %v, %d calls let through and %d refused, p99 %v", idle, lasts, stored.Load(), refused.Load(), flooded)
	if refused.Load() == 0 {
		t.Error("nothing of the flood is refused")
	}
	// The flood comes from the same machine. Where others work there too, what they take
	// is much more than what it takes.
	if faultrig.Torture() {
		faultrig.Hold(t, "p99 of others in a flood", flooded, 3*idle)
	}
}
