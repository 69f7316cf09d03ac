package operate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/cli/console"
)

// A stand-in records how launchctl is called: there is none on the machines that run
// this.
func TestTheServiceOfLaunchdIsStartedAndRemovedWithItsFile(t *testing.T) {
	home, tools := t.TempDir(), t.TempDir()
	calls := filepath.Join(tools, "calls")
	if err := os.WriteFile(filepath.Join(tools, "launchctl"), []byte("#!/bin/sh\necho \"$*\" >>"+calls+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", tools+":"+os.Getenv("PATH"))
	a := &console.Console{Process: console.Process{Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }}}
	m, known := serviceManager(a, "darwin")
	if !known || m.file != filepath.Join(home, "Library", "LaunchAgents", "dev.c3po.coordinator.plist") {
		t.Fatalf("the file is %q", m.file)
	}
	if err := os.MkdirAll(filepath.Dir(m.file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range m.start {
		if err := m.run(t.Context(), command); err != nil {
			t.Fatal(err)
		}
	}
	if !m.isInstalled() {
		t.Error("it is not seen")
	}
	if err := m.removeFile(t.Context()); err != nil || m.isInstalled() {
		t.Errorf("it is still there: %v", err)
	}
	got, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(got)), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "bootstrap gui/") || !strings.HasSuffix(lines[0], " "+m.file) || !strings.HasSuffix(lines[1], "/dev.c3po.coordinator") || !strings.HasPrefix(lines[1], "bootout gui/") {
		t.Errorf("launchctl was called with %q", lines)
	}
}

func TestSystemsWithoutServicesWeKnowAreNamed(t *testing.T) {
	t.Parallel()
	if _, known := serviceManager((&console.Console{}), "windows"); known {
		t.Error("services of Windows are known")
	}
}
