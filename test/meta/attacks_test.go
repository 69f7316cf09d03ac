package meta

import (
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig/matrix"
)

// Without its break nobody would know whether the line that is there for an attack
// refuses it.
func TestEveryAttackHasABreakThatLetsItIn(t *testing.T) {
	t.Parallel()
	tree, attacks := os.DirFS("."), map[string]bool{}
	for line := range strings.Lines(readPage(t, tree, "testdata/attacks.txt")) {
		name, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" || strings.HasPrefix(name, "#") {
			continue
		}
		if strings.TrimSpace(what) == "" || attacks[name] {
			t.Errorf("%s says nothing new", name)
		}
		attacks[name] = true
		if _, err := fs.Stat(tree, "testdata/bites/"+name+".patch"); err != nil {
			t.Errorf("%s has no break", name)
		}
	}
	if len(attacks) < 80 {
		t.Errorf("there are %d attacks, want at least 80", len(attacks))
	}
}

// A break that has gone blind proves nothing. Running it takes minutes (make torture-bites).
func TestEveryBreakAppliesAndNamesATestThatExists(t *testing.T) {
	t.Parallel()
	tree := os.DirFS(".")
	patches, err := fs.Glob(tree, "testdata/bites/*.patch")
	if err != nil || len(patches) == 0 {
		t.Fatalf("%d patches, %v", len(patches), err)
	}
	for _, patch := range patches {
		found := breakHead.FindStringSubmatch(readPage(t, tree, patch))
		if found == nil {
			t.Errorf("%s does not begin with What: and Guard:", patch)
			continue
		}
		if folder, test := found[1], found[2]; !exists(t, tree, matrix.Entry{Package: folder, Test: test}) {
			t.Errorf("%s: there is no %s %s", patch, folder, test)
		}
		if said, err := exec.Command("git", "apply", "--check", patch).CombinedOutput(); err != nil {
			t.Errorf("%s does not apply any more: %s", patch, said)
		}
	}
}

var breakHead = regexp.MustCompile(`\AWhat: .+\nGuard: (\S+) (\w+)\n`)

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
	tests := everyTest(t, tree)
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
