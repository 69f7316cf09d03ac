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

	"github.com/c3po-dev/c3po/internal/testkit/faultrig/matrix"
)

// minAttacks keeps an attack from being dropped without a word.
const minAttacks = 80

// Without its break nobody would know whether an attack was refused by the line
// that is there for it.
func TestEveryAttackHasATestAndABreakThatLetsItIn(t *testing.T) {
	t.Parallel()
	tree := os.DirFS(".")
	text, err := fs.ReadFile(tree, "testdata/attacks.txt")
	if err != nil {
		t.Fatal(err)
	}
	attacks, problems := judgeAttacks(t, tree, string(text))
	for _, problem := range problems {
		t.Error(problem)
	}
	if attacks < minAttacks {
		t.Errorf("there are %d attacks, want at least %d", attacks, minAttacks)
	}
}

func judgeAttacks(t *testing.T, tree fs.FS, text string) (attacks int, problems []string) {
	t.Helper()
	var seen []string
	for line := range strings.Lines(text) {
		name, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" || strings.HasPrefix(name, "#") {
			continue
		}
		attacks++
		if strings.TrimSpace(what) == "" || slices.Contains(seen, name) {
			problems = append(problems, fmt.Sprintf("%s says nothing new", name))
		}
		seen = append(seen, name)
		patch, err := fs.ReadFile(tree, "testdata/bites/"+name+".patch")
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s has no break", name))
			continue
		}
		_, guard, _ := strings.Cut(string(patch), "\nGuard: ")
		guard, _, _ = strings.Cut(guard, "\n")
		folder, test, _ := strings.Cut(guard, " ")
		if !exists(t, tree, matrix.Entry{Row: name, Package: folder, Test: test}) {
			problems = append(problems, fmt.Sprintf("%s: there is no %s", name, guard))
		}
	}
	return attacks, problems
}

func TestTheRuleOfAttacksBites(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{
		"internal/a/a_test.go":         {Data: []byte("package a\n\nfunc TestIt(t *testing.T) {}\n")},
		"testdata/bites/good.patch":    {Data: []byte("What: a door\nGuard: ./internal/a TestIt\n\n")},
		"testdata/bites/missing.patch": {Data: []byte("What: a door\nGuard: ./internal/a TestGone\n\n")},
	}
	_, got := judgeAttacks(t, tree, "# who\ngood tries the door\ngood tries it again\nmissing tries it\nnone tries it\n")
	want := []string{"good says nothing new", "missing: there is no ./internal/a TestGone", "none has no break"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// tested are the sections of the page on security whose every row and promise
// names its tests, in a comment that readers do not see.
var tested = []string{"Who might attack", "What we promise", "What the same user can do"}

var (
	hiddenTests = regexp.MustCompile(`<!-- ((?:(?:Test|Fuzz)\w+ )+)-->`)
	tableRow    = regexp.MustCompile(`^\| [^-]`)
)

func TestEverySentenceOnSecurityHasATest(t *testing.T) {
	t.Parallel()
	tree := os.DirFS(".")
	page, err := fs.ReadFile(tree, "docs/explain/security.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := allTests(t, tree)
	promises := 0
	for _, section := range tested {
		_, text, found := strings.Cut(string(page), "\n## "+section+"\n")
		if !found {
			t.Errorf("there is no section %q", section)
		}
		text, _, _ = strings.Cut(text, "\n## ")
		for _, claim := range claimsIn(text) {
			promises++
			shown := hiddenTests.FindStringSubmatch(claim)
			if shown == nil {
				t.Errorf("no test is named for: %.120s", claim)
				continue
			}
			for _, name := range strings.Fields(shown[1]) {
				if !tests[name] {
					t.Errorf("there is no %s, named for: %.120s", name, claim)
				}
			}
		}
	}
	if promises < 20 {
		t.Errorf("the page makes %d promises, want at least 20", promises)
	}
}

// claimsIn are the rows of the tables but for their heads, and the points of the lists
// with what belongs to them.
func claimsIn(section string) []string {
	var claims []string
	lines := strings.Split(section, "\n")
	for i, line := range lines {
		head := i+1 < len(lines) && strings.HasPrefix(lines[i+1], "|---")
		switch {
		case tableRow.MatchString(line) && !head:
			claims = append(claims, line)
		case strings.HasPrefix(line, "* "):
			for _, more := range lines[i+1:] {
				if more == "" || strings.HasPrefix(more, "* ") {
					break
				}
				line += " " + strings.TrimSpace(more)
			}
			claims = append(claims, line)
		}
	}
	return claims
}

func allTests(t *testing.T, tree fs.FS) map[string]bool {
	t.Helper()
	tests := map[string]bool{}
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if base := path.Base(name); name != "." && (strings.HasPrefix(base, ".") || base == "node_modules") {
			return fs.SkipDir
		}
		maps.Copy(tests, testsIn(t, tree, name))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests
}
