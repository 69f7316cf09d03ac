package meta

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// An exception that nobody can explain is a hanging test that waits longer.
func TestEveryLongTimeoutIsOfAPackageAndHasAReason(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/timeouts.txt")
	if err != nil {
		t.Fatal(err)
	}
	var packages []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		if len(words) < 5 {
			t.Errorf("want a package, its time and why: %s", line)
			continue
		}
		packages = append(packages, words[0])
		if tests, err := filepath.Glob(filepath.Join(words[0], "*_test.go")); err != nil || len(tests) == 0 || !strings.HasPrefix(words[0], "./") {
			t.Errorf("%s is no package with tests: ./folder", words[0])
		}
		if most, err := time.ParseDuration(words[1]); err != nil || most <= 2*time.Minute || most > 19*time.Minute {
			t.Errorf("%s: want more than the usual two minutes, and at most nineteen, as go test ends after twenty: %s", words[0], words[1])
		}
	}
	if !slices.IsSorted(packages) || len(slices.Compact(slices.Clone(packages))) != len(packages) {
		t.Errorf("not in order, or twice: %q", packages)
	}
}

func TestAPackageHasItsTime(t *testing.T) {
	t.Parallel()
	for folder, want := range map[string]string{"internal/client": "2m", "internal/testkit/faultrig": "12m", "test/meta": "5m"} {
		if out, err := limited(t, folder, `echo "$@"`); err != nil || !strings.Contains(out, "-test.timeout="+want+"\n") {
			t.Errorf("%s is run with %s (%v), want %s", folder, out, err, want)
		}
	}
}

func TestAPackageThatLeavesFilesBehindFails(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]bool{
		`touch "$TMPDIR/left"; rm "$TMPDIR/left"`: true,
		`touch "$TMPDIR/left"`:                    false,
		`mkdir "$TMPDIR/left"`:                    false,
		`exit 1`:                                  false,
	} {
		if out, err := limited(t, "internal/hub", script); (err == nil) != want {
			t.Errorf("%s: %v\n%s", script, err, out)
		}
	}
}

// limited runs a script in place of a package's tests.
func limited(t *testing.T, folder, script string) (string, error) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil { // #nosec G306 -- it is run
		t.Fatal(err)
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(root, ".ci", "limits"), program)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "C3PO_TORTURE=")
	out, err := cmd.CombinedOutput()
	return string(out), err
}
