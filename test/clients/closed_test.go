package clients_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/clientrig"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/llm"
)

// resumedFor is in the prompt of every resumed session.
const resumedFor = "is resumed because there is mail"

var printerPort = regexp.MustCompile(`port of the printer is (\d+)`)

// ends are both ends of what a resumed session may do: it runs no command, and any.
var ends = []string{"manual", "bypassPermissions"}

// A closedClient is one whose closed sessions mail can resume.
type closedClient struct {
	name     string
	shell    func(command string) llm.Step // what its model does to run a command
	sessions string                        // the files of its conversations, below the home
	modes    []string                      // the most restrictive that it has, and the other end
	again    bool                          // only with its second prompt it is known to be a person's
	quit     string                        // what ends it, if the end of its terminal does not
	limit    time.Duration                 // from mail to its first question to its model
	reopen   []string                      // what a person gives it before the session's id to open that
	refuses  string                        // what it shows, until R is pressed, while another process has the session
	asks     bool                          // what it does before its first prompt is tried with it
}

// remembering is a model that answers its mail from what was said in its conversation, but
// first tries to make a file.
func (c closedClient) remembering(file string) llm.Script {
	var tried atomic.Bool
	return func(q llm.Request) llm.Step {
		if strings.Contains(q.Fresh(), resumedFor) {
			tried.Store(true)
			return c.shell("touch " + file)
		}
		if tried.Swap(false) {
			return llm.Call("get_messages", nil)
		}
		known := "I don't know"
		if fact := printerPort.FindStringSubmatch(q.All()); fact != nil {
			known = fact[1]
		}
		return llm.Following(llm.Answers(known), llm.Else(done))(q)
	}
}

func (r *testAgent) listed() clientrig.KeptSession {
	r.T.Helper()
	return clientrig.OnlySession(r.T, r.C3PO("attend", "list", "--json"))
}

func (r *testAgent) attend() {
	r.T.Helper()
	argv := r.Argv(faultrig.Binary(r.T), "attend")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = r.Home(), r.Environ()
	clientrig.RunAttend(r.T, cmd)
}

// closed is a session that was told a fact and closed.
func (c closedClient) closed(t *testing.T) (*testAgent, clientrig.KeptSession) {
	t.Helper()
	r := newTestAgent(t, c.name, nil)
	r.Model.Script = c.remembering(filepath.Join(r.Folder, "made"))
	term := r.Open()
	term.Rest()
	term.Enter("The port of the printer is 9100.")
	term.See("ALL-DONE")
	r.c.Online("api")
	term.Rest()
	if c.again {
		term.Enter("Thank you.")
		term.Rest()
	}
	if c.quit != "" {
		term.Enter(c.quit)
	} else {
		term.Close()
	}
	r.c.Offline("api")
	return r, r.listed()
}

// answersInEachMode wants mail to resume the session: it answers from what it knows, with the
// rights it was given, and ends.
func (a *closedAgent) answersInEachMode() {
	a.T.Helper()
	made := filepath.Join(a.Folder, "made")
	a.Model.Script = a.remembering(made)
	for _, mode := range a.modes[:a.rounds()] {
		a.allows(mode)
		a.answers(mode)
		_, err := os.Stat(made)
		if ran, may := err == nil, mode == "bypassPermissions"; ran != may {
			a.T.Errorf("in mode %s it has run a command: %v", mode, ran)
		}
	}
	conversations := map[string]bool{} // Gemini CLI begins another file for one that it resumes in another minute
	for _, file := range a.Glob(a.sessions) {
		conversations[file[strings.LastIndexByte(file, '-')+1:]] = true
	}
	if len(conversations) != 1 {
		a.T.Errorf("it keeps the conversations %v", conversations)
	}
	a.c.Only("api", "web")
}

// rounds is how many modes are tried: one of a client that takes long.
func (c closedClient) rounds() int {
	if c.limit > 3*time.Second {
		return faultrig.Size(1, len(c.modes))
	}
	return len(c.modes)
}

// answers wants mail to resume the session in a mode.
func (a *closedAgent) answers(mode string) {
	t := a.T
	t.Helper()
	a.c.Reached("api", "it is closed", c3po.ReachStarts)
	starts, before, sent := a.listed().Starts, len(a.Model.Seen()), time.Now()
	question := a.ask("Which port has the printer?")
	if question.Reachability != c3po.ReachStarts || question.Recipient != c3po.Offline {
		t.Errorf("the receipt says %s, %s", question.Recipient, question.Reachability)
	}
	a.c.Answered("web", question, "9100", 180)
	faultrig.Hold(t, "from mail to the first model request of a resumed "+a.name, a.Model.Seen()[before].At.Sub(sent), a.limit)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%s %s on %s, by c3po attend, permission mode %s", a.name, a.kept.Session, host, mode)
	clientrig.Eventually(t, 5*time.Second, "the trace says "+want, func() bool {
		trace, err := a.c.As("web").Trace(t.Context(), c3po.MessageInput{MessageID: question.ID})
		return err == nil && len(trace.Started) == 1 && trace.Started[0].Session == want && len(trace.Answered) == 1
	})
	a.quiet()
	if now := a.listed(); now.Session != a.kept.Session || now.Open || now.Starts != starts+1 {
		t.Errorf("the session is %+v, it was %+v, with %d starts", now, a.kept, starts)
	}
}

var closedCodex = closedClient{
	name: "codex", reopen: []string{"resume"}, refuses: "another app", asks: true, modes: ends, limit: 3 * time.Second, sessions: ".codex/sessions/*/*/*/rollout-*.jsonl",
	shell: func(command string) llm.Step { return llm.Call("exec_command", map[string]any{"cmd": command}) },
}

var closedOpenCode = closedClient{
	name: "opencode", reopen: []string{"--session"}, modes: ends, limit: 8 * time.Second, sessions: ".local/share/opencode/opencode.db",
	shell: func(command string) llm.Step {
		return llm.Call("bash", map[string]any{"command": command, "description": "Make a file"})
	},
}

var closedGemini = closedClient{
	name: "gemini", reopen: []string{"--resume"}, modes: ends, quit: "/quit", limit: 5 * time.Second, sessions: ".gemini/tmp/*/chats/session-*.json*",
	shell: func(command string) llm.Step {
		return llm.Call("run_shell_command", map[string]any{"command": command, "description": "Make a file"})
	},
}

var closedCopilot = closedClient{
	name: "copilot", reopen: []string{"--resume"}, modes: ends, limit: 3 * time.Second, sessions: ".copilot/session-state/*-*-*-*-*",
	shell: func(command string) llm.Step {
		return llm.Call("bash", map[string]any{"command": command, "description": "Make a file"})
	},
}

var closedKimi = closedClient{
	name: "kimi", reopen: []string{"--session"}, modes: ends[1:], again: true, limit: 5 * time.Second, sessions: ".kimi-code/sessions/wd_*/session_*",
	shell: func(command string) llm.Step { return llm.Call("Bash", map[string]any{"command": command}) },
}
