package c3po_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

var claimLine = regexp.MustCompile(`(?m)^\s*(?://|#) Claims: *(.+)$`)

// TestEveryRequirementIsClaimedByATest reads the Claims lines of all tests. What
// requirements-a.txt lists is built, so it must have a test that says so.
func TestEveryRequirementIsClaimedByATest(t *testing.T) {
	t.Parallel()
	tree := os.DirFS(".")
	claims, err := readClaims(tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range judgeClaims(claims, readIDs(t, tree, "testdata/requirements-a.txt"), readIDs(t, tree, "testdata/requirements-known.txt")) {
		t.Error(problem)
	}
}

// judgeClaims compares what tests claim with what is built and what exists.
func judgeClaims(claims map[string][]string, built, known []string) []string {
	var problems []string
	if len(built) == 0 {
		problems = append(problems, "the list of built requirements is empty")
	}
	for _, id := range built {
		if !slices.Contains(known, id) {
			problems = append(problems, fmt.Sprintf("%s is listed as built but is no requirement", id))
		}
		if len(claims[id]) == 0 {
			problems = append(problems, fmt.Sprintf("no test claims %s", id))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(claims)) {
		if !slices.Contains(known, id) {
			problems = append(problems, fmt.Sprintf("%s claims %s, which is no requirement", strings.Join(claims[id], ", "), id))
		}
	}
	return problems
}

// readClaims maps each claimed id to the files that claim it: test files, test
// scripts, and the packages that only tests use.
func readClaims(tree fs.FS) (map[string][]string, error) {
	claims := map[string][]string{}
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && name != "." && strings.HasPrefix(path.Base(name), ".") {
			return fs.SkipDir
		}
		isTest := strings.HasSuffix(name, "_test.go") || path.Ext(name) == ".txtar" ||
			path.Ext(name) == ".go" && slices.Contains(testsOnly, path.Dir(name))
		if entry.IsDir() || !isTest {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		for _, line := range claimLine.FindAllStringSubmatch(string(text), -1) {
			for _, id := range strings.FieldsFunc(line[1], func(r rune) bool { return r == ',' || r == ' ' || r == '\r' }) {
				if !slices.Contains(claims[id], name) {
					claims[id] = append(claims[id], name)
				}
			}
		}
		return nil
	})
	return claims, err
}

// readIDs reads the first word of every line that is not a comment.
func readIDs(t *testing.T, tree fs.FS, name string) []string {
	t.Helper()
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 0 && words[0] != "#" {
			ids = append(ids, words[0])
		}
	}
	return ids
}

func TestTheClaimsRuleBites(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{
		"a_test.go":                         {Data: []byte("package a\n\n// Claims: A1, A2\nfunc TestIt() {}\n")},
		"internal/cli/testdata/first.txtar": {Data: []byte("# Two agents.\n# Claims: R1\n")},
		"internal/store/storetest/mail.go":  {Data: []byte("package storetest\n\n\t// Claims: A12\n")},
		"a.go":                              {Data: []byte("package a\n\n// Claims: A4\n")},
		"built.txt":                         {Data: []byte("A1\nA4\nR1\nA12\n")},
		"known.txt":                         {Data: []byte("# all\nA1 first\nA4 second\nA12\nR1\n")},
	}
	claims, err := readClaims(tree)
	if err != nil {
		t.Fatal(err)
	}
	got := judgeClaims(claims, readIDs(t, tree, "built.txt"), readIDs(t, tree, "known.txt"))
	want := []string{
		"no test claims A4", // the program's own files prove nothing
		"a_test.go claims A2, which is no requirement",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
