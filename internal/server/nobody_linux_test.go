package server_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/c3po-dev/c3po"
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
	h := newHouse(t)
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
	h := newHouse(t)
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
func (h house) passed() net.Conn {
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
	h := newHouse(t)
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
