package hub_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

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
		same(t, "read, and not dealt with", texts(h.inbox("bob")), []string{"too late"})
		pass(15 * time.Minute)
		trace := h.trace(id)
		same(t, "after it", trace.State+" "+trace.Reason, "dead expired")
		same(t, "inbox", texts(h.inbox("bob")), []string{})
		told := h.inbox("alice")
		if len(told) != 1 || told[0].Kind != c3po.KindBounce || told[0].FromAgent != c3po.System || told[0].ExpectsReply {
			t.Fatalf("the sender reads %+v", told)
		}
		for _, words := range []string{string(id), "'bob'", "neither answered nor acked within 24 hours", "send_message"} {
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

func (c *calls) Reaper(ctx context.Context, node string, length time.Duration) (time.Duration, error) {
	if err := c.note("Reaper " + node); err != nil {
		return 0, err
	}
	return c.Store.Reaper(ctx, node, length)
}

func (c *calls) Tick(ctx context.Context, space c3po.Space, node string, interval time.Duration) (store.Pulse, error) {
	if err := c.note("Tick " + node); err != nil {
		return store.Pulse{}, err
	}
	return c.Store.Tick(ctx, space, node, interval)
}

func TestOneCoordinatorReaps(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.neighbour()
		h.enter("bob")
		pass(10*time.Minute + time.Second)
		// Which of the two began is anybody's guess.
		ticks := []int{h.calls.of("Tick node-1"), h.calls.of("Tick node-2")}
		slices.Sort(ticks)
		same(t, "ticks of the two", ticks, []int{0, 10})
	})
}

// Whoever follows a coordinator that died counts all the time since its last
// pass, so nothing expires late because of it.
func TestACoordinatorThatDiesIsReplacedAndNoTimeIsLost(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		id := h.send("alice", "bob", "hi").ID
		pass(10*time.Minute + time.Second)
		same(t, "ticks of the first", h.calls.of("Tick node-1"), 10)
		h.neighbour()
		// It is cut off: it neither renews its term nor gives it up.
		for _, name := range []string{"Reaper node-1", "Tick node-1"} {
			h.calls.failWith(name, errors.New("cut off"))
		}
		pass(2 * time.Minute)
		if h.calls.of("Tick node-2") == 0 {
			t.Error("nobody reaps two minutes after the first was cut off")
		}
		pass(24*time.Hour - 14*time.Minute)
		same(t, "a little less than a day", h.trace(id).State, c3po.StatePending)
		pass(5 * time.Minute)
		same(t, "a little more", h.trace(id).State, c3po.StateDead)
	})
}

func TestACoordinatorThatStopsLetsAnotherReap(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		pass(time.Minute + time.Second)
		h.stop()
		another := must(h.model.Reaper(t.Context(), "node-2", time.Minute))(t)
		same(t, "another one's term", another, time.Duration(0))
	})
}

// A coordinator that does not reach everything gives the work back, so that one
// that does can have it.
func TestACoordinatorThatFailsToReapLetsAnotherTry(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		h.calls.failWith("Tick node-1", errors.New("its shard is not reached"))
		pass(time.Minute + time.Second)
		another := must(h.model.Reaper(t.Context(), "node-2", time.Minute))(t)
		same(t, "another one's term", another, time.Duration(0))
	})
}
