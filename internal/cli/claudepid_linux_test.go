package cli

import (
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/cli/agentside"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// A hook that finds no session process leaves a note for the one that comes. In
// another session's place it would begin that session with an event of its own.
func TestAHookLeavesNothingForASessionThatHasNotStartedIt(t *testing.T) {
	t.Parallel()
	other := exec.CommandContext(t.Context(), "cat")
	in, err := other.StdinPipe()
	if err == nil {
		err = other.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = in.Close()
		_ = other.Wait()
	}()
	for name, c := range map[string]struct {
		PID  int
		left bool
	}{
		"the client that has started it": {os.Getppid(), true},
		"another session":                {other.Process.Pid, false},
		"its own process":                {os.Getpid(), false},
	} {
		home := faultrig.Home(t) // short, as the path of a socket must be
		variables := map[string]string{"HOME": home, "CLAUDE_PID": strconv.Itoa(c.PID)}
		start := console.Process{
			Args: []string{"hook", "session-start"}, Stdin: strings.NewReader(`{"session_id":"forged","source":"startup"}`),
			Stdout: t.Output(), Stderr: t.Output(), Getenv: func(name string) string { return variables[name] },
		}
		if code := Main(t.Context(), start); code != console.ExitOK {
			t.Errorf("%s: the hook ends with %d", name, code)
		}
		left := false
		err := fs.WalkDir(os.DirFS(home), ".", func(path string, entry fs.DirEntry, err error) error {
			left = left || !entry.IsDir()
			return err
		})
		if err != nil || left != c.left {
			t.Errorf("%s: the hook leaves something: %t, want %t, %v", name, left, c.left, err)
		}
	}
	a := &console.Console{Process: console.Process{Getenv: func(name string) string {
		return map[string]string{"HOME": t.TempDir(), "CLAUDE_PID": strconv.Itoa(other.Process.Pid)}[name]
	}}}
	a.Folders.Getenv = a.Getenv
	if r, err := agentside.MonitoredRun(a, ""); err == nil {
		t.Errorf("a monitor hears what wakes %+v", r)
	}
}
