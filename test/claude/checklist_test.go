package claude_test

import (
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// The checklist of the design, line by line and in its words, in one session of a
// person at a terminal. Each line needs those before it.
func TestTheChecklistOfTheDesign(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	h := w.host("pi")
	a := h.agent("homeassistant", nil)
	binary := strings.TrimPrefix(a.extra[0], "C3PO_BINARY=")
	if _, err := w.as("meshtastic").Ping(t.Context(), c3po.None{}); err != nil {
		t.Fatal(err)
	}
	var during c3po.Receipt
	a.model.Script = following(append(reading(always("I am up")),
		on("who is there", call("list_agents", nil)),
		on("ask meshtastic", call("send_message", map[string]any{"target": "meshtastic", "message": "What topics?"})),
		rule{"work for a while", func(request, []string) step {
			during = w.send("meshtastic", "homeassistant", "Are you done?")
			return say("WORKED")
		}},
		on("wait for them", call("wait_for_message", map[string]any{"timeout": 600})),
		on("is it there", call("ping", nil)),
		on("COORD_DOWN", say("IT-IS-AWAY")),
	)...)
	var term *terminal
	line := func(words string, check func(t *testing.T)) {
		if !t.Failed() && !t.Run(words, check) && term != nil {
			t.Log(term.screen())
		}
	}
	answered := func(t *testing.T, id c3po.MessageID) {
		t.Helper()
		got, err := w.as("meshtastic").WaitForMessage(t.Context(), c3po.WaitInput{MessageID: id, Timeout: 30})
		if err != nil || got.Response != "I am up" {
			t.Fatalf("the answer is %q, %v", got.Response, err)
		}
	}

	line("Install plugin on fresh CC instance", func(t *testing.T) {
		a.plugin, a.extra = "", a.extra[1:]
		if out := a.must(binary, "install", "claude"); !strings.Contains(out, "Claude Code has c3po with 11 tools") {
			t.Errorf("it says:\n%s", out)
		}
	})
	line("Agent registers with folder name", func(t *testing.T) {
		term = a.open()
		term.idle()
		w.awaitOnline("homeassistant")
		w.onlyHas("homeassistant", "meshtastic")
	})
	line("list_agents shows registered agents", func(t *testing.T) {
		term.enter("who is there")
		for _, id := range []string{"homeassistant", "meshtastic"} {
			eventually(t, 20*time.Second, id+" is shown", func() bool { return a.model.Showing("| "+id+": online") == 1 })
		}
		term.rest()
	})
	line("Send request to another agent", func(t *testing.T) {
		term.enter("ask meshtastic")
		eventually(t, 20*time.Second, "the request is there", func() bool {
			mail := w.unacked("meshtastic")
			return len(mail) == 1 && mail[0].Message == "What topics?" && mail[0].FromAgent == "homeassistant"
		})
		term.rest()
	})
	line("Receive and respond to request", func(t *testing.T) {
		answered(t, w.send("meshtastic", "homeassistant", "Are you up?").ID)
		term.rest()
	})
	line("Stop hook triggers on pending request", func(t *testing.T) {
		term.enter("work for a while")
		term.see("Ran 1 stop hook")
		answered(t, during.ID)
		term.rest()
	})
	line("Human interrupt works during coordination", func(t *testing.T) {
		term.enter("wait for them")
		eventually(t, 20*time.Second, "it waits", func() bool { return strings.Contains(term.screen(), "Calling plugin") })
		term.press("Escape")
		term.see("Interrupted")
	})
	line("Name collision produces unique name", func(t *testing.T) {
		second := h.agent("homeassistant", quiet)
		second.plugin, second.extra = "", second.extra[1:]
		second.print("hello")
		w.onlyHas("homeassistant", "homeassistant-2", "meshtastic")
	})
	line("Coordinator down: graceful error message", func(t *testing.T) {
		w.coordinator.Kill()
		term.enter("is it there")
		term.see("IT-IS-AWAY")
		if said := a.model.Last().All(); !strings.Contains(said, "c3po coordinator is not reachable") {
			t.Errorf("the tool said:\n%s", a.model.Last().Fresh())
		}
	})
}

// The one who is asked dies with the question before it. Who asked need not wait
// for an answer that cannot come, and the question is not lost.
func TestTheAgentThatIsAskedIsKilledAndWhoAskedHearsItAtOnce(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	nas := w.host("nas")
	b := nas.agent("meshtastic", nil)
	killed := make(chan struct{})
	term := &terminal{}
	b.model.Script = func(request) step {
		kill(t, term.pid)
		close(killed)
		return say("never heard")
	}
	*term = *b.open()
	term.idle()
	w.awaitOnline("meshtastic")
	a := w.host("pi").agent("homeassistant", following(
		on("Ask meshtastic", call("send_message", map[string]any{"target": "meshtastic", "message": "What topics?", "wait_seconds": 120})),
		on(`(went offline|its process ended) before it answered`, say("IT-DID-NOT-ANSWER"))))
	p := a.print("Ask meshtastic")
	<-killed
	if p.result != "IT-DID-NOT-ANSWER" {
		t.Errorf("it reported %q\n%s", p.result, a.model.Last().Fresh())
	}
	nas.agent("meshtastic", following(reading(always("mesh/#"))...)).print("hello")
	if answers := w.unacked("homeassistant"); len(answers) != 1 || answers[0].Response != "mesh/#" {
		t.Errorf("the next session's answer is %v", answers)
	}
}
