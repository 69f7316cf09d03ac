package claude_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// ids are all agents there are, and whether they are online.
func (w *testCoordinator) ids() map[c3po.AgentID]c3po.Status {
	w.t.Helper()
	list, err := w.as("").ListAgents(w.t.Context(), c3po.ListAgentsInput{})
	if err != nil {
		w.t.Fatal(err)
	}
	all := map[c3po.AgentID]c3po.Status{}
	for _, agent := range list.Agents {
		all[agent.ID] = agent.Status
	}
	return all
}

func (w *testCoordinator) onlyHas(ids ...c3po.AgentID) {
	w.t.Helper()
	all := w.ids()
	for _, id := range ids {
		if all[id] == "" {
			w.t.Errorf("%s is not there: %v", id, all)
		}
	}
	if len(all) != len(ids) {
		w.t.Errorf("there are %v, want %v", all, ids)
	}
}

func TestClearKeepsTheIdAndUnackedMailIsToldAgain(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	a := w.host("pi").agent("api", quiet)
	term := a.open()
	term.idle()
	w.awaitOnline("api")
	w.send("web", "api", "<b>Which port?</b>") // with a tag it does not come by itself
	// This model does nothing about it, so the end of its turn tells it once more.
	eventually(t, 20*time.Second, "it is told", func() bool { return told(a.model) == 2 })
	term.see("Ran 1 stop hook")
	before := len(a.model.Seen())
	term.enter("/clear")
	eventually(t, 10*time.Second, "the screen is clear", func() bool { return !strings.Contains(term.screen(), "stop hook") })
	term.enter("hello after it")
	eventually(t, 20*time.Second, "the model is asked", func() bool { return len(a.model.Seen()) > before })
	shown := a.model.Seen()[len(a.model.Seen())-1]
	if n := len(notice.FindAllString(shown.All(), -1)); n != 1 {
		t.Errorf("after /clear it was told %d times:\n%s", n, shown.All())
	}
	if !strings.Contains(shown.All(), "c3po: you are api.") {
		t.Errorf("after /clear it does not know who it is:\n%s", shown.Fresh())
	}
	w.onlyHas("api", "web")
}

func TestACompactedSessionIsToldAgain(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	a := w.host("pi").agent("api", quiet)
	term := a.open()
	term.idle()
	w.awaitOnline("api")
	w.send("web", "api", "<b>Which port?</b>")
	eventually(t, 20*time.Second, "it is told", func() bool { return told(a.model) == 2 })
	term.see("Ran 1 stop hook")
	term.enter("/compact")
	term.see("Compacted")
	term.enter("hello after it")
	eventually(t, 20*time.Second, "the model is asked", func() bool {
		seen := a.model.Seen()
		return strings.Contains(seen[len(seen)-1].Fresh(), "hello after it")
	})
	seen := a.model.Seen()
	if shown := seen[len(seen)-1].All(); len(notice.FindAllString(shown, -1)) != 1 || !strings.Contains(shown, "c3po: you are api.") {
		t.Errorf("after compaction it reads:\n%s", shown)
	}
	w.onlyHas("api", "web")
}

func TestAResumedSessionIsTheSameAgentAndIsToldAgain(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	a := w.host("pi").agent("api", quiet)
	session := a.print("hello").records[0].Session
	w.send("web", "api", "Which port?")
	a.print("hello again", "--resume", session)
	a.print("and again", "--resume", session)
	requests := a.model.Seen()
	last := requests[len(requests)-1]
	if !notice.MatchString(last.Fresh()) {
		t.Errorf("a resumed session was not told of mail that is still unacked:\n%s", last.Fresh())
	}
	w.onlyHas("api", "web")
}

// A person goes back to an earlier session with /resume, typed in a terminal.
func TestResumeTypedInATerminalKeepsTheIdAndUnackedMailIsToldAgain(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	a := w.host("pi").agent("api", quiet)
	term := a.open()
	term.idle()
	w.awaitOnline("api")
	term.enter("about the fish")
	eventually(t, 20*time.Second, "the model is asked", func() bool { return a.model.Showing("about the fish") == 1 })
	w.send("web", "api", "<b>Which port?</b>")
	eventually(t, 20*time.Second, "it is told", func() bool { return told(a.model) >= 1 })
	term.see("Ran 1 stop hook")
	term.enter("/clear")
	eventually(t, 10*time.Second, "the screen is clear", func() bool { return !strings.Contains(term.screen(), "stop hook") })
	term.enter("about something else")
	eventually(t, 20*time.Second, "the model is asked", func() bool { return a.model.Showing("about something else") == 1 })
	term.enter("/resume")
	term.see("Type to search")
	term.see("❯ about the fish")
	term.press("Enter")
	eventually(t, 10*time.Second, "the earlier session is there", func() bool {
		return !strings.Contains(term.screen(), "Type to search") && strings.Contains(term.screen(), "about the fish")
	})
	term.enter("back to it")
	eventually(t, 20*time.Second, "the model is asked", func() bool { return a.model.Showing("back to it") == 1 })
	for _, r := range a.model.Seen() {
		if !strings.Contains(r.Fresh(), "back to it") {
			continue
		}
		if !strings.Contains(r.All(), "about the fish") || strings.Contains(r.All(), "about something else") {
			t.Errorf("it is not in the earlier session:\n%s", r.All())
		}
		if !notice.MatchString(r.Fresh()) {
			t.Errorf("it was not told again of mail that is still unacked:\n%s", r.Fresh())
		}
	}
	w.onlyHas("api", "web")
}

func TestTwoSessionsInOneFolderAreTwoAgentsAndOneAfterTheOtherIsOne(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	h := w.host("pi")
	first := h.agent("api", quiet)
	term := first.open()
	w.awaitOnline("api")
	second := h.agent("api", quiet)
	second.print("hello")
	if shown := second.model.Seen()[0].All(); !strings.Contains(shown, "c3po: another session is api; you are api-2.") {
		t.Errorf("the second was not told:\n%s", shown)
	}
	w.onlyHas("api", "api-2")
	term.close()
	eventually(t, 10*time.Second, "the first is offline", func() bool { return w.status("api") == c3po.Offline })
	third := h.agent("api", quiet)
	third.print("hello")
	if shown := third.model.Seen()[0].All(); !strings.Contains(shown, "c3po: you are api.") {
		t.Errorf("the third did not get the id:\n%s", shown)
	}
	w.onlyHas("api", "api-2")
}

func TestTheNextSessionAnswersTheMailThatASecondOneHasLeft(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	h := w.host("pi")
	term := h.agent("api", quiet).open()
	w.awaitOnline("api")
	h.agent("api", quiet).print("hello")
	w.onlyHas("api", "api-2")
	question := w.send("web", "api-2", "Which port?")
	term.close()
	eventually(t, 10*time.Second, "the first is offline", func() bool { return w.status("api") == c3po.Offline })
	next := h.agent("api", following(append([]rule{
		on("1 message waits for api-2, whose session has ended", call("get_messages", map[string]any{"left_by": "api-2"})),
	}, reading(always("8080"))...)...))
	next.print("hello")
	got, err := w.as("web").WaitForMessage(t.Context(), c3po.WaitInput{MessageID: question.ID, Timeout: 10})
	if err != nil || got.Response != "8080" || got.FromAgent != "api-2" {
		t.Errorf("the answer is %+v, %v; its model was shown:\n%s", got, err, next.model.Seen()[0].Fresh())
	}
}

func TestAnAgentThatAnAgentStartsDoesNotTakeItsIdentity(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	a := w.host("pi").agent("api", nil)
	nested := strings.Join(a.arguments("-p", "'I am nested'"), " ")
	a.extra = append(a.extra, "C3PO_RUN=runner-7")
	a.model.Script = following(
		on("I am nested", say("NESTED-OK")),
		on("start another", call("Bash", map[string]any{"command": nested, "description": "another"})))
	p := a.print("start another", "--allowedTools", "Bash")
	if !strings.Contains(p.text(), "NESTED-OK") {
		t.Fatalf("the nested one did not run:\n%s", p.text())
	}
	w.onlyHas("api", "api-2")
}

func TestAKilledSessionIsOfflineLeavesNothingBehindAndIsFollowedByTheSameAgent(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	h := w.host("pi")
	a := h.agent("api", quiet)
	term := a.open()
	term.idle()
	w.awaitOnline("api")
	kill(t, term.pid)
	killed := time.Now()
	eventually(t, 20*time.Second, "it is offline", func() bool { return w.status("api") == c3po.Offline })
	faultrig.Hold(t, "offline after", time.Since(killed), 10*time.Second)
	eventually(t, 25*time.Second, "no process of ours is left", func() bool { return len(h.processes("c3po ")) == 0 })
	faultrig.Hold(t, "no process left after", time.Since(killed), 5*time.Second)
	w.send("web", "api", "Which port?")
	next := h.agent("api", following(reading(always("8080"))...))
	next.print("hello")
	w.onlyHas("api", "web")
	if left := w.unacked("api"); len(left) != 0 {
		t.Errorf("the next session did not answer: %v", left)
	}
}

// Only the session process dies here: Claude Code lives on, and nobody says goodbye. It does
// not start another by itself; its person can.
func TestAKilledSessionProcessIsSoonOfflineAndItsSessionGoesOn(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	a := w.host("pi").agent("api", quiet)
	term := a.open()
	term.idle()
	attached := func() bool {
		agent, err := w.as("").GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: "api"})
		return err == nil && agent.Reachability == c3po.ReachNow
	}
	// Before it waits, nothing tells that it is gone but that it no longer calls.
	eventually(t, 20*time.Second, "it waits", attached)
	for _, pid := range a.processes("c3po mcp") {
		kill(t, pid)
	}
	killed := time.Now()
	eventually(t, 50*time.Second, "it is offline", func() bool { return w.status("api") == c3po.Offline })
	faultrig.Hold(t, "offline after its session process was killed", time.Since(killed), 10*time.Second)
	before := len(a.model.Seen())
	term.enter("hello")
	eventually(t, 20*time.Second, "the session goes on", func() bool { return len(a.model.Seen()) > before })
	term.rest()
	term.enter("/mcp reconnect plugin:c3po:c3po")
	eventually(t, 20*time.Second, "the agent is attached again", attached)
	w.send("web", "api", "Are you back?")
	eventually(t, 20*time.Second, "the same session is woken again", func() bool { return told(a.model) >= 1 })
	w.onlyHas("api", "web")
}

func TestAC7OffIsSeenAtTheNextStepAndOnlyThePersonSwitchesItOn(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	a := w.host("pi").agent("api", nil)
	c3po := a.extra[0][len("C3PO_BINARY="):]
	bash := func(word string) step {
		return call("Bash", map[string]any{"command": c3po + " " + word, "description": "switch"})
	}
	refused := 0
	a.model.Script = following(
		on("Your user typed `/c3po:coordinate off`", call("list_agents", nil)),
		on("c3po is switched off here", bash("on")),
		rule{"this is reserved for people", func(request, []string) step {
			refused++
			return say("REFUSED-%d", refused)
		}},
		on("Your user typed `/c3po:coordinate on`", call("list_agents", nil)),
		on("then what it says of itself", say("BACK")),
		on("switch it off", bash("off")),
	)
	term := a.open("--allowedTools", "Bash")
	term.idle()
	term.enter("switch it off")
	term.see("REFUSED-1")
	if entries, _ := os.ReadDir(a.home() + "/.local/state/c3po/off"); len(entries) != 0 {
		t.Errorf("the model switched it off: %v", entries)
	}
	term.enter("/c3po:coordinate off")
	term.see("REFUSED-2")
	if entries, _ := os.ReadDir(a.home() + "/.local/state/c3po/off"); len(entries) != 1 {
		t.Errorf("the model switched it on again: %v", entries)
	}
	term.enter("/c3po:coordinate on")
	term.see("BACK")
	if entries, _ := os.ReadDir(a.home() + "/.local/state/c3po/off"); len(entries) != 0 {
		t.Errorf("left in the off folder: %v", entries)
	}
}

func TestAC3AndAC4AnAgentThatAsksItsPersonIsPausedUntilThePersonAnswers(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	a := w.host("pi").agent("api", following(
		on("something risky", call("escalate_to_human", map[string]any{"reason": "May I drop the table?"})),
		on(`"paused":"waiting_for_human"`, say("I WAIT")),
		rule{`\] reply .* from human`, func(r request, _ []string) step { return say("MY-PERSON-SAID %s", written(r.Fresh())) }},
		on(notice.String(), call("get_messages", nil)),
	))
	term := a.open()
	term.idle()
	w.awaitOnline("api")
	var question c3po.MessageID
	t.Run("AC3 escalation pauses coordination and prompts the person", func(t *testing.T) {
		term.enter("do something risky")
		term.see("I WAIT")
		if receipt := w.send("web", "api", "Are you there?", noReply); receipt.Reachability != c3po.ReachWaitingForHuman {
			t.Errorf("senders are told %q", receipt.Reachability)
		}
		questions, err := w.as("").HumanList(t.Context(), c3po.GetMessagesInput{})
		if err != nil || len(questions.Messages) != 1 || questions.Messages[0].Message != "May I drop the table?" {
			t.Fatalf("the person sees %v, %v", questions.Messages, err)
		}
		question = questions.Messages[0].ID
	})
	t.Run("AC4 the person resumes coordination", func(t *testing.T) {
		if _, err := w.as("").HumanAnswer(t.Context(), c3po.AnswerInput{MessageID: question, Response: "no, rename it"}); err != nil {
			t.Fatal(err)
		}
		term.see("MY-PERSON-SAID")
		term.see("no, rename it")
		w.reached("its turn has ended", c3po.ReachNow)
		if receipt := w.send("web", "api", "And now?", noReply); receipt.Reachability != c3po.ReachNow {
			t.Errorf("senders are told %q", receipt.Reachability)
		}
	})
}

// The plugin lets its own tools run without a question; what the person has said
// about them goes before that.
func TestARuleOfThePersonsGoesBeforeThePlugins(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	if _, err := w.as("web").Ping(t.Context(), c3po.None{}); err != nil {
		t.Fatal(err)
	}
	a := w.host("pi").agent("api", following(on("tell web", call("send_message", map[string]any{"target": "web", "message": "hello"}))))
	settings := filepath.Join(a.home(), ".claude", "settings.json")
	for _, kind := range []string{"deny", "ask"} {
		rules := fmt.Sprintf(`{"permissions":{%q:[%q]}}`, kind, toolPrefix+"send_message")
		if err := os.WriteFile(settings, []byte(rules), 0o600); err != nil {
			t.Fatal(err)
		}
		a.print("tell web")
		if mail := w.unacked("web"); len(mail) != 0 {
			t.Fatalf("a tool was used against a rule to %s: %v", kind, mail)
		}
	}
	if err := os.Remove(settings); err != nil {
		t.Fatal(err)
	}
	a.print("tell web")
	if mail := w.unacked("web"); len(mail) != 1 {
		t.Errorf("without the rule it was not used: %v", mail)
	}
}

func TestManySessionsAtOnceAreAllServed(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	var sessions sync.WaitGroup
	n := faultrig.Size(3, 10)
	for i := range n {
		name := c3po.AgentID(fmt.Sprintf("worker%d", i))
		var once sync.Once
		a := w.host("pi").agent(string(name), following(append(reading(always("done")), rule{"begin", func(request, []string) step {
			once.Do(func() { w.send("boss", name, "your task") })
			return say("ready")
		}})...))
		sessions.Go(func() {
			if _, err := a.try("begin"); err != nil {
				t.Error(err)
			}
		})
	}
	sessions.Wait()
	if answers := w.unacked("boss"); len(answers) != n {
		t.Errorf("%d of %d have answered", len(answers), n)
	}
}
