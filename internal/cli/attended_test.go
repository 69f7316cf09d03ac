package cli

import (
	"os"
	"testing"
)

// A client without a terminal may not end before its background shells do.
func TestAClientWithOnePromptIsNotAttended(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string]bool{
		"-p": true, "-sp": true, "--prompt": true, "--prompt=x": true,
		"-s": false, "--plain-diff": false, "-": false, "pick": false, "--allow-tool=shell(cp)": false,
	} {
		if got := isPromptFlag(arg); got != want {
			t.Errorf("%s: %v", arg, got)
		}
	}
	if attended("kimi", os.Getpid()) || attended("copilot", -1) {
		t.Error("it is attended though nobody can say")
	}
}
