package faultrig_test

import (
	"errors"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// Redis carries a send out, its answer is lost, and what comes next is a clear
// refusal: of the repeat, which says nothing about the send.
func TestARepeatThatIsRefusedDoesNotMakeAStoredMessageNotStored(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]faultrig.Aftermath{"refused": faultrig.Refused, "loading": faultrig.Loading, "gone": faultrig.Gone} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redis := redistest.New(t)
			proxy := faultrig.NewProxy(t, redis.URL())
			store, err := redisstore.Open(t.Context(), redisstore.Config{URL: "redis://" + proxy.Addr()})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			s := &scene{space: "doubt", hub: hub.New(hub.Config{Store: store}), ids: map[string]c3po.MessageID{}}
			for _, id := range cast() {
				if _, err := s.as(id).RegisterAgent(t.Context(), c3po.RegisterInput{}); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.sends(t.Context(), "first"); err != nil {
				t.Fatal(err)
			}
			proxy.CutAt("second", 1, true, then)
			err = s.sends(t.Context(), "second")
			if !proxy.Struck() {
				t.Fatal("no answer was lost")
			}
			proxy.Heal()
			if !errors.Is(err, c3po.UnknownOutcome) {
				t.Errorf("it ended with %v", err)
			}
			list, err := s.as("bob").GetMessages(t.Context(), c3po.GetMessagesInput{})
			if err != nil || list.Count != 2 {
				t.Errorf("%d messages are there (%v), want 2", list.Count, err)
			}
		})
	}
}
