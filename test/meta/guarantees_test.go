package meta

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

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
	known, page := everyTest(t, tree), readPage(t, tree, "docs/explain/guarantees.md")
	for _, invariant := range invariants {
		_, section, found := strings.Cut(page, "\n## "+string(invariant)+": ")
		section, _, _ = strings.Cut(section, "\n## ")
		if !found || !hiddenTests.MatchString(section) {
			t.Errorf("%s has no section that names a test", invariant)
		}
	}
	for _, shown := range hiddenTests.FindAllStringSubmatch(page, -1) {
		for _, name := range strings.Fields(shown[1]) {
			if !known[name] {
				t.Errorf("docs/explain/guarantees.md: there is no %s", name)
			}
		}
	}
}

// Tests are named for developers, on the pages of docs/dev. A user's page has
// what holds; a comment that is not shown binds a sentence to its tests.
func TestOnlyPagesForDevelopersNameTests(t *testing.T) {
	t.Parallel()
	known, named := everyTest(t, os.DirFS(".")), 0
	for page, text := range ourDocuments(t) {
		if page != "README.md" && !strings.HasPrefix(page, "docs/") || path.Dir(page) == "docs/dev/adr" {
			continue
		}
		for _, name := range visibleTests.FindAllString(htmlComment.ReplaceAllString(text, ""), -1) {
			named++
			if path.Dir(page) != "docs/dev" {
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
