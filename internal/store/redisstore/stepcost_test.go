package redisstore

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// What Redis does for one step: the commands of its script, counted exactly, and
// their time as Redis itself measures it, the median of rounds in which the steps
// take turns.
func TestTheStepsOfADeliveryTakeFewCommands(t *testing.T) {
	const rounds = 9
	each := faultrig.Size(200, 2_000)
	redis := redistest.Start(t, "--appendfsync", "no")
	unbudgeted := c3po.DefaultLimits().Unbudgeted()
	budgeted := c3po.DefaultLimits()
	// Budgets that are kept and never spent, and room for all.
	for _, limits := range []*c3po.Limits{&unbudgeted, &budgeted} {
		limits.InboxMessages, limits.InboxBytes, limits.SpaceBytes, limits.SenderShare = 1<<30, 1<<40, 1<<40, 1
	}
	for _, most := range []*int{&budgeted.ChainMessages, &budgeted.ChainBytes, &budgeted.ChainHops, &budgeted.PairMessages, &budgeted.PairBytes, &budgeted.AgentMessages, &budgeted.AgentBytes} {
		*most = 1 << 30
	}
	open := func(limits c3po.Limits, space c3po.Space) *Store {
		s, err := Open(t.Context(), Config{URL: redis, Limits: limits, Node: "node"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		for _, id := range []c3po.AgentID{"ana", "bob"} {
			if _, err := s.Register(t.Context(), space, store.RegisterStep{Want: id, Explicit: true}); err != nil {
				t.Fatal(err)
			}
		}
		return s
	}
	plain, kept := open(unbudgeted, "plain"), open(budgeted, "kept")
	text := strings.Repeat("x", 1000)
	var sent []c3po.MessageID
	send := func(s *Store, space c3po.Space, rate int) func(n int) error {
		return func(n int) error {
			stored, err := s.Send(t.Context(), space, store.SendStep{
				Draft: store.Draft{
					From: "ana", To: "bob", Kind: c3po.KindMessage, Priority: c3po.Normal, ExpectsReply: true, Text: fmt.Sprint(n, text), Key: fmt.Sprint("key ", n),
				},
				RateLimit: rate, Durability: c3po.OnDisk,
			})
			if s == plain {
				sent = append(sent, stored.Message.ID)
			}
			return err
		}
	}
	steps := []struct {
		name     string
		commands float64 // at most
		do       func(n int) error
	}{
		{"send", 26, send(plain, "plain", 0)},
		{"send with budgets and rate", 35, send(kept, "kept", 1<<30)},
		{"next", 11, func(int) error {
			_, err := plain.Next(t.Context(), "plain", "bob", store.NextQuery{Reader: "session"})
			return err
		}},
		{"ack", 24, func(int) error {
			id := sent[0]
			sent = sent[1:]
			_, err := plain.Ack(t.Context(), "plain", "bob", "", []c3po.MessageID{id})
			return err
		}},
	}
	took := make([][]time.Duration, len(steps))
	for round := range rounds {
		for i, step := range steps {
			before := scriptStats(t, redis)
			for n := range each {
				if err := step.do(round*each + n); err != nil {
					t.Fatal(step.name, ": ", err)
				}
			}
			now := scriptStats(t, redis)
			took[i] = append(took[i], (now.scripts-before.scripts)/time.Duration(each))
			// The first round loads scripts, and INFO is a command too.
			if commands := (now.commands - before.commands - 1) / float64(each); round > 0 && commands > step.commands+0.1 {
				t.Errorf("a %s is %.1f commands, want at most %.0f", step.name, commands, step.commands)
			} else if round == 1 {
				t.Logf("a %s is %.1f commands", step.name, commands)
			}
		}
	}
	for i, step := range steps {
		t.Logf("a %s takes Redis %s", step.name, median(took[i]))
	}
}

type redisStats struct {
	commands float64
	scripts  time.Duration
}

// scriptStats are how many commands a Redis has done, those of scripts included, and for how
// long it ran scripts.
func scriptStats(t *testing.T, url string) (s redisStats) {
	t.Helper()
	answer, err := redistest.Do(strings.TrimPrefix(url, "redis://"), "INFO", "commandstats")
	if err != nil {
		t.Fatal(err)
	}
	stats := map[string]CommandStat{}
	addCommandStats(stats, answer.(string))
	for name, stat := range stats {
		s.commands += float64(stat.Calls)
		if strings.HasPrefix(name, "eval") {
			s.scripts += stat.Took
		}
	}
	return s
}

func median(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}
