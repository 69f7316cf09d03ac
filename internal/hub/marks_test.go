package hub_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/store"
)

// where is where the default space stands.
func (h *testHub) where() store.Sequence {
	h.t.Helper()
	return must(h.model.Sequence(h.t.Context(), c3po.DefaultSpace))(h.t)
}

func TestAStoreThatWentBackIsNoticedInASpaceThatWasWrittenTo(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("alice", "bob")
		before := h.where()
		for i := range 5 {
			h.send("alice", "bob", fmt.Sprint(i))
		}
		h.model.Forget(c3po.DefaultSpace, before.Last)
		began := time.Now()
		for h.where().Epoch == 1 && time.Since(began) < time.Minute {
			pass(100 * time.Millisecond)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it was noticed after %v, want 5 s", took)
		}
		now := h.where()
		same(t, "epoch", now.Epoch, int64(2))
		if lost := before.Last + 5; now.Last <= lost+store.EpochMargin {
			t.Errorf("numbers go on from %d, want beyond %d", now.Last, lost+store.EpochMargin)
		}
		pass(time.Minute)
		same(t, "epoch later", h.where().Epoch, int64(2))
		same(t, "the node is ready", h.Ready(t.Context()), nil)
		h.send("alice", "bob", "life goes on")
		same(t, "inbox", texts(h.inbox("bob")), []string{"life goes on"})
		audit := must(h.asPerson().Fsck(t.Context(), c3po.None{}))(t)
		same(t, "balanced", audit.Balanced, true)
		same(t, "fsck tells the epoch", audit.Epoch, int64(2))
	})
}

func TestAStoreThatWentBackIsNoticedHoweverMuchWasWrittenSince(t *testing.T) {
	for name, writes := range map[string]func(h, other *testHub, text string){
		"by another node":    func(_, other *testHub, text string) { other.send("carol", "bob", text) },
		"by this node":       func(h, _ *testHub, text string) { h.send("carol", "bob", text) },
		"by this node later": func(h, other *testHub, text string) { other.send("carol", "bob", text); h.send("dave", "bob", text) },
	} {
		t.Run(name, func(t *testing.T) { wentBackAndOn(t, writes) })
	}
}

func wentBackAndOn(t *testing.T, writes func(h, other *testHub, text string)) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		other := h.neighbour()
		h.enter("alice", "bob", "carol", "dave")
		other.enter("carol")
		before := h.where()
		for i := range 5 {
			h.send("alice", "bob", fmt.Sprint("forgotten ", i))
		}
		h.model.Forget(c3po.DefaultSpace, before.Last)
		pass(100 * time.Millisecond)
		for i := range 8 {
			writes(h, other, fmt.Sprint("new ", i))
		}
		if now := h.where(); now.Last <= before.Last+5 {
			t.Fatalf("the store is at %d, which shows the loss by itself: the test proves nothing", now.Last)
		}
		pass(5 * time.Second)
		now := h.where()
		same(t, "epoch", now.Epoch, int64(2))
		pass(time.Minute)
		h.send("alice", "bob", "life goes on")
		pass(time.Minute)
		same(t, "epoch later", h.where().Epoch, int64(2))
	})
}

func TestAStoreThatKeepsEverythingRaisesNoAlarm(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		other := h.neighbour()
		h.enter("alice", "bob")
		h.joinRoom("hall", "alice", "bob")
		for i := range 30 {
			asked := h.send("alice", "bob", fmt.Sprint(i))
			other.send("bob", "alice", fmt.Sprint(i))
			if i%3 == 0 {
				h.reply("bob", asked.ID, "yes")
				h.say("alice", "hall", "still here")
			}
			pass(30*time.Second + time.Duration(i)*10*time.Millisecond)
		}
		same(t, "epoch", h.where().Epoch, int64(1))
	})
}

func TestTwoNodesRaiseTheEpochOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		other := h.neighbour()
		h.enter("alice", "bob")
		before := h.where().Last
		for range 3 {
			h.send("alice", "bob", "from here")
			other.send("bob", "alice", "from there")
		}
		h.model.Forget(c3po.DefaultSpace, before)
		pass(30 * time.Second)
		same(t, "epoch", h.where().Epoch, int64(2))
		events := must(h.model.Events(t.Context(), c3po.DefaultSpace, before, 100))(t)
		same(t, "events", len(events), 1)
		same(t, "kind", events[0].Kind, c3po.EventRollback)
	})
}

func TestASpaceNobodyTouchesIsNotLookedAfter(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("alice", "bob")
		h.send("alice", "bob", "hi")
		pass(11 * time.Minute)
		h.model.Forget(c3po.DefaultSpace, 1)
		pass(time.Minute)
		same(t, "epoch", h.where().Epoch, int64(1))
	})
}

func TestAStoreThatWentBackMakesEverybodyLook(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("alice", "bob")
		h.send("alice", "bob", "one")
		h.send("alice", "bob", "two")
		// Bob's place is beyond what the store knows after it went back.
		after := h.where().Last
		wait := h.waitFor("bob", c3po.WaitInput{After: &after, Timeout: 60})
		h.model.Forget(c3po.DefaultSpace, 2)
		h.model.DropWakes(1)
		h.send("alice", "bob", "under a number that was used before")
		if wait.isDone() {
			t.Fatal("the wait has ended before the loss was noticed: the test proves nothing")
		}
		same(t, "mail", wait.result(t).Text(), "under a number that was used before")
		same(t, "epoch", h.where().Epoch, int64(2))
	})
}

func TestAfterAStoreWentBackEverybodyRegistersAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("alice", "bob")
		before := h.where().Last
		h.send("alice", "bob", "hi")
		registered := h.calls.of("Register")
		h.model.Forget(c3po.DefaultSpace, before)
		pass(10 * time.Second)
		h.inbox("bob")
		same(t, "bob was registered again", h.calls.of("Register")-registered, 1)
	})
}

// A tally counts like a Meter of the operators'.
type tally struct {
	hub.Meter
	mu    sync.Mutex
	count map[string]int
}

func (m *tally) Warned(string) {}

func (m *tally) add(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count[what]++
}

func (m *tally) Accepted(kind c3po.Kind, d c3po.Durability) {
	m.add(fmt.Sprint("accepted ", kind, " ", d))
}
func (m *tally) Repeated()               { m.add("repeated") }
func (m *tally) Rejected(code c3po.Code) { m.add(fmt.Sprint("rejected ", code)) }
func (m *tally) Served(route string, again bool, after time.Duration) {
	m.add(fmt.Sprint("served ", route, " ", again, " ", after))
}
func (m *tally) Woken(after time.Duration) { m.add(fmt.Sprint("woken ", after)) }
func (m *tally) Acked(n int)               { m.add(fmt.Sprint("acked ", n)) }
func (m *tally) Buried(reason string)      { m.add("buried " + reason) }
func (m *tally) Damaged()                  { m.add("damaged") }
func (m *tally) RolledBack()               { m.add("rolled back") }

func TestEveryThingThatHappensIsCountedOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.stop()
		counted := &tally{count: map[string]int{}}
		limits := c3po.DefaultLimits()
		limits.SendsPerMinute = 4
		var log strings.Builder
		h.Hub = hub.New(hub.Config{Store: h.calls, Limits: limits, Meter: counted, Log: slog.New(slog.NewTextHandler(&log, nil))})
		go func() { _ = h.Run(t.Context()) }()

		h.enter("alice", "bob")
		key := c3po.SendInput{Target: "bob", Message: "one", ClientKey: "k"}
		must(h.as("alice").SendMessage(t.Context(), key))(t)
		must(h.as("alice").SendMessage(t.Context(), key))(t)
		pass(3 * time.Second)
		one := h.inbox("bob")[0]
		h.inbox("bob")
		h.reply("bob", one.ID, "yes")
		wait := h.waitFor("bob", c3po.WaitInput{})
		two := h.send("alice", "bob", "two")
		wait.result(t)
		must(h.as("bob").AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{two.ID}}))(t)
		three := h.send("alice", "bob", "three")
		h.model.Spoil(c3po.DefaultSpace, three.ID)
		h.inbox("bob")
		_, err := h.as("alice").SendMessage(t.Context(), c3po.SendInput{Target: "nobody", Message: "x"})
		refused(t, err, c3po.AgentNotFound)
		must(h.as("alice").SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: "four"}))(t)
		_, err = h.as("alice").SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: "five"})
		refused(t, err, c3po.RateLimited)
		must(h.as("bob").EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: "what now?"}))(t)
		h.model.Forget(c3po.DefaultSpace, 4)
		pass(10 * time.Second)

		counted.mu.Lock()
		defer counted.mu.Unlock()
		same(t, "counted", counted.count, map[string]int{
			"accepted message fsync": 4, "accepted reply fsync": 1, "accepted escalation fsync": 1, "repeated": 1,
			"rejected AGENT_NOT_FOUND": 1, "rejected RATE_LIMITED": 1,
			"served rest false 3s": 1, "served rest true 3s": 1, "served rest false 0s": 1, "woken 0s": 1,
			"acked 1": 2, "damaged": 1, "buried corrupt": 1, "rolled back": 1,
		})
		synctest.Wait()
		for _, secret := range []string{"three", "what now?", "yes"} {
			if strings.Contains(log.String(), secret) {
				t.Errorf("the log holds the body %q", secret)
			}
		}
		for _, kind := range []string{"registered", "accepted", "answered", "acked", "dead"} {
			if !strings.Contains(log.String(), "kind="+kind) {
				t.Errorf("the log does not tell of %s:\n%s", kind, log.String())
			}
		}
	})
}

func (c *calls) Sequence(ctx context.Context, space c3po.Space) (store.Sequence, error) {
	if err := c.note("Sequence"); err != nil {
		return store.Sequence{}, err
	}
	return c.Store.Sequence(ctx, space)
}

// A coordinator looks where a space stands because it has written to it, and
// because somebody waits there. One look does for both.
func TestASpaceThatIsWaitedInIsComparedOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("bob")
		waiter := start(func() (c3po.WaitResult, error) {
			return h.as("bob").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 600})
		})
		pass(time.Minute)
		before := h.calls.of("Sequence")
		pass(5 * time.Minute)
		// Every five seconds, and now and then by both: 135 if each goes its own way.
		if n := h.calls.of("Sequence") - before; n > 100 || n < 60 {
			t.Errorf("a space was compared %d times in five minutes, want 60 to 100", n)
		}
		h.stop()
		waiter.atOnce(t)
	})
}
