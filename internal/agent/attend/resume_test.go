package attend

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// keeperOf is one of a home in which nothing is open.
func keeperOf(t *testing.T) *keeper {
	t.Helper()
	home := t.TempDir()
	return &keeper{Service: New(Config{
		Folders: paths.Folders{Getenv: func(string) string { return home }}, Lives: func(string) bool { return false },
	})}
}

// Clients are often a small program that runs the real one. If only that is killed, the
// real one would have the session for ever.
func TestWhatIsLeftOfAKilledClientEndsWithIt(t *testing.T) {
	t.Parallel()
	k := keeperOf(t)
	left := filepath.Join(t.TempDir(), "left")
	began := time.Now()
	err := k.execute(t.Context(), exec.Command("sh", "-c", `sleep 600 & echo $! >"$0.new"; mv "$0.new" "$0"; kill -KILL $$`, left))
	if err == nil {
		t.Error("a client that was killed has ended well")
	}
	if took := time.Since(began); took > 5*time.Minute {
		t.Errorf("its end was seen after %v", took)
	}
	written, err := os.ReadFile(left)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(written)))
	if err != nil {
		t.Fatal(err)
	}
	if !faultrig.Within(time.Minute, func() bool { return !runs(pid) }) {
		t.Error("what it had started goes on")
	}
}

// runs says that a process is there and not only waits to be taken note of.
func runs(pid int) bool {
	state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(string(state), "Z")
}

func TestAClientThatLeavesItsOutputOpenHasEndedWell(t *testing.T) {
	t.Parallel()
	k := keeperOf(t)
	if err := k.execute(t.Context(), exec.Command("sh", "-c", `sleep 600 & exit 0`)); err != nil {
		t.Error(err)
	}
}

func TestAResumedClientEndsWhenThePersonOpensItsSession(t *testing.T) {
	t.Parallel()
	k := keeperOf(t)
	k.session = paths.Session{ID: "s1", Client: "claude-code", Folder: "/project", Agent: "api"}
	k.cfg.Lives = func(run string) bool { return run == "box:7:1" }
	noted := make(chan error, 1)
	time.AfterFunc(lookEvery, func() {
		noted <- k.cfg.Folders.NoteOpening(paths.Opening{Client: "claude-code", Folder: "/project", Run: "box:7:1"})
	})
	if err := k.execute(t.Context(), exec.Command("sleep", "20")); !errors.Is(err, errOpened) {
		t.Errorf("it ends with %v", err)
	}
	if err := <-noted; err != nil {
		t.Error(err)
	}
}

// Codex lets one process have a session: the person's waits at its terminal, and has not
// started c3po yet.
func TestAResumedClientEndsWhenThePersonsWaitsForItsSession(t *testing.T) {
	t.Parallel()
	k := keeperOf(t)
	k.cfg.Awaited = func(paths.Session) bool { return true }
	k.session = paths.Session{ID: "s1", Client: "codex", Folder: "/project", Agent: "api"}
	if err := k.execute(t.Context(), exec.Command("sleep", "20")); !errors.Is(err, errOpened) {
		t.Errorf("it ends with %v", err)
	}
	k.session.Client = "claude-code"
	if err := k.execute(t.Context(), exec.Command("sleep", "2")); err != nil {
		t.Errorf("one that any process can have ends with %v", err)
	}
}
