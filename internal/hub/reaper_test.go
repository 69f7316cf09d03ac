package hub_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
)

// Claims: A8
func TestUnreadMailExpiresAndItsSenderIsToldOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		id := h.send("alice", "bob", "too late").ID
		h.send("alice", c3po.Human, "a person takes their time")
		pass(23*time.Hour + 50*time.Minute)
		same(t, "before its time", h.trace(id).State, c3po.StatePending)
		if words := h.trace(id).Expires; !strings.HasPrefix(words, "in 1") || !strings.HasSuffix(words, "min") {
			t.Errorf("expires %q", words)
		}
		pass(15 * time.Minute)
		trace := h.trace(id)
		same(t, "after it", trace.State+" "+trace.Reason, "dead expired")
		same(t, "inbox", texts(h.inbox("bob")), []string{})
		told := h.inbox("alice")
		if len(told) != 1 || told[0].Kind != c3po.KindBounce || told[0].FromAgent != c3po.System || told[0].ExpectsReply {
			t.Fatalf("the sender reads %+v", told)
		}
		for _, words := range []string{string(id), "'bob'", "24 hours", "send_message"} {
			if !strings.Contains(told[0].Message, words) {
				t.Errorf("the bounce %q does not say %q", told[0].Message, words)
			}
		}
		same(t, "the person's mail", must(h.asPerson().HumanList(t.Context(), c3po.GetMessagesInput{}))(t).Count, 1)

		pass(25 * time.Hour)
		same(t, "bounces of bounces", texts(h.inbox("alice")), []string{})
		audit := must(h.asPerson().Fsck(t.Context(), c3po.None{}))(t)
		if !audit.Balanced || audit.Dead != 2 {
			t.Errorf("audit = %+v", audit)
		}
	})
}

func TestAnEndedMessageIsForgottenAfterItsLife(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, func(l *c3po.Limits) { l.EndedLife = 3 * time.Hour })
		h.enter("bob")
		id := h.send("alice", "bob", "hi").ID
		must(h.as("bob").AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{id}}))(t)
		pass(3*time.Hour - 5*time.Minute)
		same(t, "in its life", h.trace(id).State, c3po.StateAcked)
		pass(10 * time.Minute)
		_, err := h.asPerson().Trace(t.Context(), c3po.MessageInput{MessageID: id})
		refused(t, err, c3po.InvalidRequest)
	})
}

func TestAClockThatJumpsExpiresNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		id := h.send("alice", "bob", "hi").ID
		pass(2 * time.Minute)
		h.model.Advance(48 * time.Hour)
		for range 3 {
			if err := h.Reap(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		same(t, "state", h.trace(id).State, c3po.StatePending)
	})
}

func TestOnePassBuriesEverythingThatIsDue(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, func(l *c3po.Limits) { l.SendsPerMinute, l.MessageLife = 0, 10*time.Minute })
		h.enter("bob")
		for i := range 250 {
			h.send("alice", "bob", fmt.Sprint(i))
		}
		// The first pass only starts the count of lived time.
		pass(11*time.Minute + 30*time.Second)
		same(t, "left in the inbox", len(h.inbox("bob")), 0)
		same(t, "bounces", must(h.as("alice").Peek(t.Context(), c3po.GetMessagesInput{}))(t).Count, 250)
	})
}
