// Package typescript_test uses the TypeScript client as its readers do: packed by npm,
// installed, checked by the compiler at its strictest, and run by Node before a real coordinator.
package typescript_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestMain(m *testing.M) { faultrig.Main(m) }

const (
	source   = "../../client/typescript"
	compiler = "../../web/node_modules/@typescript/native/bin/tsc" // of the dashboard, which make web has installed
	nodeType = "../../web/node_modules/@types/node"
)

// installed is a folder with the package as npm packs and installs it, and its examples
// compiled against it.
func installed(t *testing.T) string {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			missing(t, program+" is not installed")
		}
	}
	if _, err := os.Stat(compiler); err != nil {
		missing(t, "the compiler is not installed: make web")
	}
	tsc, err := filepath.Abs(compiler)
	if err != nil {
		t.Fatal(err)
	}
	types, err := filepath.Abs(nodeType)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	made, user := filepath.Join(folder, "package"), filepath.Join(folder, "user")
	if err := os.CopyFS(made, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(made, "dist")); err != nil {
		t.Fatal(err)
	}
	run(t, made, "node", tsc, "-p", ".")
	run(t, made, "npm", "pack", "--offline", "--loglevel=error", "--pack-destination", folder)
	packs, err := filepath.Glob(filepath.Join(folder, "*.tgz"))
	if err != nil || len(packs) != 1 {
		t.Fatalf("npm made %v: %v", packs, err)
	}
	if err := os.CopyFS(user, os.DirFS(filepath.Join(source, "examples"))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(user, "package.json"), []byte(`{"type": "module"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, user, "npm", "install", "--offline", "--no-audit", "--no-fund", "--loglevel=error", packs[0])
	if err := os.MkdirAll(filepath.Join(user, "node_modules", "@types"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(types, filepath.Join(user, "node_modules", "@types", "node")); err != nil {
		t.Fatal(err)
	}
	run(t, user, "node", tsc, "-p", ".")
	return user
}

// missing skips where something is not installed, but not in CI.
func missing(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(why)
	}
	t.Skip(why)
}

func run(t *testing.T, folder, program string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "npm_config_cache="+filepath.Join(t.TempDir(), "npm"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", program, args, err, out)
	}
}

// start starts a coordinator that every program of the test finds.
func start(t *testing.T) *faultrig.Coordinator {
	t.Helper()
	coordinator := faultrig.Start(t, redistest.Start(t))
	t.Setenv("HOME", faultrig.Home(t))
	t.Setenv("C3PO_COORDINATOR_URL", coordinator.URL())
	return coordinator
}
