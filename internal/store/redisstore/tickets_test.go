package redisstore

import (
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

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
