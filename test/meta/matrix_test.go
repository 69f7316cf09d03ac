package meta

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig/matrix"
)

func TestEveryLineOfTheMatrixNamesATestThatExists(t *testing.T) {
	t.Parallel()
	tree := os.DirFS(".")
	entries, err := matrix.Parse(readPage(t, tree, "testdata/matrix.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) < 100 {
		t.Errorf("the matrix has %d lines, want at least 100", len(entries))
	}
	for _, entry := range entries {
		if !exists(t, tree, entry) {
			t.Errorf("%s: there is no %s", entry.Row, strings.TrimSpace(entry.Package+" "+entry.Name()))
		}
	}
}

// exists looks for the test in its package, or for what the command starts: a
// target of the Makefile, a script, or go itself.
func exists(t *testing.T, tree fs.FS, entry matrix.Entry) bool {
	t.Helper()
	if entry.Command == "" {
		return testsIn(t, tree, path.Clean(entry.Package))[entry.Test]
	}
	words := strings.Fields(entry.Command)
	switch words[0] {
	case "go":
		return true
	case "make":
		folder := "."
		if at := slices.Index(words, "-C"); at > 0 {
			folder = words[at+1]
		}
		text, err := fs.ReadFile(tree, path.Join(folder, "Makefile"))
		return err == nil && regexp.MustCompile(`(?m)^`+words[len(words)-1]+`:`).Match(text)
	default:
		_, err := fs.Stat(tree, words[0])
		return err == nil
	}
}

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// testsIn are the tests of one package.
func testsIn(t *testing.T, tree fs.FS, folder string) map[string]bool {
	t.Helper()
	files, err := fs.Glob(tree, path.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	for _, name := range files {
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range testFunction.FindAllSubmatch(text, -1) {
			tests[string(found[1])] = true
		}
	}
	return tests
}
