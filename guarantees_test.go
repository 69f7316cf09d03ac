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

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

var invariants = []faultrig.Invariant{
	faultrig.NothingStoredIsLost, faultrig.AckIsFinal, faultrig.OneMessageAKey, faultrig.OrderIsKept, faultrig.BooksBalance,
	faultrig.NobodyActsForAnother, faultrig.NoWakeIsLost, faultrig.UnknownIsSaid, faultrig.HooksNeverBlock,
}

// What the documents promise is promised in the name of tests, so these are there.
func TestEveryGuaranteeNamesTestsThatExist(t *testing.T) {
	t.Parallel()
	tree := os.DirFS(".")
	known := everyTest(t, tree)
	for _, problem := range judgeGuarantees(readPage(t, tree, "docs/explain/guarantees.md"), invariants, known) {
		t.Errorf("docs/explain/guarantees.md: %s", problem)
	}
}

// Tests are named for engineers, on the pages of docs/operations. A user's page has
// what holds; a comment that is not shown binds a sentence to its tests.
func TestOnlyPagesForEngineersNameTests(t *testing.T) {
	t.Parallel()
	known, named := everyTest(t, os.DirFS(".")), 0
	for page, text := range ourDocuments(t) {
		if page != "README.md" && !strings.HasPrefix(page, "docs/") || path.Dir(page) == "docs/adr" {
			continue
		}
		for _, name := range visibleTests.FindAllString(htmlComment.ReplaceAllString(text, ""), -1) {
			named++
			if path.Dir(page) != "docs/operations" {
				t.Errorf("%s names %s", page, name)
			}
			if !slices.ContainsFunc(slices.Collect(maps.Keys(known)), func(test string) bool { return strings.HasPrefix(test, name) }) { // a pattern of -run
				t.Errorf("%s: there is no %s", page, name)
			}
		}
	}
	if named < 50 {
		t.Fatalf("only %d names of tests were found", named)
	}
}

var visibleTests = regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z][a-zA-Z0-9]{5,}`)

func judgeGuarantees(page string, promised []faultrig.Invariant, known map[string]bool) []string {
	var problems []string
	sections := regexp.MustCompile(`(?m)^## `).Split(page, -1)
	for _, invariant := range promised {
		at := slices.IndexFunc(sections, func(section string) bool { return strings.HasPrefix(section, string(invariant)+": ") })
		if at < 0 {
			problems = append(problems, fmt.Sprintf("%s has no section", invariant))
			continue
		}
		if !hiddenTests.MatchString(sections[at]) {
			problems = append(problems, fmt.Sprintf("%s names no test", invariant))
		}
	}
	for _, shown := range hiddenTests.FindAllStringSubmatch(page, -1) {
		for _, name := range strings.Fields(shown[1]) {
			if !known[name] {
				problems = append(problems, fmt.Sprintf("there is no %s", name))
			}
		}
	}
	return problems
}

// everyTest are the names of all tests and fuzz targets of the tree.
func everyTest(t *testing.T, tree fs.FS) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && name != "." && skipFolder(tree, name) {
			return fs.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		for _, found := range function.FindAllSubmatch(text, -1) {
			all[string(found[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func readPage(t *testing.T, tree fs.FS, name string) string {
	t.Helper()
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheGuaranteesRuleBites(t *testing.T) {
	t.Parallel()
	known := everyTest(t, fstest.MapFS{
		"a_test.go":                 {Data: []byte("package a\n\nfunc TestIt(t *testing.T) {}\nfunc FuzzIt(f *testing.F) {}\n")},
		"a.go":                      {Data: []byte("package a\n\nfunc TestNone() {}\n")},
		"b/testdata/x/some_test.go": {Data: []byte("package x\n\nfunc TestData(t *testing.T) {}\n")},
	})
	got := judgeGuarantees("# G\n\n## I1: kept\n\n<!-- TestIt FuzzIt -->\n\n## I2: not shown\n\n## I4: wrongly\n\n<!-- TestGone TestNone TestData -->\n",
		[]faultrig.Invariant{"I1", "I2", "I3", "I4"}, known)
	want := []string{"I2 names no test", "I3 has no section", "there is no TestGone", "there is no TestNone", "there is no TestData"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
