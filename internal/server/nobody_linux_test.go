package server_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/c3po-dev/c3po/c3po"
)

// script has a shell run a script of several lines, and returns the line it says.
func (s shell) script(text string, args ...string) string {
	s.h.t.Helper()
	file, err := os.CreateTemp(s.h.folder, "script")
	if err != nil {
		s.h.t.Fatal(err)
	}
	if _, err := file.WriteString(text); err != nil {
		s.h.t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		s.h.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(s.in, "sh %s %s | tr '\\n' ' '; echo\n", file.Name(), strings.Join(args, " ")); err != nil {
		s.h.t.Fatal(err)
	}
	line, err := s.out.ReadString('\n')
	if err != nil {
		s.h.t.Fatal(err)
	}
	return line
}

// Codex starts its shell and our process side by side, and only the latter is a
// session's: what the client itself starts is that session's all the same.
func TestTheShellOfAClientWhoseSessionIsBesideItIsNoPersons(t *testing.T) {
	t.Parallel()
	h := newSocketCoordinator(t)
	h.session("bob")
	codex := h.shell()
	if _, err := fmt.Fprintf(codex.in, `sh -c 'run=$(hostname):$$:$(cut -d" " -f22 /proc/$$/stat); curl -s --unix-socket %s -H "Content-Type: application/json" -H "X-Agent-ID: web" -H "X-C3PO-Client: c3po/dev codex" -H "X-C3PO-Run: $run" -d "{\"type\":\"codex\"}" http://localhost/api/op/register_agent | tr "\n" " "; echo; exec sleep 60' &`+"\n", h.socket); err != nil {
		t.Fatal(err)
	}
	if answer, err := codex.out.ReadString('\n'); err != nil || strings.Contains(answer, `"code"`) {
		t.Fatal(answer, err)
	}
	defer fmt.Fprintln(codex.in, "kill $!")
	for op, header := range map[string]string{"human_list": "Authorization: Bearer " + h.person.Human, "human_show": "Authorization: Bearer " + h.person.Admin, "get_messages": "X-Agent-ID: bob"} {
		if answer := codex.call(op, "{}", header); !strings.Contains(answer, string(c3po.Forbidden)) {
			t.Errorf("the shell of Codex asks for %s and is answered %s", op, answer)
		}
	}
	if answer := codex.call("get_messages", "{}", "X-Agent-ID: web"); strings.Contains(answer, `"code"`) {
		t.Errorf("it is its own session's, and answered %s", answer)
	}
}

// nested calls with a number of shells in between.
const nested = `n=$1; shift
if [ $n -gt 0 ]; then sh "$0" $((n-1)) "$@"; exit $?; fi
curl -s --unix-socket "$1" -H 'Content-Type: application/json' -H "$2" -d '{}' http://localhost/api/op/$3
exit $?
`

func TestNoNumberOfProcessesInBetweenMakesAPersonOfAnAgent(t *testing.T) {
	t.Parallel()
	h := newSocketCoordinator(t)
	h.session("bob")
	alice, terminal := h.session("alice"), h.shell()
	for _, depth := range []string{"70", "200"} {
		for op, header := range map[string]string{"human_list": "'Authorization: Bearer " + h.person.Human + "'", "get_messages": "'X-Agent-ID: bob'"} {
			if answer := alice.script(nested, depth, h.socket, header, op); !strings.Contains(answer, string(c3po.Forbidden)) {
				t.Errorf("%s processes below an agent, %s is answered %s", depth, op, answer)
			}
			if answer := terminal.script(nested, depth, h.socket, header, op); strings.Contains(answer, `"code"`) {
				t.Errorf("%s processes below a terminal, %s is answered %s", depth, op, answer)
			}
		}
	}
}

// connectVariable makes a test a process that connects the socket it was given to the
// named one, and ends.
const connectVariable = "C3PO_TEST_CONNECT"

// passed is a connection to the coordinator that another process has opened, which
// has ended since: the same as one that it has passed on.
func (h socketCoordinator) passed() net.Conn {
	h.t.Helper()
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	file := os.NewFile(uintptr(fd), "passed")
	defer file.Close()
	child := exec.CommandContext(h.t.Context(), os.Args[0], "-test.run=^"+h.t.Name()+"$")
	child.Env, child.ExtraFiles = append(os.Environ(), connectVariable+"="+h.socket), []*os.File{file}
	if out, err := child.CombinedOutput(); err != nil {
		h.t.Fatalf("%v: %s", err, out)
	}
	conn, err := net.FileConn(file)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestAConnectionWhoseProcessHasEndedIsNobodys(t *testing.T) {
	t.Parallel()
	if socket := os.Getenv(connectVariable); socket != "" {
		if err := syscall.Connect(3, &syscall.SockaddrUnix{Name: socket}); err != nil {
			t.Fatal(err)
		}
		return
	}
	h := newSocketCoordinator(t)
	h.session("bob")
	for op, header := range map[string][2]string{
		"human_list":   {"Authorization", "Bearer " + h.person.Human},
		"human_show":   {"Authorization", "Bearer " + h.person.Admin},
		"get_messages": {"X-Agent-ID", "bob"},
		"ping":         {"X-Agent-ID", "free"},
	} {
		conn := h.passed()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/api/op/"+op, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set(header[0], header[1])
		if err := request.Write(conn); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(bufio.NewReader(conn), request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusForbidden {
			t.Errorf("%s with %s: %s", op, header[0], answer.Status)
		}
	}
}

// A program that is no agent yet would make one of the shell above it.
func TestNoProgramClaimsTheShellThatItsPersonTypesInto(t *testing.T) {
	t.Parallel()
	h := newSocketCoordinator(t)
	sh := exec.CommandContext(t.Context(), "sh")
	sh.Env = append(os.Environ(), "PS1=", "ENV=")
	terminal, err := pty.Start(sh)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = terminal.Close()
		_ = sh.Wait()
	})
	script := filepath.Join(h.folder, "call")
	if err := os.WriteFile(script, []byte(claims), 0o600); err != nil {
		t.Fatal(err)
	}
	typed := func(op, header, run string) string {
		t.Helper()
		answer := filepath.Join(t.TempDir(), "answer")
		if err := syscall.Mkfifo(answer, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(terminal, "sh %s %s %s '%s' %s >%s\n", script, h.socket, op, header, run, answer); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(answer)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if answer := typed("ping", "X-Agent-ID: eve", runOf(t, sh.Process.Pid)); !strings.Contains(answer, string(c3po.Forbidden)) {
		t.Errorf("a program that claims its person's shell is answered %s", answer)
	}
	if answer := typed("ping", "X-Agent-ID: web", ""); strings.Contains(answer, `"code"`) {
		t.Errorf("a session process in that shell is answered %s", answer)
	}
	if answer := typed("human_list", "Authorization: Bearer "+h.person.Human, "none"); strings.Contains(answer, `"code"`) || answer == "" {
		t.Errorf("the person is answered %s", answer)
	}
}

// claims calls with a run, its own if none is given, as a session of Codex does.
const claims = `run=${4:-$(hostname):$$:$(cut -d' ' -f22 /proc/$$/stat)}
socket=$1 op=$2 header=$3
set --
[ "$run" = none ] || set -- -H "X-C3PO-Run: $run" -H 'X-C3PO-Client: c3po/dev codex'
curl -s --unix-socket "$socket" -H 'Content-Type: application/json' -H "$header" -d '{}' "$@" "http://localhost/api/op/$op"
exit $?
`
