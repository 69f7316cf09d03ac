package remote_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// The name may be the card's word, so that the other system would choose whose mail it gets.
func TestARemoteTakesNobodysName(t *testing.T) {
	t.Parallel()
	f := newForeign(t, "1.0", func(string, int) (int, string) { return 200, result(`{"task":` + completed + `}`) })
	s := newSite(t)
	s.run()
	if _, err := s.as("busy").WhoAmI(t.Context(), c3po.None{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.as("boss").SendMessage(t.Context(), c3po.SendInput{Target: "busy", Message: "CONFIDENTIAL"}); err != nil {
		t.Fatal(err)
	}
	_, err := s.tryAdd(f.URL, "busy", "")
	if refusal := c3po.AsError(err); !errors.Is(err, c3po.InvalidRequest) || !strings.Contains(refusal.Message, "'busy' is not free") || !strings.Contains(refusal.Suggestion, "--name OTHER") {
		t.Errorf("adding it is answered with %v", err)
	}
	s.add(f.URL, "")
	if _, err := s.tryAdd(f.URL, "billing", ""); !errors.Is(err, c3po.InvalidRequest) {
		t.Errorf("adding one twice is answered with %v", err)
	}
	if got := s.ask("order 7"); got.Response != "Invoice 7" {
		t.Errorf("the answer is %+v", got)
	}
	if ids := f.asked(); len(ids) != 1 {
		t.Errorf("it was sent %v", ids)
	}
	mail, err := s.as("busy").GetMessages(t.Context(), c3po.GetMessagesInput{})
	if err != nil || len(mail.Messages) != 1 {
		t.Errorf("the agent has %+v, %v", mail, err)
	}
}

func TestOfManyThatAddOneNameOneDoes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var all sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		all.Go(func() { _, errs[i] = s.tryAdd("http://x", "billing", "") })
	}
	all.Wait()
	added := 0
	for _, err := range errs {
		switch {
		case err == nil:
			added++
		case !errors.Is(err, c3po.InvalidRequest):
			t.Error(err)
		}
	}
	there, err := s.keeper.FollowRemotes().List(t.Context())
	if added != 1 || len(there) != 1 || err != nil {
		t.Errorf("%d were told that they added it; there are %v, %v", added, there, err)
	}
}

func TestNobodyTakesTheNameOfARemote(t *testing.T) {
	t.Parallel()
	f := newForeign(t, "1.0", func(string, int) (int, string) { return 200, result(`{"task":` + completed + `}`) })
	s := newSite(t)
	stop := s.run()
	s.add(f.URL, "")
	s.ask("order 7")
	for _, when := range []string{"while it is served", "after its coordinator stopped"} {
		session, err := s.hub.As(c3po.Caller{Space: c3po.DefaultSpace, ID: "billing", Run: "host:1:" + when, Role: c3po.RoleAgent}).WhoAmI(t.Context(), c3po.None{})
		if err != nil || session.ID == "billing" {
			t.Errorf("%s a session is %q, %v", when, session.ID, err)
		}
		if _, err := s.as("billing").GetMessages(t.Context(), c3po.GetMessagesInput{}); !errors.Is(err, c3po.Forbidden) {
			t.Errorf("%s a caller without a run reads its mail: %v", when, err)
		}
		stop()
	}
	s = s.next("two")
	s.run()
	if got := s.ask("order 8"); got.Response != "Invoice 7" {
		t.Errorf("the answer is %+v", got)
	}
}

func TestARemovedRemoteIsGoneAndItsAskersHearOfIt(t *testing.T) {
	t.Parallel()
	f := newForeign(t, "1.0", func(method string, _ int) (int, string) {
		if method == "SendMessage" {
			return 200, result(`{"task":` + working + `}`)
		}
		return 200, result(working)
	})
	s := newSite(t)
	s.run()
	added := s.add(f.URL, "")
	id := s.send("order 7")
	if !faultrig.Within(30*time.Second, func() bool { return len(f.asked()) == 1 }) {
		t.Fatal("it was not asked")
	}
	if _, err := s.keeper.RemoveRemote(t.Context(), c3po.Caller{Space: c3po.DefaultSpace, ID: "web", Role: c3po.RoleAgent}, "billing"); !errors.Is(err, c3po.Forbidden) {
		t.Errorf("an agent removes it: %v", err)
	}
	if _, err := s.keeper.RemoveRemote(t.Context(), s.admin(), "web"); !errors.Is(err, c3po.AgentNotFound) {
		t.Errorf("an agent of this system is removed: %v", err)
	}
	if removed, err := s.keeper.RemoveRemote(t.Context(), s.admin(), "billing"); err != nil || removed != added {
		t.Fatalf("removed is %+v, %v", removed, err)
	}
	if got := s.answer(id); got.Status != c3po.ReplyError || !strings.Contains(got.Response, "'billing' was removed before it answered") {
		t.Errorf("the asker hears %+v", got)
	}
	if !faultrig.Within(30*time.Second, func() bool {
		_, err := s.as("web").SendMessage(t.Context(), c3po.SendInput{Target: "billing", Message: "order 8"})
		return errors.Is(err, c3po.AgentNotFound)
	}) {
		t.Error("it can still be sent mail")
	}
	self, err := s.as("billing").WhoAmI(t.Context(), c3po.None{})
	if err != nil || self.Type == c3po.TypeRemote || self.Standing(time.Now(), time.Now()) != "last call just now" || self.Unread != 0 {
		t.Errorf("who has the name next is %+v, %v", self, err)
	}
}

func TestARemoteThatWasRemovedWhileNobodyServedItIsGoneToo(t *testing.T) {
	t.Parallel()
	f := newForeign(t, "1.0", func(string, int) (int, string) { return 200, result(`{"task":` + completed + `}`) })
	s := newSite(t)
	stop := s.run()
	s.add(f.URL, "")
	s.ask("order 7")
	stop()
	if _, err := s.keeper.RemoveRemote(t.Context(), s.admin(), "billing"); err != nil {
		t.Fatal(err)
	}
	s = s.next("two")
	s.run()
	if !faultrig.Within(30*time.Second, func() bool {
		_, err := s.as("web").SendMessage(t.Context(), c3po.SendInput{Target: "billing", Message: "order 8"})
		return errors.Is(err, c3po.AgentNotFound)
	}) {
		t.Error("it can still be sent mail")
	}
}
