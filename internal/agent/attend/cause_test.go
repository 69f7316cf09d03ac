package attend

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/agent/resident"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// The system would name the program, which is there. The keeper has no coordinator: a start
// that was recorded would end the test.
func TestASessionWhoseFolderIsGoneIsNotStarted(t *testing.T) {
	t.Parallel()
	k := keeperOf(t)
	k.session = paths.Session{ID: "s1", Client: "claude-code", Agent: "api", Folder: filepath.Join(t.TempDir(), "gone")}
	if _, err := k.cfg.Folders.Consent("api", &paths.Consent{Mode: "manual", Starts: 1}); err != nil {
		t.Fatal(err)
	}
	k.cfg.Command = func(s paths.Session, _, _ string) (*exec.Cmd, string, error) {
		cmd := exec.Command("true")
		cmd.Dir = s.Folder
		return cmd, "manual", nil
	}
	if err := k.resume(t.Context(), nil, resident.View{}); err == nil || !strings.Contains(err.Error(), k.session.Folder) {
		t.Errorf("it ends with %v", err)
	}
	if n := len(k.starts["api"]); n != 0 {
		t.Errorf("%d starts are counted", n)
	}
}

func TestTheCauseOfAFailureComesFirst(t *testing.T) {
	t.Parallel()
	ended := errors.New("exit status 1")
	banner := "OpenAI Codex v0.166\n--------\n" + strings.Repeat("workdir: /src\n", 20)
	for said, want := range map[string]string{
		"":                                      "exit status 1",
		"it is not for root\n":                  "it is not for root (exit status 1)",
		banner + "ERROR: no such session\n\n":   "ERROR: no such session (exit status 1)",
		"a\nb\nTypeError: x\n  at f\n\nNode 22": "TypeError: x\n  at f\nNode 22 (exit status 1)",
		"a\nb\nc\nd":                            "b\nc\nd (exit status 1)",
		strings.Repeat("x", 600):                strings.Repeat("x", 500) + "… (exit status 1)",
	} {
		if got := because(ended, said); got.Error() != want || !errors.Is(got, ended) {
			t.Errorf("%q is shown as %q, want %q", said, got, want)
		}
	}
}
