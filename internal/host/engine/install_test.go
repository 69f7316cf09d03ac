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
		"podman":         "podman run -d --name c3po-redis",
		"docker":         "c3po up --redis redis://127.0.0.1:6379",
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
		if got := howToInstall(has); !strings.Contains(got, want) {
			t.Errorf("with %q it says %q, which lacks %q", programs, got, want)
		}
	}
}
