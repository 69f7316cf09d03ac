package hub_test

import (
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// Whatever has happened since, the same request with the same key finds what is stored.
func TestARepeatFindsTheStoredMessageWhateverHasChangedSince(t *testing.T) {
	for name, c := range map[string]struct {
		limits  func(*c3po.Limits)
		target  string
		ifAway  string
		changes func(*testing.T, *testHub)
	}{
		"the only member left the queue": {target: "role:pay", changes: func(_ *testing.T, h *testHub) {
			h.join("payer", "nothing")
		}},
		"every member of the queue is away": {target: "role:pay", ifAway: "fail", changes: func(*testing.T, *testHub) {
			pass(time.Hour)
		}},
		"the recipient is away": {target: "payer", ifAway: "fail", changes: func(*testing.T, *testHub) {
			pass(time.Hour)
		}},
		"a second agent has the bare name": {target: "joe", changes: func(_ *testing.T, h *testHub) {
			h.enter("h2/joe")
		}},
		"an agent has the bare name as its whole id": {target: "joe", changes: func(_ *testing.T, h *testHub) {
			h.enter("joe")
		}},
		"another run has the sender's name": {target: "payer", changes: func(t *testing.T, h *testHub) {
			must(h.asRun("ann", "r2").RegisterAgent(t.Context(), c3po.RegisterInput{}))(t)
		}},
		"the sender has sent all it may in a minute": {limits: func(l *c3po.Limits) { l.SendsPerMinute = 1 }, target: "payer",
			changes: func(*testing.T, *testHub) {}},
		"the inbox is full": {limits: func(l *c3po.Limits) { l.InboxMessages, l.SenderShare = 1, 1 }, target: "payer",
			changes: func(*testing.T, *testHub) {}},
		"its text was sent too often": {limits: func(l *c3po.Limits) { l.SameTexts = 1 }, target: "payer",
			changes: func(*testing.T, *testHub) {}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				h := build(t, func(l *c3po.Limits) {
					if c.limits != nil {
						c.limits(l)
					}
				})
				h.join("payer", "pay")
				h.enter("h1/joe")
				must(h.asRun("ann", "r1").RegisterAgent(t.Context(), c3po.RegisterInput{}))(t)
				in := c3po.SendInput{Target: c.target, Message: "pay the invoice", ClientKey: "k", IfAway: c.ifAway}
				first := must(h.asRun("ann", "r1").SendMessage(t.Context(), in))(t)
				c.changes(t, h)
				again, err := h.asRun("ann", "r1").SendMessage(t.Context(), in)
				if err != nil {
					t.Fatalf("the message is stored, and its repeat is answered: %v", err)
				}
				same(t, "id", again.ID, first.ID)
			})
		})
	}
}

func TestARefusalSaysWhenNothingIsStoredUnderItsKey(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, func(l *c3po.Limits) { l.SendsPerMinute = 1 })
		h.enter("ann")
		h.enter("bob")
		send := func(in c3po.SendInput) *c3po.Error {
			_, err := h.as("ann").SendMessage(t.Context(), in)
			return c3po.AsError(err)
		}
		for what, in := range map[string]c3po.SendInput{
			"no agent":  {Target: "nobody", Message: "hi", ClientKey: "k"},
			"no member": {Target: "role:none", Message: "hi", ClientKey: "k"},
		} {
			if e := send(in); e == nil || !e.NotStored {
				t.Errorf("%s: %+v", what, e)
			}
		}
		if e := send(c3po.SendInput{Target: "bob", Message: "one", ClientKey: "one"}); e != nil {
			t.Fatal(e)
		}
		if e := send(c3po.SendInput{Target: "bob", Message: "two", ClientKey: "two"}); e == nil || e.Code != c3po.RateLimited || !e.NotStored {
			t.Errorf("over the limit: %+v", e)
		}
		if e := send(c3po.SendInput{Target: "bob", Message: "else", ClientKey: "one"}); e == nil || e.Code != c3po.KeyConflict || e.NotStored {
			t.Errorf("a key that holds another message: %+v", e)
		}
		if e := send(c3po.SendInput{Target: "bob", Message: "two"}); e == nil || e.NotStored {
			t.Errorf("without a key: %+v", e)
		}
		if e := send(c3po.SendInput{Target: "bob", ClientKey: "three"}); e == nil || e.NotStored {
			t.Errorf("refused before anybody looked: %+v", e)
		}
		_, err := h.as("ann").RoomPost(t.Context(), c3po.RoomPostInput{Room: "hall", Message: "hi", ClientKey: "post"})
		if e := c3po.AsError(err); e == nil || !e.NotStored {
			t.Errorf("a post: %+v", e)
		}
	})
}
