package claude_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// keepSending is a sender as patient as our programs are: it repeats itself with
// the same key until the coordinator has taken the message.
func (w *testCoordinator) keepSending(from, to c3po.AgentID, text string) <-chan c3po.Receipt {
	accepted := make(chan c3po.Receipt, 1)
	go func() {
		in := c3po.SendInput{Target: string(to), Message: text, ClientKey: fmt.Sprintf("%s to %s", from, to)}
		faultrig.Within(5*time.Minute, func() bool {
			receipt, err := w.as(from).SendMessage(w.t.Context(), in)
			if err == nil {
				accepted <- receipt
			}
			return err == nil || w.t.Context().Err() != nil
		})
	}()
	return accepted
}

// The coordinator is killed in the middle of a turn, is away for a while, and
// comes back; the session is the same all the time. With C3PO_TORTURE=1 it is
// away for a minute.
func TestAC6TheCoordinatorDiesAndComesBack(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	a := w.host("pi").agent("api", nil)
	a.model.Script = following(append(reading(always("got it")),
		rule{`"pong":true`, func(r request, _ []string) step {
			if r.Spoken("begin now") == 1 {
				w.coordinator.Kill()
				return call("ping", nil)
			}
			return say("IT-ANSWERS")
		}},
		on("COORD_DOWN", say("IT-IS-AWAY")),
		on("begin now|try again|and once more", call("ping", nil)))...)
	if _, err := w.as("sleeper").Ping(t.Context(), c3po.None{}); err != nil {
		t.Fatal(err)
	}
	w.send("web", "sleeper", "sent before")
	term := a.open()
	term.idle()
	w.awaitOnline("api")

	term.enter("begin now")
	eventually(t, 20*time.Second, "the tool says that it is down", func() bool { return a.model.Showing("COORD_DOWN") == 1 })
	died := time.Now()
	answer := a.model.Last().Fresh()
	if !strings.Contains(answer, "c3po coordinator is not reachable") {
		t.Errorf("the tool answered:\n%s", answer)
	}
	accepted := w.keepSending("web", "api", "sent meanwhile")
	term.see("IT-IS-AWAY")
	away := time.Duration(faultrig.Size(3, 60)) * time.Second
	select {
	case <-time.After(away):
	case <-t.Context().Done():
	}
	term.enter("try again")
	eventually(t, 20*time.Second, "the tool says so again", func() bool { return a.model.Showing("COORD_DOWN") == 2 })
	if n := strings.Count(term.screen(), "agents can't message each other"); n != 1 {
		t.Errorf("the person was told %d times, want once:\n%s", n, term.screen())
	}

	w.coordinator.Restart()
	back := time.Now()
	t.Logf("it was away for %v", back.Sub(died).Round(time.Millisecond))
	receipt := <-accepted
	got, err := w.as("web").WaitForMessage(t.Context(), c3po.WaitInput{MessageID: receipt.ID, Timeout: 60})
	if err != nil || got.Response != "got it" {
		t.Fatalf("what was sent meanwhile is answered with %q, %v\n%s", got.Response, err, term.screen())
	}
	t.Logf("what was sent meanwhile was answered %v after it came back", time.Since(back).Round(time.Millisecond))
	eventually(t, 20*time.Second, "the turn ends", func() bool { return strings.Contains(term.screen(), "NOTHING-MORE") })
	term.enter("and once more")
	eventually(t, 20*time.Second, "the tool answers", func() bool { return a.model.Showing(`"pong":true`) == 2 })

	if n := strings.Count(a.model.Last().All(), "| sent meanwhile"); n != 1 {
		t.Errorf("what was sent meanwhile was shown %d times", n)
	}
	if left := w.unacked("api"); len(left) != 0 {
		t.Errorf("left unacked: %v", left)
	}
	if kept := w.unacked("sleeper"); len(kept) != 1 {
		t.Errorf("of what was pending before there is %v", kept)
	}
	w.onlyHas("api", "sleeper", "web")
	tools, _ := ours(a.model.Seen()[0])
	if i := slices.IndexFunc(a.model.Seen(), func(r request) bool {
		now, _ := ours(r)
		return now != tools
	}); i >= 0 || tools == "" {
		t.Errorf("request %d has other tools of ours than the first", i)
	}
}

// It times, so it runs alone.
func TestWithoutACoordinatorTheSessionIsUnaffectedAndThePersonHearsItOnce(t *testing.T) {
	w := newTestCoordinator(t)
	h := w.host("pi")
	bare := h.agent("api", quiet)
	bare.plugin = ""
	plain := func() time.Duration { return bare.print("hello").took }
	if _, err := w.as("mailed").Ping(t.Context(), c3po.None{}); err != nil {
		t.Fatal(err)
	}
	w.send("web", "mailed", "for your information", noReply)
	const silent, well = "black hole", "all is well"
	for _, place := range []struct{ name, project, url string }{
		{"down", "api", "http://127.0.0.1:9"},
		{silent, "api", blackHole(t)},
		{"not a c3po", "api", newModel(t, quiet).URL},
		{well, "api", w.coordinator.URL()},
		{well + ", and there is mail", "mailed", w.coordinator.URL()},
	} {
		name := place.name
		a := h.agent(place.project, quiet)
		a.extra = append(a.extra, "C3PO_COORDINATOR_URL="+place.url)
		faultrig.Hold(t, name+": delay of a whole session of one turn", delay(func() time.Duration { return a.print("hello").took }, plain), maxTurnDelay)
		if name == silent {
			// One that says nothing is only known to be away after a while.
			a.model.Script = func(request) step {
				faultrig.Pass(t.Context(), 2500*time.Millisecond)
				return say("OK")
			}
		}
		p := a.print("hello")
		if away, told := !strings.HasPrefix(name, well), strings.Count(p.text(), "agents can't message each other"); away != (told > 0) {
			t.Errorf("%s: the person was told %d times:\n%s", name, told, p.text())
		}
		if strings.Contains(a.model.Read(), "agents can't message each other") {
			t.Errorf("%s: the model was told what is for the person", name)
		}
		if strings.Contains(p.text(), `"outcome":"error"`) || p.result != "OK" {
			t.Errorf("%s: a hook has failed:\n%s", name, p.text())
		}
	}
	a := h.agent("api", following(on("try it", call("ping", nil)), on("c3po coordinator is not reachable", say("IT-SAID-SO"))))
	a.extra = append(a.extra, "C3PO_COORDINATOR_URL=http://127.0.0.1:9")
	if p := a.print("try it"); p.result != "IT-SAID-SO" {
		t.Errorf("the tool answered:\n%s", p.text())
	}
}

// maxTurnDelay is how much longer a turn may take because of us.
const maxTurnDelay = 300 * time.Millisecond

// delay is how much longer something takes than it does without, the median of
// several pairs: what happens to a machine meanwhile happens to both of a pair.
func delay(with, without func() time.Duration) time.Duration {
	with() // warms up
	without()
	var longer []time.Duration
	for range 5 {
		longer = append(longer, with()-without())
	}
	slices.Sort(longer)
	return longer[len(longer)/2]
}

// The connection stands and nothing comes over it any more, which nobody can tell
// from a slow coordinator at first. A run that answers mail gives it two seconds at
// its end, any other none. It times, so it runs alone.
func TestACoordinatorThatFreezesDuringATurnDelaysItLittle(t *testing.T) {
	w := newTestCoordinator(t)
	h := w.host("pi")
	turn := func(freeze bool) func() time.Duration {
		return func() time.Duration {
			a := h.agent("api", func(request) step {
				if freeze {
					w.coordinator.Freeze()
				}
				return say("OK")
			})
			a.extra = append(a.extra, "C3PO_UNATTENDED=")
			p := a.print("hello")
			w.coordinator.Thaw()
			if p.result != "OK" || strings.Contains(p.text(), `"outcome":"error"`) {
				t.Errorf("the session was disturbed:\n%s", p.text())
			}
			return p.took
		}
	}
	faultrig.Hold(t, "frozen in the middle: delay of a turn", delay(turn(true), turn(false)), maxTurnDelay)
}
