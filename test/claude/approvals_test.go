package claude_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// approving is a session of an agent in which c3po was installed with --approvals. Its
// model touches a file when it is told "touch NAME".
func (w *testCoordinator) approving(project string) (*agent, *terminal) {
	w.t.Helper()
	var rules []rule
	for _, name := range []string{"allowed", "second", "third", "fourth", "fifth", "denied", "local", "escaped", "later"} {
		rules = append(rules, on("touch "+name, call("Bash", map[string]any{"command": "touch " + name + " && sleep 0.1", "description": "Make a file"})))
	}
	a := w.host("pi").agent(project, following(rules...))
	binary := strings.TrimPrefix(a.extra[0], "C3PO_BINARY=")
	a.plugin, a.extra = "", a.extra[1:]
	a.must(binary, "install", "claude", "--approvals")
	if out, _ := a.command(binary, "doctor"); strings.Contains(out, "hooks.json") { // nothing else is as it should be in this home
		w.t.Errorf("the doctor complains of the hooks:\n%s", out)
	}
	term := a.open()
	term.idle()
	w.awaitOnline(c3po.AgentID(project))
	return a, term
}

// asked is what waits for the person, soon.
func (w *testCoordinator) asked() c3po.Message {
	w.t.Helper()
	var first c3po.Message
	eventually(w.t, 15*time.Second, "the person is asked", func() bool {
		list, err := w.as("").HumanList(w.t.Context(), c3po.GetMessagesInput{})
		if err == nil && len(list.Messages) > 0 {
			first = list.Messages[0]
		}
		return first.ID != ""
	})
	return first
}

func (w *testCoordinator) asksNothing(most time.Duration) bool {
	return faultrig.Within(most, func() bool {
		list, err := w.as("").HumanList(w.t.Context(), c3po.GetMessagesInput{})
		return err == nil && len(list.Messages) == 0
	})
}

func (a *agent) has(file string) bool {
	_, err := os.Stat(filepath.Join(a.folder, file))
	return err == nil
}

// The person decides a dialog from elsewhere, or at the terminal: the file is there only
// after an allow, and whichever is first takes the other back.
func TestAPersonDecidesAPermissionDialogFromElsewhere(t *testing.T) {
	t.Parallel()
	phone := faultrig.NewPhone(t)
	w := newTestCoordinator(t, phone.Settings())
	a, term := w.approving("api")
	binary := faultrig.Binary(t)

	term.enter("touch allowed")
	term.see("Do you want to proceed?")
	q := w.asked()
	// It calls itself pi, but the kernel says that it runs beside the coordinator.
	here, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if approval, ok := q.Approval(); !ok || approval.Tool != "Bash" || approval.Host != here || approval.Folder != a.folder || !strings.Contains(q.Message, "$ touch allowed") {
		t.Errorf("the person reads %+v", q)
	}
	w.reached("the dialog is open", c3po.ReachDialog)
	if a.has("allowed") {
		t.Fatal("the tool ran before anybody allowed it")
	}
	var began time.Time
	var took []time.Duration
	for _, file := range []string{"allowed", "second", "third", "fourth", "fifth"} {
		if file != "allowed" {
			term.enter("touch " + file)
			q = w.asked()
		}
		began = time.Now()
		switch file {
		case "second", "fifth": // what the dashboard's button does
			if _, err := w.as("").HumanAnswer(t.Context(), c3po.AnswerInput{MessageID: q.ID, Choice: c3po.AllowOnce}); err != nil {
				t.Error(err)
			}
		case "third":
			phone.Press(t, "$ touch third", c3po.AllowOnce)
		default:
			a.must(binary, "answer", string(q.ID), "--choice", "1")
			began = time.Now() // its own start is not the verdict's
		}
		eventually(t, 10*time.Second, "the tool runs", func() bool { return a.has(file) })
		took = append(took, time.Since(began))
		term.see("Allowed by PermissionRequest hook")
		term.rest()
	}
	slices.Sort(took)
	t.Logf("verdict to tool: %v", took)
	faultrig.Hold(t, "claude: from the verdict to the tool that runs, median of five", took[len(took)/2], 500*time.Millisecond)

	term.enter("touch denied")
	a.must(binary, "answer", string(w.asked().ID), "Use make instead.")
	term.see("Denied by PermissionRequest hook")
	term.rest()
	requests := a.model.Seen()
	if last := requests[len(requests)-1].Fresh(); !strings.Contains(last, "The user denied this call and says: Use make instead.") {
		t.Errorf("the model reads %s", last)
	}

	term.enter("touch local")
	late := w.asked()
	term.see("touch local &&")
	eventually(t, 20*time.Second, "the tool runs", func() bool { // a dialog takes no key for a moment
		began = time.Now()
		term.press("1")
		return faultrig.Within(2*time.Second, func() bool { return a.has("local") })
	})
	if !w.asksNothing(5 * time.Second) {
		t.Error("what was allowed at the terminal still waits for the person")
	}
	faultrig.Hold(t, "claude: what was allowed at the terminal is withdrawn after", time.Since(began), time.Second)
	if out, err := a.command(binary, "answer", string(late.ID), "--choice", "2"); err == nil || !strings.Contains(out, "withdrawn") {
		t.Errorf("a late verdict: %v\n%s", err, out)
	}
	term.rest()

	term.enter("touch escaped")
	w.asked()
	term.see("touch escaped &&")
	term.escape("Esc to cancel")
	if !w.asksNothing(5 * time.Second) {
		t.Error("what was refused at the terminal still waits for the person")
	}
	if a.has("denied") || a.has("escaped") {
		t.Error("a tool ran that was denied")
	}
	if mail, err := w.as("api").GetMessages(t.Context(), c3po.GetMessagesInput{}); err != nil || mail.Count != 0 {
		t.Errorf("verdicts are left in the agent's mail: %+v, %v", mail, err)
	}
	for _, r := range a.model.Seen() {
		if strings.Contains(r.Fresh(), "unread") {
			t.Errorf("the model was told of mail: %s", r.Fresh())
		}
	}
}
