package session_test

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestToolsAreListedAndAnswerInWordsWithoutACoordinator(t *testing.T) {
	t.Parallel()
	r := start(t, "http://127.0.0.1:9", "box:1:1")
	list, err := r.session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var always []string
	for _, tool := range list.Tools {
		if tool.Name == "c3po_hook" {
			t.Error("the tool of the hooks is shown to the model")
		}
		if tool.Meta["anthropic/alwaysLoad"] == true {
			always = append(always, tool.Name)
		}
	}
	if len(list.Tools) != 11 || len(always) != 3 {
		t.Errorf("%d tools, always before the model: %v", len(list.Tools), always)
	}
	text, failed := r.call("u1", "send_message", map[string]any{"target": "web", "message": "hello"})
	if !failed || !strings.Contains(text, `"code":"COORD_DOWN"`) ||
		!strings.Contains(text, "c3po coordinator is not reachable") {
		t.Errorf("the answer is %s", text)
	}
	first, second := r.prompt(), r.prompt()
	if !strings.Contains(first, `"systemMessage":"⚠️ c3po can't reach its coordinator`) || strings.Contains(first, "additionalContext") {
		t.Errorf("the person is told %s", first)
	}
	if second != "{}" {
		t.Errorf("and again: %s", second)
	}
}

func TestThePersonHearsThatTheCredentialsAreNotAccepted(t *testing.T) {
	t.Parallel()
	strict := faultrig.Start(t, redistest.New(t).URL(), "--auth", "token")
	r := start(t, strict.URL(), "box:1:1")
	if text := r.prompt(); !strings.Contains(text, "does not accept this machine") || strings.Contains(text, "additionalContext") {
		t.Errorf("the person is told %s", text)
	}
}

func TestACoordinatorThatIsStartedLaterIsFound(t *testing.T) {
	t.Parallel()
	c := coordinator(t)
	r := start(t, "http://127.0.0.1:9", "box:1:1")
	if text := r.prompt(); !strings.Contains(text, "can't reach its coordinator") {
		t.Errorf("without a coordinator it says %s", text)
	}
	r.url = c.URL()
	r.moved.Store(r.url)
	eventually(t, "the agent is there", func() bool { return r.agents()["api"].Status == c3po.Online })
	eventually(t, "tools work", func() bool { text, _ := r.call("u1", "ping", nil); return strings.Contains(text, "pong") })
}

func TestASessionProcessThatWasOnlyStartedRegistersNobody(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	if _, err := r.session.ListTools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	r.hangUp()
	if all := r.agents(); len(all) != 0 {
		t.Errorf("registered: %v", all)
	}
}

// A client may start its session process anew, and tells nobody again that a session began.
func TestASessionWhoseProcessIsStartedAnewIsThereAgainAsSoonAsItsMonitorIs(t *testing.T) {
	t.Parallel()
	c := coordinator(t)
	before := start(t, c.URL(), "box:1:1")
	before.prompt()
	before.hangUp()
	r := start(t, c.URL(), "box:1:1")
	eventually(t, "the first has left", func() bool { return r.agents()["api"].Status == c3po.Offline })
	r.monitor()
	eventually(t, "it is there again", func() bool { return r.agents()["api"].Status == c3po.Online })
}

func TestAHookMakesTheAgentAttachedAndTheEndOfTheClientOffline(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	// A hook waits for a busy coordinator only so long; then the next one greets.
	eventually(t, "the session is greeted", func() bool {
		return strings.Contains(r.prompt(), "c3po: you are api. Nobody else is online.")
	})
	eventually(t, "its turn is seen", func() bool { return r.agents()["api"].State == c3po.SessionWorking })
	r.hangUp()
	if agent := r.agents()["api"]; agent.Status != c3po.Offline || agent.Type != "test" {
		t.Errorf("after the end it is %+v", agent)
	}
}

func TestAnAnswerIsAckedWhenTheClientHasTakenItAndNotBefore(t *testing.T) {
	t.Parallel()
	reported := make(chan struct{}, 8)
	front := doorTo(t, coordinator(t).URL(), func(r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/received") {
			context.AfterFunc(r.Context(), func() { reported <- struct{}{} })
		}
	})
	r := start(t, front.URL, "box:1:1")
	r.prompt()
	answering := r.as("web")
	if _, err := answering.Ping(t.Context(), c3po.None{}); err != nil {
		t.Fatal(err)
	}
	go func() {
		got, err := answering.WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 30})
		if err == nil {
			_, err = answering.Reply(t.Context(), c3po.ReplyInput{MessageID: got.ID, Response: "8080"})
		}
		if err != nil {
			t.Error(err)
		}
	}()
	if text, _ := r.call("u1", "send_message", map[string]any{"target": "web", "message": "Which port?", "wait_seconds": 30}); !strings.Contains(text, "| 8080") || !strings.Contains(text, "needs no reply and no ack") {
		t.Fatalf("the answer is %s", text)
	}
	// Nobody will hear whether the client has what an unnamed call answers.
	if text, _ := r.call("", "get_messages", nil); !strings.Contains(text, "| 8080") || !strings.Contains(text, "once dealt with: ack_messages(") {
		t.Errorf("to a client that does not name its calls the answer is %s", text)
	}
	unacked := func() int {
		pending, err := r.as("api").Pending(t.Context(), c3po.PendingInput{})
		if err != nil {
			t.Fatal(err)
		}
		return pending.Count
	}
	// That the session was told of other mail is reported after, or with, whatever
	// would have been reported of the answer.
	news := r.send("web", "by the way")
	eventually(t, "it is told", func() bool { return strings.Contains(r.prompt(), "not acked") })
	r.hook(hook.Event{Name: hook.PreToolUse, SessionID: "s1", ToolUseID: "u9"}) // by which it has taken that
	<-reported
	if n := unacked(); n != 2 {
		t.Errorf("%d unacked before the client has confirmed it, want the answer and the news", n)
	}
	r.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1", ToolUseID: "u1"})
	eventually(t, "the answer is acked", func() bool { return unacked() == 1 })
	if _, err := r.as("api").AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{news.ID}}); err != nil {
		t.Fatal(err)
	}
	if text := r.hook(hook.Event{Name: hook.StopEvent, SessionID: "s1"}); text != "{}" {
		t.Errorf("the end of the turn says %s", text)
	}
}

func TestWhatASubagentSendsOrAnswersSaysSo(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	r.prompt()
	r.send("web", "hello") // makes web known
	r.hook(hook.Event{Name: hook.PreToolUse, SessionID: "s1", ToolName: "mcp__plugin_c3po_c3po__send_message", ToolUseID: "u1", AgentID: "a7", AgentType: "Explore"})
	r.call("u1", "send_message", map[string]any{"target": "web", "message": "from below", "metadata": map[string]int{"n": 1}})
	r.call("u2", "send_message", map[string]any{"target": "web", "message": "from above"})
	pending, err := r.as("web").Pending(t.Context(), c3po.PendingInput{})
	if err != nil || len(pending.Messages) != 2 {
		t.Fatalf("%v, %v", pending, err)
	}
	var metadata map[string]any
	if err := json.Unmarshal(pending.Messages[0].Metadata, &metadata); err != nil || metadata["via_subagent"] != "Explore" || metadata["n"] != 1.0 {
		t.Errorf("the subagent's message carries %s", pending.Messages[0].Metadata)
	}
	if len(pending.Messages[1].Metadata) != 0 || pending.Messages[0].FromAgent != "api" {
		t.Errorf("the parent's carries %s", pending.Messages[1].Metadata)
	}
	question := r.send("web", "who answers?")
	r.hook(hook.Event{Name: hook.PreToolUse, SessionID: "s1", ToolName: "mcp__plugin_c3po_c3po__reply", ToolUseID: "u3", AgentID: "a7", AgentType: "Explore"})
	r.call("u3", "reply", map[string]any{"message_id": question.ID, "response": "from below"})
	got, err := r.as("web").WaitForMessage(t.Context(), c3po.WaitInput{MessageID: question.ID, Timeout: 5})
	if err != nil || string(got.Metadata) != `{"via_subagent":"Explore"}` {
		t.Errorf("the subagent's answer carries %s, %v", got.Metadata, err)
	}
}

// Attack: a hook that is called for every tool has one run that nobody was asked about
func TestAHookAllowsNoToolButOurs(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	r.prompt()
	for tool, want := range map[string]bool{
		"mcp__plugin_c3po_c3po__reply": true, "": false, "Bash": false, "Read": false, "mcp__other__reply": false, "x_mcp__plugin_c3po_c3po__reply": false,
		"mcp__plugin_c3po_c3po__": false, "mcp__plugin_c3po_c3po__other__tool": false, "mcp__plugin_c3po_c3po__c3po_hook": false, hook.ClaudePromptTool: false, "MCP__PLUGIN_C3PO_C3PO__reply": false,
	} {
		text := r.hook(hook.Event{Name: hook.PreToolUse, SessionID: "s1", ToolName: tool, ToolUseID: "u1"})
		if got := strings.Contains(text, `"allow"`); got != want || !want && text != "{}" {
			t.Errorf("%q is answered %s", tool, text)
		}
	}
}

func TestACancelledWaitEndsAtTheCoordinatorToo(t *testing.T) {
	t.Parallel()
	began, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	front := doorTo(t, coordinator(t).URL(), func(r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/wait_for_message") {
			began <- struct{}{}
			context.AfterFunc(r.Context(), func() { ended <- struct{}{} })
		}
	})
	r := start(t, front.URL, "box:1:1")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-began
		cancel()
	}()
	if _, err := r.session.CallTool(ctx, &mcp.CallToolParams{Name: "wait_for_message", Arguments: map[string]any{"timeout": 600}}); err == nil {
		t.Error("a cancelled call has a result")
	}
	select {
	case <-ended:
	case <-time.After(deadline):
		t.Error("the wait goes on at the coordinator")
	}
}

// doorTo lets requests through to a coordinator that see does not end.
func doorTo(t *testing.T, address string, see func(*http.Request)) *httptest.Server {
	t.Helper()
	proxy := proxyTo(t, address)
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		see(r)
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(door.Close)
	return door
}

func proxyTo(t *testing.T, address string) *httputil.ReverseProxy {
	t.Helper()
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ErrorLog = log.New(io.Discard, "", 0)
	return proxy
}

func TestARunThatLostItsIdIsGivenAnotherAndHearsIt(t *testing.T) {
	t.Parallel()
	c := coordinator(t)
	var shut atomic.Bool
	door := doorTo(t, c.URL(), func(*http.Request) {
		if shut.Load() {
			panic(http.ErrAbortHandler)
		}
	})
	r := start(t, door.URL, "box:1:1")
	r.prompt()
	// Cut off, it looks dead to the coordinator, and another run takes its id.
	shut.Store(true)
	door.CloseClientConnections()
	if _, err := client.New(client.Config{URL: c.URL(), AgentID: "api", Run: "box:1:1"}).Unregister(t.Context(), c3po.None{}); err != nil {
		t.Fatal(err)
	}
	if self, err := client.New(client.Config{URL: c.URL(), AgentID: "api", Run: "box:2:2"}).RegisterAgent(t.Context(), c3po.RegisterInput{}); err != nil || self.ID != "api" {
		t.Fatalf("%v, %v", self.ID, err)
	}
	shut.Store(false)
	eventually(t, "it is another agent", func() bool { return r.agents()["api-2"].Status == c3po.Online })
	eventually(t, "the session hears it", func() bool { return strings.Contains(r.prompt(), "another session is api; you are api-2.") })
}

func TestAnotherSessionOfTheSameRunIsTheSameAgentAndIsToldAgain(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	r.prompt()
	r.send("web", "Which port?")
	eventually(t, "it is told", func() bool { return strings.Contains(r.prompt(), "get_messages shows it") })
	if text := r.prompt(); text != "{}" {
		t.Errorf("it is told twice: %s", text)
	}
	r.hook(hook.Event{Name: hook.SessionEnd, SessionID: "s1", Reason: "clear"})
	text := r.hook(hook.Event{Name: hook.SessionStart, SessionID: "s2", Source: "clear"})
	if !strings.Contains(text, "you are api.") || !strings.Contains(text, "get_messages shows it") {
		t.Errorf("the new session is told %s", text)
	}
	if all := r.agents(); len(all) != 2 || all["api"].Status != c3po.Online {
		t.Errorf("there are %v", all)
	}
}

func TestOffMakesTheSessionSilentAndSaysSoAndOnBringsItBack(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	r.prompt()
	r.off.Store(true)
	r.send("web", "Which port?")
	if text := r.hook(hook.Event{Name: hook.StopEvent, SessionID: "s1"}); text != "{}" {
		t.Errorf("it says %s", text)
	}
	eventually(t, "it is off, and alive", func() bool {
		api := r.agents()["api"]
		return api.Reachability == c3po.ReachOff && api.Alive != nil && *api.Alive
	})
	if text, failed := r.call("u1", "get_messages", nil); !failed || !strings.Contains(text, "c3po is switched off here") {
		t.Errorf("a tool answers %s", text)
	}
	r.off.Store(false)
	if text := r.prompt(); !strings.Contains(text, "get_messages shows it") {
		t.Errorf("when it is on again it says %s", text)
	}
	if agent := r.agents()["api"]; agent.Status != c3po.Online {
		t.Errorf("when it is on again it is %s", agent.Status)
	}
}

func TestAHookThatRunsBeforeTheSessionProcessIsNotLost(t *testing.T) {
	t.Parallel()
	c := coordinator(t)
	first := start(t, c.URL(), "box:1:1")
	first.hangUp()
	event := hook.Event{Name: hook.SessionStart, SessionID: "s1", Source: "startup"}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if answer, ok := session.Ask(ctx, filepath.Join(filepath.Dir(first.socket), session.SocketName("box:1:1")), nil, event); ok {
		t.Errorf("nobody is there, and the answer is %q", answer)
	}
	first.connect("box:1:1")
	eventually(t, "it is online without a call", func() bool { return first.agents()["api"].Status == c3po.Online })
}

func TestAMonitorHearsOfMailWhileTheSessionIsIdleAndNotWhileItWorks(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	lines := make(chan string, 10)
	go func() {
		for t.Context().Err() == nil {
			_ = session.Listen(t.Context(), r.socket, nil, func(line string) { lines <- line })
		}
	}()
	r.prompt()
	r.call("u1", "list_agents", nil)
	r.send("web", "while it works")
	eventually(t, "the mail is known", func() bool { return strings.Contains(r.prompt(), "1 message is not acked") })
	text := r.hook(hook.Event{Name: hook.StopEvent, SessionID: "s1"})
	if !strings.Contains(text, "1 new message expecting an answer from 'web'") {
		t.Errorf("the end of the turn says %s", text)
	}
	if text := r.hook(hook.Event{Name: hook.StopEvent, SessionID: "s1", Again: "true"}); text != "{}" {
		t.Errorf("and then %s", text)
	}
	r.send("ui", "<i>while it is idle</i>") // with a tag it is told of, and does not come by itself
	if line := <-lines; line != "c3po: 1 new message expecting an answer from 'ui'. get_messages shows it." {
		t.Errorf("the line is %q", line)
	}
	if text := r.prompt(); text != "{}" {
		t.Errorf("the turn that the line has started says %s", text)
	}
	if n := len(lines); n != 0 {
		t.Errorf("%d more lines", n)
	}
}

func TestALineThatNoHookFollowsIsSentAgain(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	lines := make(chan string, 10)
	go func() {
		for t.Context().Err() == nil {
			_ = session.Listen(t.Context(), r.socket, nil, func(line string) { lines <- line })
		}
	}()
	r.prompt()
	r.hook(hook.Event{Name: hook.StopEvent, SessionID: "s1"})
	r.send("web", "<i>Which port?</i>")
	first := <-lines
	select {
	case second := <-lines:
		if second != first {
			t.Errorf("the second line is %q", second)
		}
	case <-time.After(deadline):
		t.Error("a line that was dropped is not sent again")
	}
	if text := r.prompt(); text != "{}" {
		t.Errorf("the turn that it has started says %s", text)
	}
}

func TestASecondSessionProcessOfARunTakesOverWhenTheFirstHasEnded(t *testing.T) {
	t.Parallel()
	c := coordinator(t)
	first := start(t, c.URL(), "box:1:1")
	eventually(t, "the first is reached", func() bool { return reached(first.socket) })
	second := &testSession{t: t, url: c.URL(), socket: first.socket}
	second.connect("box:1:1")
	first.hangUp()
	eventually(t, "the second is reached", func() bool { return reached(first.socket) })
	second.hangUp()
	left, err := filepath.Glob(filepath.Join(filepath.Dir(first.socket), "*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func reached(socket string) bool {
	connection, err := net.Dial("unix", socket)
	if err == nil {
		_ = connection.Close()
	}
	return err == nil
}

func commandIn(home, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin"}
	return cmd
}

// It does not run beside other tests: while this process has such a child, no
// coordinator starts below it.
func TestTheSelfTestCountsTheTools(t *testing.T) {
	command := faultrig.Binary(t)
	home := faultrig.Home(t)
	cmd := commandIn(home, command, "mcp")
	tools, err := session.SelfTest(t.Context(), "1", cmd)
	if err != nil || tools != 11 {
		t.Errorf("%d tools, %v", tools, err)
	}
	if _, err := session.SelfTest(t.Context(), "1", commandIn(home, "/bin/false")); err == nil {
		t.Error("a program that fails passes the test")
	}
}
