package cli

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/agent/bridge"
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
	a := &app{Process: Process{Getenv: func(name string) string {
		return map[string]string{"HOME": home}[name]
	}}}
	a.folders.Getenv = a.Getenv

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
		r, err := a.runOf(of)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(r.socket) != bridge.SocketName(r.name) {
			t.Fatalf("the socket of %s is %s", r.name, r.socket)
		}
		return r.socket
	}
	mine, theirs := socket(os.Getpid()), socket(inner.Process.Pid)
	for _, test := range []struct {
		there []string
		asked string
		want  bool
	}{
		{nil, mine, false},
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
		if got := a.stranger(pid, test.asked); got != test.want {
			t.Errorf("with %d sessions above it, it is a stranger to %s: %v", len(test.there), filepath.Base(test.asked), got)
		}
	}
}
