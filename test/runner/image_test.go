package runner_test

import (
	"strings"
	"testing"
)

func TestTheImageIsBuiltWhenWhatItIsMadeOfHasChangedAndOnlyThen(t *testing.T) {
	stage(t, "image")
	h := bareHost(t)
	workspace := h.workspace("work")
	id := func() string {
		return strings.TrimSpace(h.inspect("image", "inspect", "--format", "{{.Id}}", "localhost/c3po-agent"))
	}
	shell := func(args ...string) (built bool) {
		t.Helper()
		got := h.c3po(workspace, "claude --version; id -u; exit 7\n", append([]string{"agent", "shell"}, args...)...)
		if got.code != 7 || !strings.Contains(got.stdout, "2.1.325") || !strings.Contains(got.stdout, "\n1000\n") {
			t.Fatalf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
		}
		return strings.Contains(got.stderr, "building the image")
	}
	shell() // built if no run before this one has
	first := id()
	if shell() || id() != first {
		t.Error("it is built again although nothing has changed")
	}
	h.extra = append(h.extra, "CLAUDE_CODE_VERSION=2.1.325-other")
	if !shell() || id() == first {
		t.Error("it is not built again although another version is asked for")
	}
	h.extra = h.extra[:len(h.extra)-1]
	if !shell() {
		t.Error("it is not built again although it is that of another version")
	}
	if shell() {
		t.Error("it is built again although it is current")
	}
	if !shell("-b") {
		t.Error("-b does not build it")
	}
}
