package session_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// A dialog is one that the client has opened, and the hook that waits beside it.
type dialog struct {
	answer chan string
	kill   context.CancelFunc // ends the hook, as the client does
}

func (r *testSession) opens(file string) *dialog {
	return r.opensFor("Bash", fmt.Sprintf(`{"command":"touch %s"}`, file))
}

func (r *testSession) opensFor(tool, input string) *dialog {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.t.Context()))
	d := &dialog{make(chan string, 1), cancel}
	r.t.Cleanup(cancel)
	event := hook.Event{Name: hook.Approve, SessionID: "s1", ToolName: tool, Input: hook.Object(input), Cwd: "/src"}
	go func() {
		answer, _ := session.AskHere(ctx, r.socket, nil, event)
		d.answer <- strings.TrimSpace(answer)
	}()
	return d
}

// says is what the hook prints, soon.
func (d *dialog) says(t *testing.T) string {
	t.Helper()
	select {
	case answer := <-d.answer:
		return answer
	case <-time.After(deadline):
		t.Fatal("the hook hangs")
		return ""
	}
}

func approving(t *testing.T, url string) *testSession {
	t.Helper()
	r := startAs(t, url, "box:1:1", func(cfg *session.Config) { cfg.Approves = func() bool { return true } })
	r.prompt()
	eventually(t, "it listens", func() bool { return len(r.agents()) > 0 })
	return r
}

// asked is what waits for the person: the one that asks for a file.
func (r *testSession) asked(file string) (id c3po.MessageID) {
	r.t.Helper()
	eventually(r.t, "the person is asked about "+file, func() bool {
		list, err := r.as("").HumanList(r.t.Context(), c3po.GetMessagesInput{})
		for _, m := range list.Messages {
			if strings.HasSuffix(m.Message, "$ touch "+file) {
				id = m.ID
			}
		}
		return err == nil && id != ""
	})
	return id
}

// awaits returns once the session knows that its question is asked and waits for the verdict,
// besides its wait for mail. Before, a coordinator that dies leaves the dialog to its terminal.
func (r *testSession) awaits() {
	r.t.Helper()
	eventually(r.t, "the session waits for the verdict", func() bool {
		info, err := r.as("").ServerInfo(r.t.Context(), c3po.None{})
		return err == nil && info.Waiters >= 2
	})
}

func (r *testSession) allow(id c3po.MessageID) error {
	_, err := r.as("").HumanAnswer(r.t.Context(), c3po.AnswerInput{MessageID: id, Choice: c3po.AllowOnce})
	return err
}

const granted = `{"hookSpecificOutput":{"decision":{"behavior":"allow"},"hookEventName":"PermissionRequest"}}`

func TestAVerdictReachesTheDialogItIsAbout(t *testing.T) {
	t.Parallel()
	r := approving(t, coordinator(t).URL())
	a, b := r.opens("a"), r.opens("b")
	if err := r.allow(r.asked("b")); err != nil {
		t.Fatal(err)
	}
	if said := b.says(t); said != granted {
		t.Errorf("the hook says %s", said)
	}
	first := r.asked("a")
	// The tool of the other dialog ran: this one is still open.
	r.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1", ToolName: "Bash", Input: hook.Object(`{"command":"touch b"}`)})
	if r.asked("a") != first {
		t.Error("the wrong question was withdrawn")
	}
	r.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1", ToolName: "Bash", Input: hook.Object(`{"command":"touch a"}`)})
	if said := a.says(t); said != "{}" {
		t.Errorf("the hook says %s", said)
	}
	eventually(t, "the question is withdrawn", func() bool { return r.questions() == 0 })
	if err := r.allow(first); err == nil {
		t.Error("a late verdict was taken")
	}
	r.knows("", 0)
}

// What cannot be shown for certain, or would be one question too many, is left to the terminal.
func TestADialogThatThePersonCannotBeAskedAboutStaysAtTheTerminal(t *testing.T) {
	t.Parallel()
	r := approving(t, coordinator(t).URL())
	for tool, input := range map[string]string{"Bash": `{"command":"ls","command":"rm -rf x"}`, "Read, as you said": `{"path":"/x"}`} {
		if said := r.opensFor(tool, input).says(t); said != "{}" {
			t.Errorf("%s %s: the hook says %s", tool, input, said)
		}
	}
	for n := range 20 {
		r.opens(fmt.Sprint("file", n))
	}
	eventually(t, "twenty dialogs are before the person", func() bool { return r.questions() == 20 })
	if said := r.opens("one-more").says(t); said != "{}" {
		t.Errorf("the hook says %s", said)
	}
}

func TestADialogThatIsGoneWithdrawsItsQuestion(t *testing.T) {
	t.Parallel()
	r := approving(t, coordinator(t).URL())
	for what, end := range map[string]func(*dialog){
		"its client has ended the hook": func(d *dialog) { d.kill() },
		"the turn has ended":            func(*dialog) { r.hook(hook.Event{Name: hook.StopEvent, SessionID: "s1"}) },
		"the person writes":             func(*dialog) { r.types("something else") },
	} {
		d := r.opens("x")
		id := r.asked("x")
		end(d)
		eventually(t, what, func() bool { return r.questions() == 0 })
		if err := r.allow(id); err == nil {
			t.Errorf("%s: a late verdict was taken", what)
		}
		d.says(t)
	}
	r.opens("y")
	r.asked("y")
	r.hangUp()
	eventually(t, "the session has ended", func() bool {
		list, err := r.as("").HumanList(t.Context(), c3po.GetMessagesInput{})
		return err == nil && list.Count == 0
	})
}

// The person may switch approvals off while dialogs are open: c3po off --approvals.
func TestSwitchingApprovalsOffWithdrawsWhatIsAsked(t *testing.T) {
	t.Parallel()
	url := coordinator(t).URL()
	for name, dialect := range map[string]hook.Dialect{"its dialog is open": hook.ClaudeCode, "its dialog is held back": hook.Codex} {
		var off atomic.Bool
		r := startAs(t, url, "box:1:"+string(dialect), func(cfg *session.Config) {
			cfg.Approves, cfg.Dialect, cfg.Attended, cfg.ApprovalWait = func() bool { return !off.Load() }, dialect, true, time.Hour
		})
		r.prompt()
		eventually(t, "it is there", func() bool { return len(r.agents()) > 0 })
		d := r.opens("x")
		id := r.asked("x")
		r.awaits()
		off.Store(true)
		if said := d.says(t); said != "{}" {
			t.Errorf("%s: the hook says %s", name, said)
		}
		eventually(t, "the question is withdrawn", func() bool { return r.questions() == 0 })
		if err := r.allow(id); err == nil {
			t.Errorf("%s: a late verdict was taken", name)
		}
		r.hangUp()
	}
}

func TestApprovalsSurviveACoordinatorThatIsKilled(t *testing.T) {
	t.Parallel()
	c := coordinator(t)
	r := approving(t, c.URL())
	for i := range faultrig.Size(3, 50) {
		file := fmt.Sprint("x", i)
		d := r.opens(file)
		id := r.asked(file)
		r.awaits()
		c.Kill()
		c.Restart()
		eventually(t, "the person's verdict is taken", func() bool { return r.allow(id) == nil })
		if said := d.says(t); said != granted {
			t.Errorf("round %d: the hook says %s", i, said)
		}
		late := r.opens(file)
		again := r.asked(file)
		c.Kill()
		late.kill() // decided at the terminal while nobody can be told
		late.says(t)
		c.Restart()
		eventually(t, "the question is withdrawn", func() bool { return r.questions() == 0 })
		if err := r.allow(again); err == nil {
			t.Errorf("round %d: a stale request was allowed", i)
		}
	}
}

// holding is a session of a client that opens its dialog only when the hook has ended, and
// of which it is known when somebody last typed at its terminal.
func holding(t *testing.T, url, run string, most time.Duration) (r *testSession, types func(time.Time)) {
	t.Helper()
	var typed atomic.Pointer[time.Time]
	typed.Store(new(time.Now().Add(-time.Hour)))
	seen := make(chan struct{}, 1)
	r = startAs(t, url, run, func(cfg *session.Config) {
		cfg.Approves, cfg.Dialect, cfg.Attended, cfg.ApprovalWait = func() bool { return true }, hook.Codex, true, most
		cfg.Sees = func() session.Sight {
			defer func() {
				select {
				case seen <- struct{}{}:
				default:
				}
			}()
			return session.Sight{Typed: *typed.Load()}
		}
	})
	r.prompt()
	eventually(t, "it is there", func() bool { return len(r.agents()) > 0 })
	types = func(at time.Time) {
		typed.Store(&at)
		for range 3 { // the first look may have been before, and the second may not be taken in yet
			<-seen
		}
	}
	types(*typed.Load())
	return r, types
}

// A client that opens its dialog only when the hook has ended is not kept from it while
// somebody is there.
func TestADialogThatIsHeldBackOpensForWhoeverIsAtTheTerminal(t *testing.T) {
	t.Parallel()
	r, types := holding(t, coordinator(t).URL(), "box:1:1", time.Hour)
	d := r.opens("x")
	id := r.asked("x")
	types(time.Now())
	if said := d.says(t); said != "{}" {
		t.Errorf("somebody has typed, and the hook says %s", said)
	}
	eventually(t, "the question is withdrawn", func() bool { return r.questions() == 0 })
	if err := r.allow(id); err == nil {
		t.Error("a late verdict was taken")
	}
	if said := r.opens("x").says(t); said != "{}" { // it would hang
		t.Errorf("somebody is there, and the hook says %s", said)
	}
	types(time.Now().Add(-time.Hour))
	d = r.opens("y")
	if err := r.allow(r.asked("y")); err != nil {
		t.Error(err)
	}
	if said := d.says(t); said != granted {
		t.Errorf("nobody is there, and the hook says %s", said)
	}
}

func TestADialogIsHeldBackNoLongerThanThePersonWants(t *testing.T) {
	t.Parallel()
	r, _ := holding(t, coordinator(t).URL(), "box:1:1", 2*time.Second)
	if said := r.opens("x").says(t); said != "{}" {
		t.Errorf("the hook says %s", said)
	}
	eventually(t, "nothing waits for the person", func() bool { return r.questions() == 0 })
	list, err := r.as("api").Tickets(t.Context(), c3po.TicketsInput{Which: c3po.TicketsAsked})
	if err != nil || len(list.Tickets) != 1 {
		t.Fatalf("the questions to the person are %+v, %v", list.Tickets, err)
	}
	if err := r.allow(list.Tickets[0].ID); err == nil {
		t.Error("a late verdict was taken")
	}
}

func TestNobodyIsAskedElsewhereWhoDoesNotWantIt(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	r.prompt()
	if said := r.opens("x").says(t); said != "{}" {
		t.Errorf("the hook says %s", said)
	}
	if n := r.questions(); n != 0 {
		t.Errorf("%d questions were asked", n)
	}
}

// Who has not asked for approvals sends nothing of a dialog, and waits for nobody.
func TestADialogCostsNothingWithoutApprovals(t *testing.T) {
	t.Parallel()
	at, err := url.Parse(coordinator(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	var all sync.Map // what the session sends: path and body
	pass := httputil.NewSingleHostReverseProxy(at)
	pass.ErrorLog = log.New(io.Discard, "", 0) // waits that the session gives up
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		all.Store(r.URL.Path+" "+string(body), true)
		r.Body = io.NopCloser(bytes.NewReader(body))
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(between.Close)
	sent := func(word string) (found bool) {
		all.Range(func(request, _ any) bool {
			found = found || strings.Contains(request.(string), word)
			return !found
		})
		return found
	}
	for _, wants := range []bool{false, true} { // with them the same is sent, so that this shows something
		r := startAs(t, between.URL, fmt.Sprint("box:1:", wants), func(cfg *session.Config) { cfg.Approves = func() bool { return wants } })
		r.prompt()
		eventually(t, "it is there", func() bool { return len(r.agents()) > 0 })
		if wants {
			r.opens("nothing4")
			r.asked("nothing4")
		} else {
			for n := range 5 {
				if said := r.opens(fmt.Sprint("nothing", n)).says(t); said != "{}" {
					t.Errorf("the hook says %s", said)
				}
			}
		}
		if sent("request_approval") != wants || sent("nothing4") != wants {
			t.Errorf("with approvals %v: request_approval was sent: %v, the command: %v", wants, sent("request_approval"), sent("nothing4"))
		}
		r.hangUp()
	}
}
