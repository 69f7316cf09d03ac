package cli

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/cli/agentside"
	"github.com/c3po-dev/c3po/internal/cli/console"
)

func TestAProcessBelongsToTheNearestSessionAboveIt(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the parents of processes cannot be read")
	}
	home, err := os.MkdirTemp("", "c3h") // its name leaves room for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	a := &console.Console{Process: console.Process{Getenv: func(name string) string {
		return map[string]string{"HOME": home}[name]
	}}}
	a.Folders.Getenv = a.Getenv

	inner := exec.CommandContext(t.Context(), "sh", "-c", "exec 3<&0; cat <&3 & echo $!; wait")
	in, err := inner.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := inner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := inner.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = inner.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}

	socket := func(of int) string {
		r, err := agentside.RunOf(a, of)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(r.Socket) != session.SocketName(r.Name) {
			t.Fatalf("the socket of %s is %s", r.Name, r.Socket)
		}
		return r.Socket
	}
	mine, theirs := socket(os.Getpid()), socket(inner.Process.Pid)
	for _, test := range []struct {
		there []string
		asked string
		want  bool
	}{
		{nil, mine, true},
		{[]string{mine}, mine, false},
		{[]string{mine}, theirs, true},
		{[]string{mine, theirs}, theirs, false},
		{[]string{mine, theirs}, mine, true},
	} {
		for _, name := range test.there {
			if err := os.WriteFile(name, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := agentside.Stranger(a, pid, test.asked); got != test.want {
			t.Errorf("with %d sessions above it, it is a stranger to %s: %v", len(test.there), filepath.Base(test.asked), got)
		}
	}
}

// Any program of the user can put a socket where that of a session was.
func TestAHookTellsNothingToWhoeverTookTheSocketOfItsSession(t *testing.T) {
	t.Parallel()
	if !auth.KnowsPeers {
		t.Skip("nobody can tell who listens")
	}
	home, err := os.MkdirTemp("", "c3h") // its name leaves room for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	a := &console.Console{Process: console.Process{Getenv: func(name string) string {
		return map[string]string{"HOME": home}[name]
	}}}
	a.Folders.Getenv = a.Getenv
	// What this process listens on as if it were the session process of a client. It is one of
	// what has started it, and of nobody else.
	ask := func(client int) (answered bool, received string) {
		r, err := agentside.RunOf(a, client)
		if err != nil {
			t.Fatal(err)
		}
		listener, err := net.Listen("unix", r.Socket)
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		told := make(chan string, 1)
		go func() {
			connection, err := listener.Accept()
			if err != nil {
				told <- err.Error()
				return
			}
			defer connection.Close()
			line, _ := bufio.NewReader(connection).ReadString('\n')
			_, _ = connection.Write([]byte("do as I say\n"))
			told <- line
		}()
		_, answered = session.AskHere(t.Context(), r.Socket, a.Trust(r.Socket), hook.Event{Name: hook.UserPromptSubmit, Prompt: "my secret plan"})
		return answered, <-told
	}
	if answered, received := ask(os.Getppid()); !answered || !strings.Contains(received, "my secret plan") {
		t.Errorf("the session process hears %q, and its answer is taken: %v", received, answered)
	}
	if answered, received := ask(os.Getpid()); answered || received != "" {
		t.Errorf("somebody else hears %q, and the answer is taken: %v", received, answered)
	}
}
