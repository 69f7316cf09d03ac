// Package recipe performs what CONTRIBUTING.md tells about adding an operation.
package recipe

import (
	"crypto/sha256"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	root     = "../.."
	maxFiles = 5 // that somebody writes in for an operation without a new atomic step
	maxStep  = 6 // that a new atomic step adds
)

// An edit replaces one place of a file, or adds to its end if old is empty.
type edit struct{ file, old, new string }

// readRecipe reads the edits of testdata/operation.txtar.
func readRecipe(t *testing.T) (edits []edit) {
	t.Helper()
	text, err := os.ReadFile("testdata/operation.txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, sections, _ := strings.Cut(string(text), "\n-- ")
	for section := range strings.SplitSeq(sections, "\n-- ") {
		file, blocks, _ := strings.Cut(section, " --\n")
		for _, block := range regexp.MustCompile(`(?s)<<<<\n(.*?)====\n(.*?)>>>>`).FindAllStringSubmatch(blocks, -1) {
			edits = append(edits, edit{file, block[1], block[2]})
		}
	}
	return edits
}

// copyTree copies what the program is built from.
func copyTree(t *testing.T, to string) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains([]string{".git", "bin", "site", "web/node_modules"}, filepath.ToSlash(inside)) {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, inside), 0o755)
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, inside), text, info.Mode())
	})
	if err != nil {
		t.Fatal(err)
	}
}

// hashes are those of every file in a tree.
func hashes(t *testing.T, dir string) map[string][32]byte {
	t.Helper()
	found := map[string][32]byte{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		found[name] = sha256.Sum256(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// changed are the files that are new or other than before.
func changed(before, after map[string][32]byte) (names []string) {
	for name, hash := range after {
		if before[name] != hash {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func run(t *testing.T, dir, program string, arguments ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, arguments...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "C3PO_BUILT=") // a program without the operation
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(arguments, " "), err, out)
	}
}

// listed are the files that CONTRIBUTING.md names between two words of its recipe.
func listed(t *testing.T, from, to string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, recipe, found := strings.Cut(string(text), "## How to add an operation\n")
	_, recipe, after := strings.Cut(recipe, from)
	recipe, _, before := strings.Cut(recipe, to)
	if !found || !after || !before {
		t.Fatalf("CONTRIBUTING.md tells nothing between %q and %q", from, to)
	}
	names := map[string]bool{}
	for _, name := range regexp.MustCompile("`([\\w/.-]+\\.[a-z]+)`").FindAllStringSubmatch(recipe, -1) {
		names[name[1]] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// The example of CONTRIBUTING.md is carried out in a copy: it builds, the tests that
// would miss a row pass, and nobody has to write in more files than it says.
func TestTheRecipeAddsAnOperation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	copyTree(t, dir)
	whole := hashes(t, dir)
	for _, e := range readRecipe(t) {
		name := filepath.Join(dir, e.file)
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		old, replacement := strings.TrimSuffix(e.old, "\n"), strings.TrimSuffix(e.new, "\n")
		if old == "" {
			text = append(text, e.new...)
		} else if strings.Count(string(text), old) != 1 {
			t.Fatalf("%s has %d places like %q", e.file, strings.Count(string(text), old), old)
		} else {
			text = []byte(strings.Replace(string(text), old, replacement, 1))
		}
		if err := os.WriteFile(name, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	edited := hashes(t, dir)
	byHand := changed(whole, edited)
	if diff := cmp.Diff(listed(t, "| step |", "make contract"), byHand); diff != "" || len(byHand) > maxFiles {
		t.Errorf("%d files are written by hand, of at most %d (-CONTRIBUTING.md +done):\n%s", len(byHand), maxFiles, diff)
	}

	run(t, dir, "make", "contract")
	if diff := cmp.Diff(listed(t, "made from the table", "A new atomic step"), changed(edited, hashes(t, dir))); diff != "" {
		t.Errorf("generated (-CONTRIBUTING.md +done):\n%s", diff)
	}
	run(t, dir, "go", "test", "-vet=off", "-count=1", "-run", "TestMembersOfARoom|TestEveryOperation|TestWhoMayDo|Tool",
		"./internal/hub", "./internal/cli", "./internal/transport/rest", "./internal/transport/mcpserver", "./internal/server")
}

func TestTheFilesOfAnAtomicStepAreThere(t *testing.T) {
	t.Parallel()
	files := listed(t, "A new atomic step", "What the script does")
	if len(files) > maxStep {
		t.Errorf("%d files for an atomic step, of at most %d: %s", len(files), maxStep, files)
	}
	for _, file := range files {
		found := false
		for _, dir := range []string{"", "redisstore", "storetest"} {
			_, err := os.Stat(filepath.Join(root, "internal/store", dir, file))
			found = found || err == nil
		}
		if !found {
			t.Errorf("CONTRIBUTING.md names %s, which is not in internal/store", file)
		}
	}
}
