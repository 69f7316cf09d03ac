package claude_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// reached wants senders to be told that, soon.
func (w *testCoordinator) reached(what string, want c3po.Reachability) {
	w.t.Helper()
	var last c3po.Reachability
	if !faultrig.Within(10*time.Second, func() bool {
		agent, err := w.as("").GetAgentStatus(w.t.Context(), c3po.AgentInput{AgentID: "api"})
		last = agent.Reachability
		return err == nil && last == want
	}) {
		w.t.Errorf("%s: senders are told %q, want %q", what, last, want)
	}
}

// What a sender is told follows what the real session does: each state is shown,
// and ends with what ends it.
func TestSendersAreToldWhatTheSessionReallyDoes(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	bash := func(words, command string) rule {
		return on(words, call("Bash", map[string]any{"command": command, "description": "a step"}))
	}
	a := w.host("pi").agent("api", following(append(reading(always("port 8080")), bash("write a file", "touch x"), bash("take long", "sleep 30"))...))
	term := a.open()
	term.idle()
	w.awaitOnline("api")
	w.reached("idle from the start", c3po.ReachNow)

	term.enter("write a file")
	term.see("Do you want")
	w.reached("a permission dialog", c3po.ReachDialog)
	term.escape("Esc to cancel")
	w.reached("the dialog was escaped, which no hook tells of", c3po.ReachSoon)
	term.enter("never mind")
	w.reached("a turn has ended since", c3po.ReachNow)

	term.enter("/config")
	term.see("Search settings")
	w.reached("a menu", c3po.ReachDialog)
	if n := told(a.model); n != 0 {
		t.Errorf("the model was told %d times", n)
	}
	term.press("Escape")
	term.press("Escape")
	w.reached("the menu was closed", c3po.ReachNow)

	term.enter("take long")
	w.reached("a turn", c3po.ReachNextStep)
	term.press("Escape")
	w.reached("the turn was interrupted", c3po.ReachSoon)
	term.enter("never mind")
	w.reached("a turn has ended since the interrupt", c3po.ReachNow)

	off := filepath.Join(a.home(), ".local", "state", "c3po", "off")
	if err := os.MkdirAll(off, 0o700); err != nil {
		t.Fatal(err)
	}
	everywhere := filepath.Join(off, "all")
	if err := os.WriteFile(everywhere, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.reached("switched off", c3po.ReachOff)
	question := w.send("web", "api", "Which port?")
	if err := os.Remove(everywhere); err != nil {
		t.Fatal(err)
	}
	got, err := w.as("web").WaitForMessage(t.Context(), c3po.WaitInput{MessageID: question.ID, Timeout: 30})
	if err != nil || got.Response != "port 8080" {
		t.Errorf("what came while it was off is answered with %q, %v", got.Response, err)
	}
}

// The model cannot be asked when mail wakes the session, and can be soon after.
func TestMailIsAnsweredThoughTheTurnItStartedFailed(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	a := w.host("pi").agent("api", following(reading(always("port 8080"))...))
	var overloaded atomic.Bool
	a.model.Refuses = func() int {
		if overloaded.Load() {
			return 529
		}
		return http.StatusOK
	}
	term := a.open()
	term.idle()
	w.awaitOnline("api")
	overloaded.Store(true)
	question := w.send("web", "api", "Which port?")
	eventually(t, 30*time.Second, "the turn has failed", func() bool { return strings.Contains(term.screen(), "529") })
	overloaded.Store(false)
	got, err := w.as("web").WaitForMessage(t.Context(), c3po.WaitInput{MessageID: question.ID, Timeout: 60})
	if err != nil || got.Response != "port 8080" {
		t.Errorf("the answer is %q, %v\n%s", got.Response, err, term.screen())
	}
}

func TestOurToolsOpenNoDialogInPlanMode(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	a := w.host("pi").agent("api", following(reading(always("port 8080"))...))
	term := a.open()
	term.idle()
	w.awaitOnline("api")
	for range 4 {
		if strings.Contains(term.screen(), "plan mode on") {
			break
		}
		term.press("BTab")
		faultrig.Within(time.Second, func() bool { return strings.Contains(term.screen(), "plan mode on") })
	}
	term.see("plan mode on")
	question := w.send("web", "api", "Which port?")
	got, err := w.as("web").WaitForMessage(t.Context(), c3po.WaitInput{MessageID: question.ID, Timeout: 30})
	if err != nil || got.Response != "port 8080" {
		t.Errorf("the answer is %q, %v\n%s", got.Response, err, term.screen())
	}
}

// The person is in the session that asks them: they see that they are asked, and
// answer there.
func TestAPersonAnswersAnEscalationInTheSessionItself(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	a := w.host("pi").agent("api", following(
		on("yes, drop it", say("DROPPED")),
		on("clean up", call("escalate_to_human", map[string]any{"reason": "Drop the table?"})),
	))
	term := a.open()
	term.idle()
	w.awaitOnline("api")
	term.enter("clean up")
	term.see("your agent waits for your decision")
	w.reached("it has asked", c3po.ReachWaitingForHuman)
	term.rest()
	term.enter("yes, drop it")
	term.see("DROPPED")
	w.reached("its user has answered in the session", c3po.ReachNow)
	requests := a.model.Seen()
	if last := requests[len(requests)-1].Fresh(); !strings.Contains(last, "your open question to them is withdrawn") {
		t.Errorf("the model does not hear that its question is settled:\n%s", last)
	}
}

// What a person answers elsewhere reaches the model as words of its user, not inside what
// Claude Code says of programs.
func TestAPersonAnswersAnEscalationElsewhereAndTheModelReadsItAsItsUsersWords(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	a := w.host("pi").agent("api", following(
		on("yes, drop it", say("DROPPED")),
		on("clean up", call("escalate_to_human", map[string]any{"reason": "Drop the table?"})),
	))
	term := a.open()
	term.idle()
	w.awaitOnline("api")
	term.enter("clean up")
	term.see("your agent waits for your decision")
	term.rest()
	asked, err := w.as("").HumanList(t.Context(), c3po.GetMessagesInput{})
	if err != nil || len(asked.Messages) != 1 {
		t.Fatalf("%+v, %v", asked, err)
	}
	if _, err := w.as("").HumanAnswer(t.Context(), c3po.AnswerInput{MessageID: asked.Messages[0].ID, Response: "yes, drop it"}); err != nil {
		t.Fatal(err)
	}
	term.see("DROPPED")
	requests := a.model.Seen()
	last := requests[len(requests)-1].Fresh()
	_, behind, found := strings.Cut(last, "</task-notification>")
	if !found || !strings.Contains(behind, "c3po: your user has written this through c3po, in answer to your question api::human::") || !strings.Contains(behind, "| yes, drop it\n") {
		t.Errorf("the model reads:\n%s", last)
	}
	if strings.Contains(last, "other programs") {
		t.Errorf("the user's words are called text of other programs:\n%s", last)
	}
}

// A rule of the person's takes our tools away: the model is woken by mail, and can do
// nothing with it. It reacts all the same, and its asker hears that nothing came of it.
func TestASessionWithoutOurToolsWakesAndItsAskerHearsThatItDidNotAnswer(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	a := w.host("pi").agent("api", func(request) step { return say("NO SUCH TOOL") })
	settings := filepath.Join(a.home(), ".claude", "settings.json")
	rules := `{"permissions":{"deny":["` + strings.TrimSuffix(toolPrefix, "__") + `"]}}`
	if err := os.WriteFile(settings, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	term := a.open()
	term.idle()
	w.awaitOnline("api")
	question := w.send("web", "api", "Which port?")
	term.see("NO SUCH TOOL")
	w.reached("its model was asked", c3po.ReachNow)
	eventually(t, 20*time.Second, "the trace says that it was left", func() bool {
		trace, err := w.as("web").Trace(t.Context(), c3po.MessageInput{MessageID: question.ID})
		return err == nil && trace.Silent != nil
	})
	w.reached("it has reacted", c3po.ReachNow)
	asked := len(a.model.Seen())
	w.send("web", "api", "And which host?")
	eventually(t, 20*time.Second, "it wakes", func() bool { return len(a.model.Seen()) > asked })
}
