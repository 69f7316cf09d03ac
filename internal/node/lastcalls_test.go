package node

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

func TestTheStoreHearsOfACallJustBeforeTheAgentWouldBeOffline(t *testing.T) {
	t.Parallel()
	for name, heartbeat := range map[string]int{"by the limits": 0, "by its heartbeat": 20} {
		synctest.Test(t, func(t *testing.T) {
			limits := c3po.DefaultLimits()
			online := store.OnlineFor(limits, heartbeat)
			calls, key := NewLastCalls(limits), agentKey{"main", "api"}
			began := time.Now()
			told := []time.Duration{}
			// pass looks every second, as the notes do, and notes when the store hears of a call.
			pass := func(d time.Duration) {
				for range d / time.Second {
					<-time.After(time.Second)
					for of, ago := range calls.takeDue(false) {
						if of != key || !time.Now().Add(-ago).Equal(calls.last(key)) {
							t.Errorf("%s: it hears of a call of %v %v ago", name, of, ago)
						}
						told = append(told, time.Since(began))
					}
				}
			}
			calls.Record("main", "api", heartbeat, true)
			pass(online / 2)
			calls.Record("main", "api", heartbeat, false)
			pass(online - 10*time.Second)
			if len(told) != 1 || told[0] < online-lateMargin-time.Second || told[0] >= online {
				t.Errorf("%s: it heard of the call after %v, and the agent was online for %v", name, told, online)
			}
			if calls.last(key).IsZero() {
				t.Errorf("%s: a call of less than %v ago is forgotten", name, online)
			}
			pass(online)
			if len(told) != 1 || !calls.last(key).IsZero() {
				t.Errorf("%s: of a silent agent it heard %v, and the last call is known: %v", name, told, calls.last(key))
			}
			// What the store hears of anyway is not said again.
			told = nil
			for range 4 {
				calls.Record("main", "api", heartbeat, true)
				pass(online / 2)
			}
			if len(told) != 0 || calls.last(key).IsZero() {
				t.Errorf("%s: of calls that it knows it heard after %v", name, told)
			}
			<-time.After(time.Second)
			calls.Record("main", "api", heartbeat, false)
			if all := calls.takeDue(true); len(all) != 1 || all[key] != 0 {
				t.Errorf("%s: at the end it hears of %v", name, all)
			}
			if all := calls.takeDue(true); len(all) != 0 {
				t.Errorf("%s: and again of %v", name, all)
			}
		})
	}
}

// While the test runs the wall clock as good as stands, as it does for a process whose clock
// is set back.
func TestAClockThatIsSetBackHoldsNoCallBack(t *testing.T) {
	t.Parallel()
	limits := c3po.DefaultLimits()
	calls, key := NewLastCalls(limits), agentKey{"main", "api"}
	var passed time.Duration
	calls.elapsed = func() time.Duration { return passed }
	calls.Record("main", "api", 0, true)
	passed = 10 * time.Second
	calls.Record("main", "api", 0, false)
	passed = limits.OnlineWindow - lateMargin
	if late := calls.takeDue(false); len(late) != 1 || late[key] != passed-10*time.Second {
		t.Errorf("after %v the store hears of %v", passed, late)
	}
}
