package notify

import (
	"slices"
	"strings"
	"testing"
)

// What agents wrote must become neither a script nor markup.
func TestNoTextIsPartOfAScript(t *testing.T) {
	t.Parallel()
	const text = `" & (do shell script "id") & "<a href='http://x'>`
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
	if command := desktopCommand("linux", "title", text); strings.Contains(strings.Join(command, " "), "<a") {
		t.Errorf("linux: %q carries markup", command)
	}
	if command := desktopCommand("windows", "title", text); command != nil {
		t.Errorf("windows: %q", command)
	}
}
