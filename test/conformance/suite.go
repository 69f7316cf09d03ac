// Package conformance runs the protocol's own conformance suite against a
// server. It is for tests only; run.sh installs what it needs.
package conformance

import (
	"bytes"
	"embed"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Folder is the variable that says where the suite is installed.
const Folder = "C3PO_CONFORMANCE"

//go:embed *.yml
var baselines embed.FS

// suites are the releases of the suite, by what they test. The one of before
// 2026-07-28 is the last that its clients were measured with.
var suites = []struct {
	protocol, module string
	choose           []string
}{
	{"2026-07-28", "conformance-2026", []string{"--requirements", "2026-07-28"}},
	{"2025-11-25", "conformance-2025", []string{"--spec-version", "2025-11-25"}},
}

// Run puts every scenario to the server at url. Those that the baseline of that
// name lists must fail, all others must pass. Without an installed suite it skips
// the test.
func Run(t *testing.T, url, baseline string) {
	t.Helper()
	installed := os.Getenv(Folder)
	if installed == "" {
		t.Skip(Folder + " is not set: make -C test conformance runs this")
	}
	for _, suite := range suites {
		t.Run(suite.protocol, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			expected := filepath.Join(folder, "baseline.yml")
			list, err := baselines.ReadFile(baseline + "-" + suite.protocol + ".yml")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(expected, list, 0o600); err != nil {
				t.Fatal(err)
			}
			modules := filepath.Join(installed, "node_modules")
			arguments := append([]string{filepath.Join(modules, suite.module, "dist", "index.js"),
				"server", "--url", url, "--expected-failures", expected}, suite.choose...)
			cmd := exec.CommandContext(t.Context(), filepath.Join(modules, ".bin", "node"), arguments...)
			cmd.Dir = folder // where it may write results
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if at := bytes.Index(out, []byte("=== SUMMARY ===")); at >= 0 {
				t.Logf("%s", out[at:])
			} else {
				t.Errorf("it did not say what it has done:\n%s", out)
			}
		})
	}
}
