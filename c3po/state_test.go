package c3po_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// Dashboards, commands and tools say in the same words when an agent that cannot be
// woken now reads its mail.
func TestTheDashboardSaysInTheWordsOfTheCommandsWhenMailIsRead(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../web/src/plain.ts")
	if err != nil {
		t.Fatal(err)
	}
	for _, reach := range []c3po.Reachability{
		c3po.ReachNextStep, c3po.ReachNextCall, c3po.ReachRetry, c3po.ReachQuota, c3po.ReachPersonReturns, c3po.ReachResumed, c3po.ReachDialog, c3po.ReachOff, c3po.ReachNextSession, c3po.ReachUnknown,
	} {
		if line := fmt.Sprintf("  %s: %q,\n", reach, reach.When()); !strings.Contains(string(page), line) {
			t.Errorf("the dashboard does not say %s", line)
		}
	}
}

// The dashboard says the same of the same cases: web/unit/words.test.mjs.
func TestAStateIsShownWithHowOldItIs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../testdata/standing.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		State       c3po.SessionState
		Status      c3po.Status
		Since, Seen *float64 // seconds ago
		Read        float64
		Quota       *float64 // seconds from now on
		Exact       bool
		Want        string
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	before := func(seconds float64) time.Time { return now.Add(-time.Duration(seconds * float64(time.Second))) }
	shown := map[c3po.SessionState]bool{}
	for _, c := range cases {
		agent := c3po.Agent{State: c.State, Status: c.Status}
		if c.Since != nil {
			since := before(*c.Since)
			agent.StateSince = &since
		}
		if c.Quota != nil {
			agent.Reachability = c3po.ReachQuota
			agent.OutOfQuota = &c3po.OutOfQuota{Until: before(-*c.Quota), Exact: c.Exact}
		}
		if c.Seen != nil {
			agent.LastSeen = before(*c.Seen)
		}
		if got := agent.Standing(before(c.Read), now); got != c.Want {
			t.Errorf("%+v is shown as %q, want %q", c, got, c.Want)
		}
		shown[c.State] = true
	}
	for _, state := range []c3po.SessionState{
		c3po.SessionIdle, c3po.SessionWaiting, c3po.SessionWorking, c3po.SessionFailed, c3po.SessionDialog, c3po.SessionUnarmed, c3po.SessionOff, c3po.SessionUnattended, c3po.SessionUnknown, c3po.SessionClosed,
	} {
		if !shown[state] {
			t.Errorf("no case shows %q", state)
		}
	}
}

func TestTheEndOfAQuotaHasItsDateUnlessItIsToday(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 11, 17, 22, 30, 0, 0, time.UTC)
	for length, want := range map[time.Duration]string{
		30 * time.Minute: "until 23:00:00 UTC",
		2 * time.Hour:    "until 2026-11-18 00:30 UTC",
		48 * time.Hour:   "until 2026-11-19 22:30 UTC",
	} {
		if got := (c3po.OutOfQuota{Since: since, Until: since.Add(length), Exact: true}).When(); got != want {
			t.Errorf("after %s it is %q, want %q", length, got, want)
		}
	}
}
