// Package typescript_test uses the TypeScript client as its readers do: packed by npm,
// installed, checked by the compiler at its strictest, and run by Node before a real coordinator.
package typescript_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
	"github.com/c3po-dev/c3po/internal/testkit/workerrig"
)

func TestMain(m *testing.M) { faultrig.Main(m) }

const source = "../../client/typescript"

// modules is the variable that says where run.sh has put the compiler.
const modules = "C3PO_TYPESCRIPT"

// installed is a folder with the package as npm packs and installs it, and its examples and
// promises.ts compiled against it.
func installed(t *testing.T) string {
	t.Helper()
	if os.Getenv(modules) == "" {
		t.Skip(modules + " is not set: make -C test typescript runs this")
	}
	tsc, types := filepath.Join(os.Getenv(modules), "@typescript/native/bin/tsc"), filepath.Join(os.Getenv(modules), "@types/node")
	folder := t.TempDir()
	made, user := filepath.Join(folder, "package"), filepath.Join(folder, "user")
	if err := os.CopyFS(made, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(made, "dist")); err != nil {
		t.Fatal(err)
	}
	empty := exec.CommandContext(t.Context(), "npm", "pack", "--offline", "--pack-destination", folder)
	empty.Dir = made
	if out, err := empty.CombinedOutput(); err == nil || !strings.Contains(string(out), "make npm-package") {
		t.Errorf("npm packs what is not compiled: %s", out)
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
	if err := os.CopyFS(user, os.DirFS("testdata")); err != nil {
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
	coordinator := faultrig.StartWith(t, redistest.Start(t), workerrig.Limits)
	t.Setenv("HOME", faultrig.Home(t))
	t.Setenv("C3PO_COORDINATOR_URL", coordinator.URL())
	return coordinator
}
