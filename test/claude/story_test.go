package claude_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// unacked is the mail of an agent that nobody has dealt with.
func (w *testCoordinator) unacked(id c3po.AgentID) []c3po.Message {
	w.t.Helper()
	pending, err := w.as(id).Pending(w.t.Context(), c3po.PendingInput{})
	if err != nil {
		w.t.Fatal(err)
	}
	return pending.Messages
}

func (w *testCoordinator) send(from, to c3po.AgentID, text string, change ...func(*c3po.SendInput)) c3po.Receipt {
	w.t.Helper()
	in := c3po.SendInput{Target: string(to), Message: text}
	for _, c := range change {
		c(&in)
	}
	receipt, err := w.as(from).SendMessage(w.t.Context(), in)
	if err != nil {
		w.t.Fatal(err)
	}
	return receipt
}

func (w *testCoordinator) awaitOnline(id c3po.AgentID) {
	w.t.Helper()
	eventually(w.t, 20*time.Second, string(id)+" is online", func() bool { return w.status(id) == c3po.Online })
}

// A person has one agent ask another, which is idle in a terminal on another
// host. Nothing is left over, and asking took one call.
func TestAC1Demo1APersonsAgentAsksAnIdleAgentOnAnotherHost(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	b := w.host("nas").agent("meshtastic", following(reading(always("mesh/# for all topics"))...))
	b.open().idle()
	w.awaitOnline("meshtastic")
	a := w.host("pi").agent("homeassistant", following(
		on("what MQTT topics", call("send_message", map[string]any{"target": "meshtastic", "message": "What MQTT topics do you use?", "wait_seconds": 60})),
		rule{"the answer came", func(r request, _ []string) step { return say("Meshtastic says it uses %s", written(r.Fresh())) }},
	))
	p := a.print("Ask the meshtastic agent what MQTT topics it uses")
	if p.result != "Meshtastic says it uses mesh/# for all topics" {
		t.Errorf("it reported %q\n%s", p.result, p.text())
	}
	if n := len(a.model.Seen()); n != 2 {
		t.Errorf("asking took %d requests, want 2: the call, and its result", n)
	}
	faultrig.Hold(t, "from prompt to report, Claude Code included", p.took, 10*time.Second)
	for _, id := range []c3po.AgentID{"homeassistant", "meshtastic"} {
		eventually(t, 5*time.Second, "nothing is unacked at "+string(id), func() bool { return len(w.unacked(id)) == 0 })
	}
}

// The story of the design, on two hosts with a wire between them and nothing else
// in common: one has a coordinator, the other has joined it by its one command.
// The person speaks to one agent only; the other is idle in its terminal.
func TestDemo2TwoAgentsOnTwoHostsFindAFaultInThreeRounds(t *testing.T) {
	t.Parallel()
	claudeBinary(t)
	w := &testCoordinator{t: t}
	pi, mesh := w.host("pi"), w.host("meshbox")
	pi.network, mesh.network = newNetwork(t, 1), newNetwork(t, 2)
	pi.network.join(mesh.network, "192.0.2.1", "192.0.2.2")
	base := pi.nas("192.0.2.1")
	answers := map[string]string{
		"Is the sensor sending?":       "No, node 7 is silent.",
		"Why is node 7 silent?":        "Node 7 is in sleep mode.",
		"Please wake the node you saw": "Node 7 is awake now.",
	}
	b := base.joined(mesh, "meshtastic", following(reading(func(question string) string { return answers[question] })...))
	b.open().idle()
	eventually(t, 20*time.Second, "the other host's agent is online", func() bool {
		return strings.Contains(base.must(base.binary, "agents"), "meshbox/meshtastic")
	})
	// Whom it asks it takes from the list it was given, and from the answers.
	ask := func(text string) func(request, []string) step {
		return func(r request, match []string) step {
			return call("send_message", map[string]any{"target": match[1], "message": text, "wait_seconds": 60})
		}
	}
	a := pi.agent("homeassistant", following(
		on("Work with meshtastic", call("list_agents", nil)),
		rule{`\| ([^ "]+/meshtastic): online`, ask("Is the sensor sending?")},
		rule{`(?s)from (meshbox/meshtastic).*node 7 is silent`, ask("Why is node 7 silent?")},
		rule{`(?s)from (meshbox/meshtastic).*is in sleep mode`, ask("Please wake the node you saw")},
		rule{`is awake now`, func(r request, _ []string) step {
			return say("Found it, after: %s", written(r.Fresh()))
		}},
	))
	person := a.open()
	began := time.Now()
	person.enter("Work with meshtastic to debug why sensor data isn't appearing in HA")
	person.see("Found it, after: Node 7 is awake now.")
	faultrig.Hold(t, "three rounds between two hosts", time.Since(began), 30*time.Second)
	if namespaceOf(person.pid) == namespaceOf(b.processes("c3po monitor")[0]) {
		t.Error("both are on one network")
	}
	for id, inbox := range map[string]*agent{"homeassistant": base.agent, "meshtastic": b} {
		program := base.binary
		if inbox == b {
			program = filepath.Join(b.home(), ".local", "bin", "c3po")
		}
		eventually(t, 5*time.Second, "nothing is unacked at "+id, func() bool {
			return !strings.Contains(inbox.must(program, "inbox", "--as", id), "::")
		})
	}
}

func TestAnIdleSessionIsWokenWithinASecond(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	b := w.host("nas").agent("meshtastic", following(reading(always("here"))...))
	term := b.open()
	term.idle()
	w.awaitOnline("meshtastic")
	eventually(t, 20*time.Second, "its monitor listens", func() bool {
		agent, err := w.as("").GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: "meshtastic"})
		return err == nil && agent.Reachability == c3po.ReachNow
	})
	var took []time.Duration
	for i := range faultrig.Size(5, 20) {
		before := len(b.model.Seen())
		receipt := w.send("asker", "meshtastic", fmt.Sprintf("question %d", i))
		accepted := time.Now()
		if receipt.Reachability != c3po.ReachNow {
			t.Errorf("the receipt says %q of an idle agent with a monitor", receipt.Reachability)
		}
		if !faultrig.Within(30*time.Second, func() bool { return len(b.model.Seen()) > before }) {
			t.Fatalf("message %d has not woken it:\n%s", i+1, term.screen())
		}
		first := b.model.Seen()[before]
		took = append(took, first.At.Sub(accepted))
		if n := len(notice.FindAllString(first.Fresh(), -1)); n != 1 {
			t.Errorf("it was told %d times in one turn:\n%s", n, first.Fresh())
		}
		got, err := w.as("asker").WaitForMessage(t.Context(), c3po.WaitInput{MessageID: receipt.ID, Timeout: 20})
		if err != nil || got.Response != "here" {
			t.Fatalf("the answer is %q, %v", got.Response, err)
		}
		// Mail that comes before the turn has ended would be told by Stop.
		eventually(t, 20*time.Second, "the turn ends", func() bool {
			screen := term.screen()
			return len(b.model.Seen()) == before+2 && strings.LastIndex(screen, " done ") > strings.LastIndex(screen, "Monitor event")
		})
	}
	slices.Sort(took)
	faultrig.Hold(t, "from mail accepted to model called, median", took[len(took)/2], time.Second)
	t.Logf("all: %v", took)
}

func TestASessionThatWasLeftIdleIsStillWoken(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	b := w.host("nas").agent("meshtastic", following(reading(always("still here"))...))
	b.open().idle()
	w.awaitOnline("meshtastic")
	idle := time.Duration(faultrig.Size(15, 45*60)) * time.Second
	select {
	case <-time.After(idle):
	case <-t.Context().Done():
	}
	if n := len(b.model.Seen()); n != 0 {
		t.Errorf("the model was called %d times while nothing happened", n)
	}
	began := time.Now()
	receipt := w.send("asker", "meshtastic", "Still there?")
	eventually(t, 30*time.Second, "the model is called", func() bool { return len(b.model.Seen()) > 0 })
	faultrig.Hold(t, fmt.Sprintf("woken after %v of idling", idle), time.Since(began), time.Second)
	got, err := w.as("asker").WaitForMessage(t.Context(), c3po.WaitInput{MessageID: receipt.ID, Timeout: 20})
	if err != nil || got.Response != "still here" {
		t.Fatalf("the answer is %q, %v", got.Response, err)
	}
}
