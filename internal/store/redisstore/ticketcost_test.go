package redisstore

import (
	"fmt"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestTicketsThatHaveEndedCostTheListOfOpenOnesNothing(t *testing.T) {
	const open, rounds = 20, 50
	ended := faultrig.Size(2_000, 100_000)
	s, err := Open(t.Context(), Config{URL: redistest.Start(t), Limits: c3po.DefaultLimits().Unbudgeted()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	ask := func(space c3po.Space, text string) c3po.MessageID {
		in := sendStep(text)
		in.Text, in.Alias, in.RateLimit, in.Within = text, "", 0, 0
		sent, err := s.Send(t.Context(), space, in)
		if err != nil {
			t.Fatal(err)
		}
		return sent.Message.ID
	}
	for _, space := range []c3po.Space{"none", "many"} {
		for _, id := range []c3po.AgentID{"ana", "bob"} {
			if _, err := s.Register(t.Context(), space, store.RegisterStep{Want: id}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range open {
			ask(space, fmt.Sprint("open ", i))
		}
	}
	for i := range ended {
		if _, err := s.Cancel(t.Context(), "many", store.CancelStep{From: "ana", ID: ask("many", fmt.Sprint("ended ", i)), Durability: c3po.OnDisk}); err != nil {
			t.Fatal(err)
		}
	}
	took := map[c3po.Space][]time.Duration{}
	for range rounds {
		for _, space := range []c3po.Space{"none", "many"} {
			began := time.Now()
			marks, err := s.OpenTickets(t.Context(), space, 0, 500)
			if err != nil {
				t.Fatal(err)
			}
			took[space] = append(took[space], time.Since(began))
			if len(marks) != open {
				t.Fatalf("%d tickets are open in %s, want %d", len(marks), space, open)
			}
		}
	}
	none, many := median(took["none"]), median(took["many"])
	t.Logf("%d open tickets: %s, and %s beside %d that have ended", open, none, many, ended)
	faultrig.Hold(t, "the list beside tickets that have ended, of the list without", float64(many)/float64(none), 1.5)
}

// Before open tickets were told apart, all had their number for their place.
func TestATicketThatEndedBeforeOpenOnesWereToldApartIsForgottenToo(t *testing.T) {
	t.Parallel()
	limits := c3po.DefaultLimits()
	limits.EndedLife = 0
	s, err := Open(t.Context(), Config{URL: redistest.Start(t), Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	for _, id := range []c3po.AgentID{"ana", "bob"} {
		if _, err := s.Register(t.Context(), "main", store.RegisterStep{Want: id}); err != nil {
			t.Fatal(err)
		}
	}
	sent, err := s.Send(t.Context(), "main", store.SendStep{Draft: store.Draft{From: "ana", To: "bob", Kind: c3po.KindMessage, Text: "why?", ExpectsReply: true}})
	if err != nil {
		t.Fatal(err)
	}
	id := sent.Message.ID
	if _, err := s.Cancel(t.Context(), "main", store.CancelStep{From: "ana", ID: id}); err != nil {
		t.Fatal(err)
	}
	place := s.commands.B().Zadd().Key(keysOf("main").tickets()).ScoreMember().ScoreMember(float64(sent.Message.Seq), string(id)).Build()
	if err := s.commands.Do(t.Context(), place).Error(); err != nil {
		t.Fatal(err)
	}
	listed := func() int {
		marks, err := s.Tickets(t.Context(), "main", 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		return len(marks)
	}
	if listed() != 1 {
		t.Fatal("it is not listed")
	}
	if _, err := s.Trim(t.Context(), "main", 10); err != nil {
		t.Fatal(err)
	}
	if n := listed(); n != 0 {
		t.Errorf("%d tickets are listed after their life", n)
	}
}
