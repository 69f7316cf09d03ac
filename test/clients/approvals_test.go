package clients_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/clientrig"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/llm"
)

// approving is an agent called api whose client asks before it runs a command, with
// c3po installed with --approvals. Its model touches a file when it is told
// "touch NAME".
func approving(t *testing.T, client string, call func(r *testAgent, command string) llm.Step, ask func(*clientrig.Agent)) (*testAgent, *clientrig.Terminal) {
	t.Helper()
	phone := faultrig.NewPhone(t)
	c := clientrig.StartWith(t, phone.Settings())
	r := &testAgent{Agent: c.Machine("pi").Agent(client, "api", nil), c: c, phone: phone}
	r.Model.Script = touching(r, call)
	ask(r.Agent)
	if said := install(r.Agent, "--approvals"); !strings.Contains(said, "you approve: a hook of c3po at each permission dialog") {
		t.Errorf("installing does not say what is approved:\n%s", said)
	}
	if out := r.Run("", faultrig.Binary(t), "doctor"); strings.Contains(out.Stdout, "is not what this c3po would write") {
		t.Errorf("the doctor complains of the files:\n%s", out.Stdout)
	}
	term := r.at()
	term.Rest()
	return r, term
}

// touching is a model that touches a file when it is told "touch NAME".
func touching(r *testAgent, call func(r *testAgent, command string) llm.Step) llm.Script {
	return llm.Following(llm.When(`(?m)touch (\w+)\s*$`, func(_ llm.Request, match []string) llm.Step {
		return call(r, command(match[1]))
	}), llm.Else(done))
}

// command touches a file. What some clients would put in the place of variables stays as
// it is.
func command(file string) string { return "touch " + file + " # ${cwd}" }

// leave has nobody have typed at the terminal for an hour.
func (r *testAgent) leave() {
	r.T.Helper()
	hour := time.Now().Add(-time.Hour)
	if err := os.Chtimes(fmt.Sprintf("/proc/%d/fd/0", clientPID(r)), hour, time.Time{}); err != nil {
		r.T.Errorf("cannot leave the terminal: %v", err)
	}
	faultrig.Pass(r.T.Context(), time.Second) // twice as long as the session process takes to look
}

// asked is what waits for the person, soon.
func (r *testAgent) asked() c3po.Message {
	r.T.Helper()
	var first c3po.Message
	clientrig.Eventually(r.T, 15*time.Second, "the person is asked", func() bool {
		list, err := r.c.As("").HumanList(r.T.Context(), c3po.GetMessagesInput{})
		if err == nil && len(list.Messages) > 0 {
			first = list.Messages[0]
		}
		return first.ID != ""
	})
	return first
}

// withdrawn wants nothing to wait for the person, soon.
func (r *testAgent) withdrawn(what string, since time.Time) {
	r.T.Helper()
	if !faultrig.Within(10*time.Second, func() bool {
		list, err := r.c.As("").HumanList(r.T.Context(), c3po.GetMessagesInput{})
		return err == nil && len(list.Messages) == 0
	}) {
		r.T.Errorf("what was %s at the terminal still waits for the person", what)
	}
	faultrig.Hold(r.T, r.Client.Name+": what was "+what+" at the terminal is withdrawn after", time.Since(since), time.Second)
}

func (r *testAgent) has(file string) bool {
	_, err := os.Stat(filepath.Join(r.Folder, file))
	return err == nil
}

// shows wants a question to show exactly what the tool would do.
func (r *testAgent) shows(q c3po.Message, command string) {
	r.T.Helper()
	// It calls itself pi, but the kernel says that it runs beside the coordinator.
	here, err := os.Hostname()
	if err != nil {
		r.T.Fatal(err)
	}
	if approval, ok := q.Approval(); !ok || approval.Host != here || approval.Folder != r.Folder || !strings.Contains(q.Message+"\n", "$ "+command+"\n") {
		r.T.Errorf("the person reads %+v", q)
	}
}

// allows has the person allow what waits for them, wants it to run only then, and gives how
// soon it did.
func (r *testAgent) allows(file string, way string) time.Duration {
	r.T.Helper()
	q := r.asked()
	r.shows(q, command(file))
	if r.has(file) {
		r.T.Fatal("the tool ran before anybody allowed it")
	}
	began := time.Now()
	switch way {
	case byCommand:
		r.C3PO("answer", string(q.ID), "--choice", "1")
		began = time.Now() // its own start is not the verdict's
	case byDashboard: // the call that its button makes
		if _, err := r.c.As("").HumanAnswer(r.T.Context(), c3po.AnswerInput{MessageID: q.ID, Choice: c3po.AllowOnce}); err != nil {
			r.T.Error(err)
		}
	case byPhone:
		r.phone.Press(r.T, "$ "+command(file), c3po.AllowOnce)
	}
	clientrig.Eventually(r.T, 10*time.Second, "the tool runs", func() bool { return r.has(file) })
	return time.Since(began)
}

// The ways in which a person decides from elsewhere.
const (
	byCommand   = "c3po answer"
	byDashboard = "the dashboard"
	byPhone     = "a button on the phone"
)

// allowsMore has the person allow four more, in every way, and holds the median of all five.
func (r *testAgent) allowsMore(first time.Duration, term *clientrig.Terminal, over func()) {
	r.T.Helper()
	took := []time.Duration{first}
	for n, way := range []string{byDashboard, byPhone, byCommand, byDashboard} {
		file := fmt.Sprint("more", n)
		term.Enter("touch " + file)
		took = append(took, r.allows(file, way))
		r.T.Logf("%s, by %s: %v", r.Client.Name, way, took[n+1])
		over()
	}
	slices.Sort(took)
	r.T.Logf("%s: %v", r.Client.Name, took)
	faultrig.Hold(r.T, r.Client.Name+": from the verdict to the tool that runs, median of five", took[len(took)/2], 500*time.Millisecond)
}

// denies has the person deny what waits for them, with words, which the model reads.
func (r *testAgent) denies(file string) {
	r.T.Helper()
	r.C3PO("answer", string(r.asked().ID), "Use make instead.")
	clientrig.Eventually(r.T, 10*time.Second, "the model reads why", func() bool {
		return strings.Contains(r.Model.Last().Fresh(), "The user denied this call and says: Use make instead.")
	})
	if r.has(file) {
		r.T.Error("a tool ran that was denied")
	}
}

// tooLate wants a verdict on a request that was decided at the terminal to be refused.
func (r *testAgent) tooLate(q c3po.Message) {
	r.T.Helper()
	if got := r.Run("", faultrig.Binary(r.T), "answer", string(q.ID), "--choice", "1"); got.Code == 0 || !strings.Contains(got.Stderr, "withdrawn") {
		r.T.Errorf("a late verdict: %+v", got)
	}
}

// undisturbed wants nothing of the verdicts to have become mail.
func (r *testAgent) undisturbed() {
	r.T.Helper()
	if mail := r.c.Unacked("api"); len(mail) != 0 {
		r.T.Errorf("verdicts are left in the agent's mail: %+v", mail)
	}
	if llm.Unread.MatchString(r.Model.Read()) {
		r.T.Error("the model was told of mail")
	}
}

// OpenCode's dialog stays usable while the person is asked elsewhere; whichever is first
// takes the other back.
func TestAPersonDecidesADialogOfOpenCodeFromElsewhere(t *testing.T) {
	t.Parallel()
	const dialog = "Permission required"
	r, term := approving(t, "opencode", func(_ *testAgent, command string) llm.Step {
		return llm.Call("bash", map[string]any{"command": command, "description": "Make a file"})
	}, func(a *clientrig.Agent) {
		const config = ".config/opencode/opencode.jsonc"
		a.Write(config, strings.Replace(a.Text(config), "// mine\n", "// mine\n  \"permission\": {\"bash\": \"ask\"},\n", 1))
	})
	gone := func() {
		t.Helper()
		clientrig.Eventually(t, 10*time.Second, "the dialog closes", func() bool { return !strings.Contains(term.Shown(), dialog) })
		term.Rest()
	}

	term.Enter("touch allowed")
	term.See(dialog)
	r.c.Reached("api", "the dialog is open", c3po.ReachDialog)
	first := r.allows("allowed", byCommand)
	gone()
	r.c.Reached("api", "its turn is over", c3po.ReachNow)
	r.allowsMore(first, term, gone)

	term.Enter("touch denied")
	term.See(dialog)
	r.denies("denied")
	gone()

	term.Enter("touch local")
	term.See(dialog)
	late := r.asked()
	began := time.Now()
	term.Press("Enter") // its first choice is to allow it once
	clientrig.Eventually(t, 10*time.Second, "the tool runs", func() bool { return r.has("local") })
	r.withdrawn("allowed", began)
	r.tooLate(late)
	gone()

	term.Enter("touch escaped")
	term.See(dialog)
	late = r.asked()
	began = time.Now()
	term.Press("Escape")
	if !faultrig.Within(10*time.Second, func() bool { return !strings.Contains(term.Shown(), dialog) }) {
		t.Fatal("the dialog does not close")
	}
	r.withdrawn("refused", began)
	r.tooLate(late)
	if r.has("denied") || r.has("escaped") {
		t.Error("a tool ran that was denied")
	}
	r.undisturbed()
}

// held is the test of a client that opens its dialog only when our hook has ended.
func held(t *testing.T, client string, call func(command string) llm.Step, ask func(*clientrig.Agent), dialog, yes string) {
	t.Helper()
	there := false // the person is at the terminal
	r, term := approving(t, client, func(r *testAgent, command string) llm.Step {
		if !there {
			r.leave()
		}
		return call(command)
	}, ask)

	term.Enter("touch allowed")
	r.asked()
	r.c.Reached("api", "it waits for the person", c3po.ReachDialog)
	if strings.Contains(term.Shown(), dialog) {
		t.Error("the dialog is open: this client need not be held")
	}
	first := r.allows("allowed", byCommand)
	term.Rest()
	r.allowsMore(first, term, func() { term.Rest() })

	term.Enter("touch denied")
	r.denies("denied")
	term.Rest()

	term.Enter("touch local")
	late := r.asked()
	began := time.Now()
	term.Press("Space")
	r.withdrawn("touched", began)
	term.See(dialog)
	r.tooLate(late)
	clientrig.Eventually(t, 20*time.Second, "the tool runs", func() bool {
		term.Press(yes)
		return faultrig.Within(2*time.Second, func() bool { return r.has("local") })
	})
	term.Rest()

	there = true
	term.Enter("touch there")
	term.See("touch there")
	term.See(dialog)
	if list, err := r.c.As("").HumanList(t.Context(), c3po.GetMessagesInput{}); err != nil || len(list.Messages) != 0 {
		t.Errorf("a person at the terminal was asked elsewhere: %+v, %v", list, err)
	}
	if r.has("denied") || r.has("there") {
		t.Error("a tool ran that nobody allowed")
	}
	r.undisturbed()
}

func TestAPersonDecidesADialogOfCodexFromElsewhere(t *testing.T) {
	t.Parallel()
	held(t, "codex", func(command string) llm.Step {
		return llm.Call("exec_command", map[string]any{"cmd": command, "sandbox_permissions": "require_escalated", "justification": "It makes a file."})
	}, func(a *clientrig.Agent) {
		const config = ".codex/config.toml"
		a.Write(config, strings.Replace(a.Text(config), `approval_policy = "never"`, `approval_policy = "on-request"`, 1))
	}, "Would you like to run the following command?", "y")
}

func TestAPersonDecidesADialogOfCopilotFromElsewhere(t *testing.T) {
	t.Parallel()
	held(t, "copilot", func(command string) llm.Step {
		return llm.Call("bash", map[string]any{"command": command, "description": "Make a file"})
	}, func(*clientrig.Agent) {}, "Do you want to run this command?", "Enter")
}

// What cannot be granted from elsewhere is shown to wait at its terminal, and no longer than
// it does.
func TestADialogThatOnlyItsTerminalCanDecideIsShownToWaitThere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tool, dialog, yes string
	}{
		"gemini": {"run_shell_command", "Allow execution", "Enter"},
		"kimi":   {"Bash", "Run this command?", "Enter"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			co := clientrig.Start(t)
			r := &testAgent{Agent: co.Machine("").Agent(name, "api", nil), c: co}
			r.Client.Open = nil // and not --auto
			r.Model.Script = touching(r, func(_ *testAgent, command string) llm.Step {
				return llm.Call(c.tool, map[string]any{"command": command, "description": "Make a file"})
			})
			install(r.Agent)
			term := r.at()
			term.Rest()
			for _, decide := range []struct{ file, key string }{{"allowed", c.yes}, {"escaped", "Escape"}} {
				term.Enter("touch " + decide.file)
				term.See(c.dialog)
				r.c.Reached("api", "a dialog", c3po.ReachDialog)
				if out := r.C3PO("agents"); !strings.Contains(out, "waiting at its terminal") {
					t.Errorf("agents shows\n%s", out)
				}
				term.Press(decide.key)
				// Gemini says nothing when its dialog closes, and the kernel tells of keys to eight
				// seconds: it is seen with the next key after that.
				pressed := time.Now()
				clientrig.Eventually(t, 30*time.Second, "it is seen to go on", func() bool {
					if time.Since(pressed) > time.Second {
						term.Press("Left")
						pressed = time.Now()
					}
					return r.c.Agent("api").Reachability != c3po.ReachDialog
				})
				term.Rest()
			}
			if !r.has("allowed") || r.has("escaped") {
				t.Error("the wrong tool has run")
			}
		})
	}
}
