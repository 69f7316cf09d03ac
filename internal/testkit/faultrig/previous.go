package faultrig

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// PreviousVersion is what the binary of Previous says it is.
const PreviousVersion = "previous"

// Previous is the path of a c3po built from the commit that
// testdata/previous-version names: what people run who have not upgraded yet.
func Previous(t testing.TB) string {
	t.Helper()
	module, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Dir(strings.TrimSpace(string(module)))
	text, err := os.ReadFile(filepath.Join(root, "testdata", "previous-version"))
	if err != nil {
		t.Fatal(err)
	}
	commit := strings.TrimSpace(string(text))
	// In a container the checkout often is somebody else's.
	git := []string{"git", "-c", "safe.directory=" + root, "-C", root}
	if err := command(git[0], append(git[1:], "cat-file", "-e", commit+"^{commit}")...); err != nil {
		// Not even in CI is a shallow clone a fault of the code; `make torture` takes
		// no row that was skipped.
		t.Skipf("the history that is here does not go back to the previous version, %s: clone it whole, or git fetch --unshallow\n%v", commit, err)
	}
	return once(t, "c3po-previous", func(path string) error {
		source := path + "-source"
		archive := source + ".tar"
		if err := os.Mkdir(source, 0o700); err != nil {
			return err
		}
		for _, step := range [][]string{
			append(git, "archive", "--output", archive, commit),
			{"tar", "-xf", archive, "-C", source},
			{"go", "build", "-C", source, "-ldflags", "-X main.version=" + PreviousVersion, "-o", path, "./cmd/c3po"},
		} {
			if err := command(step[0], step[1:]...); err != nil {
				return err
			}
		}
		return nil
	})
}
