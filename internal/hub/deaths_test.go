package hub_test

import (
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/store"
)

// A coordinator that starts finds the agents of the one before. It reports an end only of
// a process that was on its own host and was seen there.
func TestACoordinatorThatStartsReportsTheEndsItCanProve(t *testing.T) {
	for name, test := range map[string]struct {
		run     string
		sighted bool
		seen    bool // by the coordinator that starts
		died    bool
	}{
		"seen before, gone now": {"box:7:8", true, false, true},
		"seen before, still so": {"box:7:8", true, true, false},
		"never seen":            {"box:7:8", false, false, false},
		"of another host":       {"pi:7:8", true, false, false},
		"that is not a process": {"a-session", true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				var watched []c3po.AgentID
				h := configured(t, func(c *hub.Config) {
					c.Host, c.Sees = "box", func(string) bool { return test.seen }
					c.Entered = func(_ c3po.Space, id c3po.AgentID, _ string) { watched = append(watched, id) }
					must(c.Store.Register(t.Context(), c3po.DefaultSpace, store.RegisterStep{Want: "bob", Run: test.run, Sighted: test.sighted}))(t)
				})
				pass(time.Second)
				alive := h.agent("bob").Alive
				same(t, "died", alive != nil && !*alive, test.died)
				if test.died == (len(watched) == 1) {
					t.Errorf("its process is watched: %v", watched)
				}
			})
		})
	}
}

func TestAnAgentThatCallsAfterItsDeathWasReportedIsOnlineAgain(t *testing.T) {
	for name, calls := range map[string]func(h *testHub){
		"with a call": func(h *testHub) { must(h.asRun("bob", "box:7:8").Ping(h.t.Context(), c3po.None{}))(h.t) },
		"with a wait": func(h *testHub) {
			must(h.asRun("bob", "box:7:8").WaitForMessage(h.t.Context(), c3po.WaitInput{Timeout: 1}))(h.t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				h := build(t)
				calls(h)
				must(h.ProcessEnded(t.Context(), c3po.DefaultSpace, "bob", "box:7:8"))(t)
				same(t, "after its death", h.agent("bob").Status, c3po.Offline)
				if name == "with a call" {
					pass(3 * time.Second) // what was noted before it died does not bring it back
				}
				calls(h)
				pass(2 * time.Second)
				same(t, "after another call", h.agent("bob").Status, c3po.Online)
			})
		})
	}
}
