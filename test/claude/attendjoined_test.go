package claude_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// Two hosts with a wire between them and nothing else in common: the coordinator is on one,
// the session was closed on the other, seven hours before.
func TestHoursLaterAnAgentOnAnotherHostAsksASessionThatWasClosedOnAJoinedOne(t *testing.T) {
	t.Parallel()
	claudeBinary(t)
	w := &testCoordinator{t: t}
	pi, mesh := w.host("pi"), w.host("meshbox")
	pi.network, mesh.network = newNetwork(t, 3), newNetwork(t, 4)
	pi.network.join(mesh.network, "192.0.2.1", "192.0.2.2")
	clock := faultrig.NewClock(t)
	base := pi.nas("192.0.2.1", clock.Env()...) // its Redis goes by it
	shown := func() string {
		out, _ := base.command(base.binary, "agents", "meshbox/printer", "--json") // it may not be there yet
		return out
	}
	is := func(what string) {
		t.Helper()
		// After the clock was moved, that takes until the coordinator renews its lease.
		eventually(t, c3po.DefaultLimits().NodeLease, "the agent is "+what, func() bool {
			return strings.Contains(shown(), what)
		})
	}
	b := base.joined(mesh, "printer", remembering(neverFirst))
	c := &closedSession{agent: b, binary: filepath.Join(b.home(), ".local", "bin", "c3po")}
	term := b.open()
	term.idle()
	is(`"online"`)
	term.enter("The port of the printer is 9100.")
	term.rest()
	term.enter("/exit")
	is(`"offline"`)
	b.must(c.binary, "attend", "allow", "printer")
	c.id = c.listed().Session
	c.attend()
	is(`"starts_when_mailed"`)

	before := shown()
	clock.Move(7 * time.Hour)
	eventually(t, 20*time.Second, "hours have passed", func() bool { return shown() != before })
	t.Logf("hours later:\n%s", shown())
	is(`"starts_when_mailed"`)
	a := pi.agent("office", following(
		on("Which port", call("send_message", map[string]any{"target": "meshbox/printer", "message": "Which port has the printer?", "wait_seconds": 60})),
		rule{"the answer came", func(r request, _ []string) step { return say("It is %s", written(r.Fresh())) }},
	))
	if p := a.print("Which port has the printer?"); p.result != "It is 9100" {
		t.Errorf("it reported %q\n%s", p.result, p.text())
	}
	eventually(t, 20*time.Second, "no process has the session", func() bool { return len(c.processes("--resume "+c.id)) == 0 })
	is(`"starts_when_mailed"`)
	if all := c.transcripts(); !slices.Equal(all, []string{c.id}) {
		t.Errorf("the conversations are %v, want only %s", all, c.id)
	}
	if n := c.listed().Starts; n != 1 {
		t.Errorf("%d starts", n)
	}
}
