package clients_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/clientrig"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/llm"
)

func TestMain(m *testing.M) { faultrig.Main(m) }

// nowhere is an address at which nobody listens.
const nowhere = "http://127.0.0.1:1"

var done = llm.Always("ALL-DONE")

// answering is a model that answers its mail, and else says that it is done.
var answering = llm.Following(llm.Answers("port 8080"), llm.Else(done))

// A testAgent is an agent called api, whose client has c3po installed, and a coordinator.
type testAgent struct {
	*clientrig.Agent
	c     *clientrig.Coordinator
	phone *faultrig.Phone // of its person, if they have one
}

func newTestAgent(t *testing.T, client string, script llm.Script, flags ...string) *testAgent {
	t.Helper()
	c := clientrig.Start(t)
	r := &testAgent{Agent: c.Machine("").Agent(client, "api", script), c: c}
	install(r.Agent, flags...)
	return r
}

// alone is an agent without a coordinator. c3po is not installed.
func alone(t *testing.T, client string, script llm.Script) *clientrig.Agent {
	t.Helper()
	return clientrig.NewMachine(t, "", nowhere).Agent(client, "api", script)
}

// install installs c3po as a person does at a terminal: in a script the hooks that it
// tries would keep quiet.
func install(a *clientrig.Agent, flags ...string) string {
	a.T.Helper()
	return a.Must(append([]string{"env", "C3PO_UNATTENDED=answer", faultrig.Binary(a.T), "install", a.Client.Name}, flags...)...)
}

// ask sends it a question.
func (r *testAgent) ask(question string, change ...func(*c3po.SendInput)) c3po.Receipt {
	return r.c.Send("web", "api", question, change...)
}

func (r *testAgent) answered(receipt c3po.Receipt, seconds int) {
	r.T.Helper()
	r.c.Answered("web", receipt, "port 8080", seconds)
}

// received wants it proved that the client has taken a message.
func (r *testAgent) received(receipt c3po.Receipt) {
	r.T.Helper()
	clientrig.Eventually(r.T, 5*time.Second, "that the client has the message is proved", func() bool {
		trace, err := r.c.As("web").Trace(r.T.Context(), c3po.MessageInput{MessageID: receipt.ID})
		return err == nil && trace.Received != nil
	})
}

// greeted wants the model to have read who it is, and of the skill.
func (r *testAgent) greeted(skill string) {
	r.T.Helper()
	if shown := r.Model.Read(); !strings.Contains(shown, "c3po: you are api.") || !strings.Contains(shown, skill) {
		r.T.Error("it was not greeted, or the skill was not offered")
	}
}

// toldInTheMiddle has a turn go on until a question is told of, which its end would bring
// too, and wants it answered in that turn.
func toldInTheMiddle(t *testing.T, client, skill string) {
	t.Helper()
	var receipt c3po.Receipt
	asked, steps := false, 0
	r := newTestAgent(t, client, nil)
	r.Model.Script = llm.Following(llm.Answers("port 8080"), llm.Else(func(q llm.Request) llm.Step {
		if steps++; !asked && r.c.Agent("api").Status == c3po.Online {
			receipt, asked = r.ask("Which port?"), true
		}
		if steps > 40 {
			return llm.Say("NO-NOTICE")
		}
		if llm.Unread.MatchString(r.Model.Read()) {
			return done(q)
		}
		return llm.Call("list_agents", map[string]any{"limit": steps}) // Gemini ends a turn that repeats itself
	}))
	if out := r.Prompt("do some work"); !strings.Contains(out, "ALL-DONE") || strings.Contains(out, "NO-NOTICE") {
		t.Errorf("%s", out)
	}
	r.answered(receipt, 1)
	r.received(receipt)
	r.greeted(skill)
}

// answersAtTheEnd has mail come when a turn is about to end, and wants it answered
// before it does. waits is what the client's model does about a shell in the background.
func answersAtTheEnd(t *testing.T, client string, waits func(llm.Script) llm.Script) *testAgent {
	t.Helper()
	var receipt c3po.Receipt
	r := newTestAgent(t, client, nil)
	r.Model.Script = waits(llm.Following(llm.Answers("port 8080"), llm.Else(func(q llm.Request) llm.Step {
		if receipt.ID == "" {
			// It waits for mail: one that has only registered may not have looked yet.
			if !faultrig.Within(20*time.Second, func() bool { return r.c.Agent("api").State != "" }) {
				t.Error("it is not online")
			}
			receipt = r.ask("Which port?")
		}
		return done(q)
	})))
	r.Prompt("do some work")
	r.answered(receipt, 1)
	r.cost()
	return r
}

func atOnce(script llm.Script) llm.Script { return script }

// at opens a terminal in which a turn has been, and which is idle now.
func (r *testAgent) at() *clientrig.Terminal {
	r.T.Helper()
	term := r.Open()
	term.Rest() // some draw their prompt before they read keys
	term.Enter("do some work")
	term.See("ALL-DONE")
	r.c.Online("api")
	return term
}

// wakes wants an idle session to answer soon.
func (r *testAgent) wakes(most time.Duration) {
	r.T.Helper()
	began := time.Now()
	r.answered(r.ask("Which port?"), 60)
	faultrig.Hold(r.T, "an idle "+r.Client.Name+" has answered", time.Since(began), most)
}

// leavesAsTheyWere installs twice and uninstalls, and wants a file to be as it was; then
// once more with somebody else editing it meanwhile, whose words must stay.
func leavesAsTheyWere(t *testing.T, client, file string, edit func(*clientrig.Agent), stay ...string) *clientrig.Agent {
	t.Helper()
	a := alone(t, client, done)
	before := a.Text(file)
	install(a)
	install(a)
	a.C3PO("uninstall", client)
	if diff := cmp.Diff(before, a.Text(file)); diff != "" {
		t.Error(diff)
	}
	install(a)
	edit(a)
	a.C3PO("uninstall", client)
	after := a.Text(file)
	if strings.Contains(after, "c3po") {
		t.Errorf("something of c3po is left:\n%s", after)
	}
	for _, words := range stay {
		if !strings.Contains(after, words) {
			t.Errorf("%q is gone:\n%s", words, after)
		}
	}
	return a
}

// worksAlone wants a turn to be as if c3po were not there.
func worksAlone(t *testing.T, client string) {
	t.Helper()
	a := alone(t, client, done)
	install(a)
	if out := a.Prompt("do some work"); !strings.Contains(out, "ALL-DONE") {
		t.Errorf("%s", out)
	}
}

// welcomed is a Claude Code whose first questions to a person are answered.
func welcomed(a *clientrig.Agent) {
	a.T.Helper()
	answers, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true, "lastOnboardingVersion": "99.0.0", "theme": "dark",
		"projects":              map[string]any{a.Folder: map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
		"customApiKeyResponses": map[string]any{"approved": []string{clientrig.Key[len(clientrig.Key)-20:]}, "rejected": []string{}},
	})
	if err != nil {
		a.T.Fatal(err)
	}
	a.Write(".claude/.claude.json", string(answers))
	if a.Plugin, err = filepath.Abs("../../plugin"); err != nil {
		a.T.Fatal(err)
	}
}

// said types a prompt and waits for the end of its turn.
func said(term *clientrig.Terminal, text string) {
	term.T.Helper()
	term.Enter(text)
	term.See("ALL-DONE")
	term.Rest()
}

// notices is how many of c3po's own to the agent that asks say something.
func notices(c *clientrig.Coordinator, words string) (n int) {
	for _, m := range c.Unacked("web") {
		if m.FromAgent == c3po.System && strings.Contains(m.Text(), words) {
			n++
		}
	}
	return n
}
