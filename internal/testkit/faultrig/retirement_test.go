package faultrig_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// passes waits until the reaper has been there n times.
func passes(t *testing.T, addr string, n int) {
	t.Helper()
	for range n {
		was := ticked(t, addr)
		eventually(t, "the reaper has passed", func() bool { return ticked(t, addr) != was })
	}
}

func names(t *testing.T, c *client.Client) []string {
	t.Helper()
	list, err := c.ListAgents(t.Context(), c3po.ListAgentsInput{})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, a := range list.Agents {
		ids = append(ids, string(a.ID))
	}
	slices.Sort(ids)
	return ids
}

func TestAClockThatJumpsRetiresNobody(t *testing.T) {
	t.Parallel()
	redis := faultrig.NewClocked(t)
	limits := noLimits()
	limits.ReapEvery, limits.RetireAfter, limits.MessageLife = 20*time.Millisecond, 30*time.Minute, 30*time.Minute
	url := inProcess(t, server.Config{RedisURL: redis.URL(), Limits: limits})
	here := agent(t, url, "ann")
	silent := agent(t, url, "silent")
	if _, err := silent.WhoAmI(t.Context(), c3po.None{}); err != nil {
		t.Fatal(err)
	}
	for n, by := range []time.Duration{0, time.Hour, 48 * time.Hour, -2 * time.Hour, 0} {
		redis.Move(by)
		if _, err := here.SendMessage(t.Context(), c3po.SendInput{Target: "silent", Message: fmt.Sprint("still there? ", n)}); err != nil {
			t.Fatal(err)
		}
		passes(t, redis.Addr(), 3)
		if got := names(t, here); !slices.Equal(got, []string{"ann", "silent"}) {
			t.Fatalf("after a jump of %s there are %v", by, got)
		}
	}
	if audit := balanced(t, here); audit.Dead != 0 || audit.Pending != 5 {
		t.Errorf("the clock has cost mail: %+v", audit)
	}
}

func TestACoordinatorThatWasSuspendedFindsEverybodyAndEverything(t *testing.T) {
	t.Parallel()
	redis := faultrig.NewClocked(t)
	settings := "limits:\n  reap_every: 50ms\n  retire_after: 5m\n  message_life: 5m\n  key_life: 5m\n"
	c := faultrig.StartWith(t, redis.URL(), settings)
	here, silent := agent(t, c.URL(), "ann"), agent(t, c.URL(), "silent")
	if _, err := silent.WhoAmI(t.Context(), c3po.None{}); err != nil {
		t.Fatal(err)
	}
	for n := range 10 {
		if _, err := here.SendMessage(t.Context(), c3po.SendInput{Target: "silent", Message: fmt.Sprint("letter ", n)}); err != nil {
			t.Fatal(err)
		}
	}
	passes(t, redis.Addr(), 2)
	c.Freeze()
	redis.Move(10 * time.Minute)
	c.Thaw()
	passes(t, redis.Addr(), 5)
	if got := names(t, here); !slices.Equal(got, []string{"ann", "silent"}) {
		t.Errorf("after ten minutes of sleep there are %v", got)
	}
	if audit := balanced(t, here); audit.Dead != 0 || audit.Pending != 10 {
		t.Errorf("sleep has cost mail: %+v", audit)
	}
	mail, err := silent.GetMessages(t.Context(), c3po.GetMessagesInput{})
	if err != nil || mail.Count != 10 {
		t.Errorf("%d messages, %v", mail.Count, err)
	}
}
