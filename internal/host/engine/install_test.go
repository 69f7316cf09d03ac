package engine

import (
	"strings"
	"testing"
)

func TestAMissingServerIsNamedInTheWordsOfTheSystem(t *testing.T) {
	t.Parallel()
	for programs, want := range map[string]string{
		"apt-get docker": "sudo apt-get install redis-server",
		"dnf":            "sudo dnf install valkey",
		"apk":            "sudo apk add redis",
		"pacman":         "sudo pacman -S valkey",
		"brew":           "brew install redis",
		"apt-get podman": "then `c3po up` again. Or run Redis in a container: `c3po up --redis-container podman`.",
		"podman":         "Run Redis in a container: `c3po up --redis-container podman`.",
		"docker":         "Run Redis in a container: `c3po up --redis-container docker`.",
		"":               "Install Redis 7 or Valkey",
	} {
		has := func(name string) bool {
			for program := range strings.FieldsSeq(programs) {
				if program == name {
					return true
				}
			}
			return false
		}
		if got := howToInstall(has, false); !strings.Contains(got, want) {
			t.Errorf("with %q it says %q, which lacks %q", programs, got, want)
		}
		if got := howToInstall(has, true); strings.Contains(got, "sudo") {
			t.Errorf("with %q root is told %q", programs, got)
		}
	}
}
