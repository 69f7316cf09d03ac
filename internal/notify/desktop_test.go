package notify

import (
	"slices"
	"testing"
)

// What agents wrote must not become a script.
func TestNoTextIsPartOfAScript(t *testing.T) {
	t.Parallel()
	const text = `" & (do shell script "id") & "`
	for _, system := range []string{"linux", "darwin"} {
		command := desktopCommand(system, "title", text)
		last := slices.Index(command, "--")
		if last < 0 {
			t.Fatalf("%s: %q does not say where its options end", system, command)
		}
		for _, word := range command[:last] {
			if word == text || word == "title" {
				t.Errorf("%s: %q stands before the end of the options", system, word)
			}
		}
	}
	if command := desktopCommand("windows", "title", text); command != nil {
		t.Errorf("windows: %q", command)
	}
}
