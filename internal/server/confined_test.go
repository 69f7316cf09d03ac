package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// A shell is a process that runs what it is told, as a coding agent's does.
type shell struct {
	h   socketCoordinator
	pid int
	in  io.Writer
	out *bufio.Reader
}

func (h socketCoordinator) shell() shell {
	h.t.Helper()
	sh := exec.CommandContext(h.t.Context(), "sh")
	in, err := sh.StdinPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	out, err := sh.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := sh.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		_ = in.Close()
		_ = sh.Wait()
	})
	return shell{h, sh.Process.Pid, in, bufio.NewReader(out)}
}

// call has the shell call an operation over the socket.
func (s shell) call(op, body string, headers ...string) string {
	s.h.t.Helper()
	command := fmt.Sprintf("curl -s --unix-socket '%s' -H 'Content-Type: application/json' -d '%s'", s.h.socket, body)
	for _, header := range headers {
		command += " -H '" + header + "'"
	}
	if _, err := fmt.Fprintf(s.in, "%s http://localhost/api/op/%s | tr '\\n' ' '; echo\n", command, op); err != nil {
		s.h.t.Fatal(err)
	}
	answer, err := s.out.ReadString('\n')
	if err != nil {
		s.h.t.Fatal(err)
	}
	return answer
}

// session is a shell that has registered as an agent's.
func (h socketCoordinator) session(id string, more ...string) shell {
	h.t.Helper()
	s := h.shell()
	if answer := s.call("register_agent", "{}", append(more, "X-Agent-ID: "+id, "X-C3PO-Run: "+runOf(h.t, s.pid))...); strings.Contains(answer, `"code"`) {
		h.t.Fatalf("%s is not registered: %s", id, answer)
	}
	return s
}

const forAlice = "the plan that only alice may read"

func TestNoAgentActsAsAnotherSessionOnItsHost(t *testing.T) {
	t.Parallel()
	h := newSocketCoordinator(t)
	alice, bob := h.session("alice", "X-Session-ID: s-alice"), h.session("bob")
	h.session("alice", "X-C3PO-Space: other")
	if answer := bob.call("send_message", `{"target":"alice","message":"`+forAlice+`"}`, "X-Agent-ID: bob"); strings.Contains(answer, `"code"`) {
		t.Fatalf("bob cannot write: %s", answer)
	}
	const as = "X-Agent-ID: alice"
	for _, test := range []struct {
		what, op, body string
		headers        []string
		refused        bool // else it may be answered, but not with alice's mail
	}{
		{"reads", "get_messages", "{}", []string{as}, true},
		{"waits", "wait_for_message", `{"timeout":1}`, []string{as}, true},
		{"sends", "send_message", `{"target":"bob","message":"x"}`, []string{as}, true},
		{"renames", "rename", `{"new_id":"carol"}`, []string{as}, true},
		{"leaves", "unregister", "{}", []string{as}, true},
		{"registers", "register_agent", "{}", []string{as}, true},
		{"with her run", "get_messages", "{}", []string{as, "X-C3PO-Run: " + runOf(t, alice.pid)}, true},
		{"with her session", "get_messages", "{}", []string{as, "X-Session-ID: s-alice"}, false},
		{"with a word", "get_messages", "{}", []string{as, "X-C3PO-Run: word"}, false},
		{"with its own run", "get_messages", "{}", []string{as, "X-C3PO-Run: " + runOf(t, bob.pid)}, false},
		{"in another space", "get_messages", "{}", []string{as, "X-C3PO-Space: other"}, true},
	} {
		answer := bob.call(test.op, test.body, test.headers...)
		if strings.Contains(answer, forAlice) || test.refused && !strings.Contains(answer, string(c3po.Forbidden)) {
			t.Errorf("bob %s as alice and is answered %s", test.what, answer)
		}
	}
	if answer := alice.call("get_messages", "{}", as); !strings.Contains(answer, forAlice) {
		t.Errorf("what alice has started reads %s", answer)
	}
	if answer := h.curl("get_messages", as); !strings.Contains(answer, forAlice) {
		t.Errorf("somebody at a terminal reads %s", answer)
	}
}

// The token of this user's agents is in a file that all of them can read.
func TestTheTokenOfAllAgentsHereDoesNotActAsALiveSessionOverTCP(t *testing.T) {
	t.Parallel()
	h := newSocketCoordinator(t)
	alice := h.session("alice")
	if answer := h.session("bob").call("send_message", `{"target":"alice","message":"`+forAlice+`"}`, "X-Agent-ID: bob"); strings.Contains(answer, `"code"`) {
		t.Fatalf("bob cannot write: %s", answer)
	}
	mine, err := paths.ReadCredentials(h.folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		as, run string
		want    int
	}{
		{"alice", "", http.StatusForbidden},
		{"alice", runOf(t, alice.pid), http.StatusForbidden},
		{"carol", "", http.StatusOK},
		{"carol", "box:7:99", http.StatusOK},
	} {
		headers := []string{"X-Agent-ID", test.as}
		if test.run != "" {
			headers = append(headers, "X-C3PO-Run", test.run)
		}
		status, text, err := call(t.Context(), http.DefaultClient, "POST", h.url+"/api/op/get_messages", mine.Token, "{}", headers...)
		if err != nil || status != test.want || strings.Contains(text, forAlice) {
			t.Errorf("as %s, run %q: %d %v %s", test.as, test.run, status, err, text)
		}
	}
}

func TestWhatASecondSessionOfAFolderStartsActsAsThatSession(t *testing.T) {
	t.Parallel()
	h := newSocketCoordinator(t)
	first, second := h.session("api"), h.session("api")
	for want, s := range map[string]shell{`"api"`: first, `"api-2"`: second} {
		if answer := s.call("whoami", "{}", "X-Agent-ID: api"); !strings.Contains(answer, `"agent_id":`+want) && !strings.Contains(answer, `"id":`+want) {
			t.Errorf("the session %s is answered %s", want, answer)
		}
	}
	// An agent that this one starts is a session of its own.
	if answer := second.call("register_agent", "{}", "X-Agent-ID: nested", "X-C3PO-Run: "+runOf(t, second.pid)); strings.Contains(answer, `"code"`) {
		t.Errorf("a nested one is answered %s", answer)
	}
}

// One daemon of Codex starts the processes of all its sessions.
func TestWhatADaemonOfSeveralSessionsStartsActsAsThem(t *testing.T) {
	t.Parallel()
	h := newSocketCoordinator(t)
	daemon := h.session("daemon")
	answer := daemon.call("whoami", "{}", "X-Agent-ID: daemon")
	if strings.Contains(answer, `"code"`) {
		t.Fatal(answer)
	}
	// The process of ours, which holds the name for as long as it lives.
	if _, err := fmt.Fprintf(daemon.in, `sh -c 'run=$(hostname):$$:$(cut -d" " -f22 /proc/$$/stat); curl -s --unix-socket %s -H "Content-Type: application/json" -H "X-Agent-ID: web" -H "X-C3PO-Run: $run" -d "{\"type\":\"codex\"}" http://localhost/api/op/register_agent | tr "\n" " "; echo; exec sleep 60' &`+"\n", h.socket); err != nil {
		t.Fatal(err)
	}
	answer, err := daemon.out.ReadString('\n')
	if err != nil || strings.Contains(answer, `"code"`) {
		t.Fatal(answer, err)
	}
	if answer := daemon.call("get_messages", "{}", "X-Agent-ID: web"); strings.Contains(answer, string(c3po.Forbidden)) {
		t.Errorf("what the daemon starts is answered %s", answer)
	}
	if answer := h.session("other").call("get_messages", "{}", "X-Agent-ID: web"); !strings.Contains(answer, string(c3po.Forbidden)) {
		t.Errorf("another agent is answered %s", answer)
	}
	_, _ = fmt.Fprintln(daemon.in, "kill $!")
}

// The run of a shell above an agent would make an agent of the person's shell.
func TestAnAgentDoesNotClaimTheShellItWasStartedFrom(t *testing.T) {
	t.Parallel()
	h := newSocketCoordinator(t)
	person := h.shell()
	inner := `run=$(hostname):$$:$(cut -d" " -f22 /proc/$$/stat); ask() { curl -s --unix-socket ` + h.socket + ` -H "Content-Type: application/json" -H "X-Agent-ID: $1" -H "X-C3PO-Run: $2" -d "{}" http://localhost/api/op/ping | tr "\n" " "; }; ask bob $run; ask eve ` + runOf(t, person.pid) + `; echo`
	if _, err := fmt.Fprintf(person.in, "sh -c '%s'\n", inner); err != nil {
		t.Fatal(err)
	}
	answer, err := person.out.ReadString('\n')
	if err != nil || strings.Count(answer, string(c3po.Forbidden)) != 1 {
		t.Errorf("an agent that claims its person's shell is answered %s, %v", answer, err)
	}
	if answer := person.call("human_list", "{}", "Authorization: Bearer "+h.person.Human); strings.Contains(answer, `"code"`) {
		t.Errorf("the person is answered %s", answer)
	}
}
