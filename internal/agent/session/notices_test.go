package session_test

import (
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// listen is what the monitor of the session is told.
func (r *testSession) listen() chan string {
	lines := make(chan string, 8)
	go func() {
		for r.t.Context().Err() == nil {
			_ = session.Listen(r.t.Context(), r.socket, nil, func(line string) { lines <- line })
		}
	}()
	return lines
}

// idles makes a session that is idle and listens.
func (r *testSession) idles() chan string {
	r.t.Helper()
	lines := r.listen()
	r.prompt()
	r.stop()
	eventually(r.t, "it is idle", func() bool { return r.agents()["api"].State == c3po.SessionIdle })
	return lines
}

func (r *testSession) notified(id c3po.MessageID) int {
	trace, err := r.as("web").Trace(r.t.Context(), c3po.MessageInput{MessageID: id})
	if err != nil {
		r.t.Fatal(err)
	}
	return len(trace.Notified)
}

func TestALineThatStartsNoTurnIsNotCalledANotice(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	lines := r.idles()
	sent := r.send("web", "Which port?")
	<-lines
	if faultrig.Within(3*time.Second, func() bool { return r.notified(sent.ID) > 0 }) { // notes are written once a second
		t.Error("a line that nothing has followed is recorded as a notice")
	}
	r.prompt()
	eventually(t, "the turn proves it", func() bool { return r.notified(sent.ID) == 1 })
}

func TestMailWhoseTurnFailedStartsAnother(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	lines := r.idles()
	r.send("web", "Which port?")
	<-lines
	r.prompt() // the turn that the line starts
	r.hook(hook.Event{Name: hook.StopFailure, SessionID: "s1"})
	select {
	case line := <-lines:
		if !strings.Contains(line, "\n| Which port?\n") {
			t.Errorf("it hears %q", line)
		}
	case <-time.After(deadline):
		t.Error("the mail is stranded")
	}
}

func TestATurnThatEndsWhileTheCoordinatorIsAwayIsNotToldOfMailAndHearsOfItWhenItIsBack(t *testing.T) {
	t.Parallel()
	c := coordinator(t)
	r := start(t, c.URL(), "box:1:1")
	lines := r.idles()
	r.prompt()
	r.send("web", "Which port?")
	eventually(t, "the mail is known", func() bool {
		for _, i := range session.Instances(t.Context(), r.folder()) {
			return i.Unread == 1
		}
		return false
	})
	c.Kill()
	if text := r.stop(); strings.Contains(text, "get_messages") {
		t.Errorf("the model is sent to a coordinator that is away: %s", text)
	}
	c.Restart()
	select {
	case line := <-lines:
		if !strings.Contains(line, "\n| Which port?\n") {
			t.Errorf("it hears %q", line)
		}
	case <-time.After(deadline):
		t.Error("the mail is stranded")
	}
}

func TestMailThatCameWhileTheAgentWasAwayWakesASessionThatIsLeftIdle(t *testing.T) {
	t.Parallel()
	c := coordinator(t)
	r := start(t, c.URL(), "box:1:1")
	if _, err := r.as("api").Ping(t.Context(), c3po.None{}); err != nil {
		t.Fatal(err)
	}
	r.send("web", "Which port?")
	lines := r.listen()
	r.hook(hook.Event{Name: hook.SessionStart, SessionID: "s1", Source: "startup"})
	select {
	case <-lines:
	case <-time.After(deadline):
		t.Error("it is not woken")
	}
}

func TestASessionThatStartsWithoutACoordinatorIsWokenAsSoonAsThereIsOne(t *testing.T) {
	t.Parallel()
	c := coordinator(t)
	r := start(t, "http://127.0.0.1:9", "box:1:1")
	lines := r.listen()
	r.prompt()
	r.stop()
	r.url = c.URL()
	r.moved.Store(r.url)
	eventually(t, "it is idle", func() bool { return r.agents()["api"].State == c3po.SessionIdle })
	r.send("web", "Which port?")
	select {
	case <-lines:
	case <-time.After(deadline):
		t.Error("it is not woken")
	}
}

func TestADialogIsSeenUntilTheNextStep(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	r.prompt()
	is := func(want c3po.SessionState) {
		t.Helper()
		eventually(t, "it is "+string(want), func() bool { return r.agents()["api"].State == want })
	}
	if text := r.hook(hook.Event{Name: hook.DialogOpens, SessionID: "s1", ToolName: "Bash"}); text != "{}" {
		t.Errorf("a dialog of the client's is answered with %s", text)
	}
	is(c3po.SessionDialog)
	r.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1"})
	is(c3po.SessionWorking)
	if text := r.hook(hook.Event{Name: hook.DialogOpens, SessionID: "s1", ToolName: "mcp__plugin_c3po_c3po__reply", Mode: "default"}); text != "{}" {
		t.Errorf("our own tool, about which the person wants to be asked: %s", text)
	}
	if text := r.hook(hook.Event{Name: hook.DialogOpens, SessionID: "s1", ToolName: "mcp__plugin_c3po_c3po__reply", Mode: hook.PlanMode}); !strings.Contains(text, `"behavior":"allow"`) {
		t.Errorf("a dialog for our own tool is answered with %s", text)
	}
}

// Each line is a turn, which finds nothing and ends: nothing has changed by then.
func TestMailStartsNoTurnWhileTheCoordinatorOrItsRedisIsAway(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(*faultrig.Coordinator, *redistest.Server) (repair func()){
		"killed": func(c *faultrig.Coordinator, _ *redistest.Server) func() { c.Kill(); return c.Restart },
		"frozen": func(_ *faultrig.Coordinator, redis *redistest.Server) func() { redis.Freeze(); return redis.Thaw },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redis := redistest.New(t)
			c := faultrig.Start(t, redis.URL())
			r := start(t, c.URL(), "box:1:1")
			lines := r.idles()
			r.send("web", "Which port?")
			<-lines
			r.prompt() // the turn that the line starts
			repair := fault(c, redis)
			r.stop()
			select {
			case line := <-lines:
				t.Errorf("a turn is started that can read nothing: %q", line)
			case <-time.After(3 * time.Second):
			}
			repair()
			select {
			case <-lines:
			case <-time.After(deadline):
				t.Error("the mail is stranded")
			}
		})
	}
}
