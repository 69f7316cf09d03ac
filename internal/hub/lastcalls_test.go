package hub_test

import (
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

func TestAnAgentIsOnlineForThreeOfTheIntervalsItDeclared(t *testing.T) {
	for name, c := range map[string]struct {
		heartbeat    int
		there, later time.Duration
	}{
		"five seconds": {5, 14 * time.Second, 2 * time.Second},
		"five minutes": {300, 14 * time.Minute, 2 * time.Minute},
		"none":         {0, 89 * time.Second, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				h := build(t)
				other := h.neighbour()
				must(h.as("pump").RegisterAgent(t.Context(), c3po.RegisterInput{HeartbeatInterval: &c.heartbeat}))(t)
				pass(c.there)
				same(t, "within three intervals", other.agent("pump").Status, c3po.Online)
				same(t, "counted", must(other.Health(t.Context()))(t).AgentsOnline, 1)
				// A call moves the end, whichever coordinator somebody asks.
				must(h.as("pump").WhoAmI(t.Context(), c3po.None{}))(t)
				called := time.Now()
				pass(c.there)
				same(t, "after another call", other.agent("pump").Status, c3po.Online)
				pass(c.later)
				got := other.agent("pump")
				same(t, "later", got.Status, c3po.Offline)
				if off := got.LastSeen.Sub(called).Abs(); off > time.Second {
					t.Errorf("last_seen is %v off", off)
				}
				same(t, "counted", must(other.Health(t.Context()))(t).AgentsOnline, 0)
			})
		})
	}
}

func TestAnAgentThatCalledSeventyTwoSecondsAgoIsOnline(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		other := h.neighbour()
		h.enter("pump", "web")
		before := h.calls.of("WriteNotes")
		for range 25 {
			pass(time.Second)
			must(h.as("pump").WhoAmI(t.Context(), c3po.None{}))(t)
		}
		called := time.Now()
		pass(72 * time.Second)
		got := other.agent("pump")
		same(t, "status", got.Status, c3po.Online)
		if off := got.LastSeen.Sub(called).Abs(); off > time.Second {
			t.Errorf("last_seen is %v off, when a state depends on it", off)
		}
		if n := h.calls.of("WriteNotes") - before; n > 2 {
			t.Errorf("%d writes for 25 calls, want one or two", n)
		}
		pass(20 * time.Second)
		same(t, "92 seconds after its last call", other.agent("pump").Status, c3po.Offline)
	})
}

func TestACoordinatorThatStopsSaysWhenItsCallersLastCalled(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		other := h.neighbour()
		h.enter("pump")
		pass(20 * time.Second)
		must(h.as("pump").WhoAmI(t.Context(), c3po.None{}))(t)
		called := time.Now()
		h.stop()
		if off := other.agent("pump").LastSeen.Sub(called).Abs(); off > time.Second {
			t.Errorf("last_seen is %v off", off)
		}
	})
}

func TestAnIntervalOfDaysIsRefused(t *testing.T) {
	t.Parallel()
	h := build(t)
	_, err := h.as("pump").RegisterAgent(t.Context(), c3po.RegisterInput{HeartbeatInterval: new(3601)})
	refused(t, err, c3po.InvalidRequest, "heartbeat_interval is at most 3600 seconds")
}

func TestADeclaredIntervalIsWithdrawnWithZero(t *testing.T) {
	t.Parallel()
	h := build(t)
	must(h.as("pump").RegisterAgent(t.Context(), c3po.RegisterInput{HeartbeatInterval: new(300)}))(t)
	same(t, "left out", must(h.as("pump").RegisterAgent(t.Context(), c3po.RegisterInput{Type: "script"}))(t).Heartbeat, 300)
	same(t, "zero", must(h.as("pump").RegisterAgent(t.Context(), c3po.RegisterInput{HeartbeatInterval: new(0)}))(t).Heartbeat, 0)
	same(t, "stored", h.agent("pump").Heartbeat, 0)
}

func TestAnAgentWasLastSeenWhenItsWaitEnded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		other := h.neighbour()
		must(h.as("pump").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 10}))(t)
		ended := time.Now()
		pass(10 * time.Second)
		if off := other.agent("pump").LastSeen.Sub(ended).Abs(); off > time.Second {
			t.Errorf("last_seen is %v off", off)
		}
	})
}
