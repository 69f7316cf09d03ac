package c3po_test

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/c3po-dev/c3po/internal/faultrig/matrix"
)

// leastAttacks keeps an attack from being dropped without a word.
const leastAttacks = 70

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
	if attacks < leastAttacks {
		t.Errorf("there are %d attacks, want at least %d", attacks, leastAttacks)
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
