package c3po_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

var update = flag.Bool("update", false, "write the generated documents")

const (
	conformancePage = "docs/operations/conformance.md"
	maxProofs       = 3
)

// A proof is a test that claims a requirement.
type proof struct {
	name, file string
	claims     int // how many requirements it claims: the fewer, the more it is about this one
}

var (
	testFunc = regexp.MustCompile(`^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
	promise  = regexp.MustCompile(`^\s*\{"([^"]+)"`)
	proofRow = regexp.MustCompile(`^\| ([A-Z]+[0-9]+[a-z]?) \|`)
	shownBy  = regexp.MustCompile("`([^`]+)` in `([^`]+)`")
)

// readProofs finds the tests that claim each requirement: the function, or the row
// of a table of promises, below the line; a script is its own name.
func readProofs(tree fs.FS) (map[string][]proof, error) {
	proofs := map[string][]proof{}
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && name != "." && (strings.HasPrefix(path.Base(name), ".") || path.Base(name) == "node_modules") {
			return fs.SkipDir
		}
		script := path.Ext(name) == ".txtar"
		if entry.IsDir() || !script && !strings.HasSuffix(name, "_test.go") && !(path.Ext(name) == ".go" && slices.Contains(testsOnly, path.Dir(name))) {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		lines := strings.Split(string(text), "\n")
		for i, line := range lines {
			claim := claimLine.FindStringSubmatch(line)
			if claim == nil {
				continue
			}
			ids := strings.FieldsFunc(claim[1], func(r rune) bool { return r == ',' || r == ' ' || r == '\r' })
			shown := proof{name: named(lines[i+1:]), file: name, claims: len(ids)}
			if script {
				shown.name = "TestScripts/" + strings.TrimSuffix(path.Base(name), ".txtar")
			}
			if shown.name == "" {
				continue // a helper: the tests that use it have claims of their own
			}
			for _, id := range ids {
				proofs[id] = append(proofs[id], shown)
			}
		}
		return nil
	})
	return proofs, err
}

// named is the next test or promise.
func named(lines []string) string {
	for _, line := range lines {
		if found := testFunc.FindStringSubmatch(line); found != nil {
			return found[1]
		}
		if found := promise.FindStringSubmatch(line); found != nil {
			return found[1]
		}
	}
	return ""
}

// runBy is the part of the gate that runs the tests of a folder.
func runBy(file string) string {
	for folder, target := range map[string]string{
		"test/claude": "make claude-e2e", "test/clients": "make clients-e2e", "test/runner": "make runner-e2e", "test/scale": "make scale", "test/conformance": "make conformance",
		"test/package": "make package-e2e", "test/join": "test/join/run.sh",
	} {
		if path.Dir(file) == folder {
			return "`" + target + "`"
		}
	}
	return "`make test`"
}

// conformance is the page: each requirement, and the tests that are most about it.
func conformance(asks map[string]string, order []string, proofs map[string][]proof) string {
	var page strings.Builder
	page.WriteString("# Conformance\n\nEach requirement of the documents that c3po comes from, and the tests that show it. Written by `make docs` from the `Claims:` lines of the\n" +
		"tests; a test fails when a requirement has none, or when this page names one that is gone. Every test here is part of the gate, so a commit on\n" +
		"`main` has passed them all: `.ci/run` is the last result. Where c3po differs from a document, [coming from](../guides/coming-from.md) says so and why.\n" +
		"There is no A3: the number was never given to a requirement.\n\n" +
		"| id | what it asks for | shown by | run by |\n|---|---|---|---|\n")
	for _, id := range order {
		best := slices.Clone(proofs[id])
		slices.SortFunc(best, func(a, b proof) int {
			if a.claims != b.claims {
				return a.claims - b.claims
			}
			return strings.Compare(a.file+a.name, b.file+b.name)
		})
		var shown, gates []string
		for _, p := range best[:min(len(best), maxProofs)] {
			shown = append(shown, fmt.Sprintf("`%s` in `%s`", strings.ReplaceAll(p.name, "`", ""), p.file))
			if gate := runBy(p.file); !slices.Contains(gates, gate) {
				gates = append(gates, gate)
			}
		}
		fmt.Fprintf(&page, "| %s | %s | %s | %s |\n", id, asks[id], strings.Join(shown, "; "), strings.Join(gates, ", "))
	}
	return page.String()
}

// judgeConformance says what is wrong with a page. More tests than it names are no
// fault: it names some, and each of those must be there.
func judgeConformance(page string, order []string, proofs map[string][]proof) []string {
	rows := map[string]string{}
	for line := range strings.Lines(page) {
		if id := proofRow.FindStringSubmatch(line); id != nil {
			rows[id[1]] = line
		}
	}
	var problems []string
	for _, id := range order {
		if len(proofs[id]) == 0 {
			problems = append(problems, "no test claims "+id)
			continue
		}
		shown := shownBy.FindAllStringSubmatch(rows[id], -1)
		if len(shown) == 0 {
			problems = append(problems, id+" has no test on the page")
		}
		for _, s := range shown {
			there := slices.ContainsFunc(proofs[id], func(p proof) bool { return strings.ReplaceAll(p.name, "`", "") == s[1] && p.file == s[2] })
			if !there {
				problems = append(problems, fmt.Sprintf("%s: %s in %s does not claim it any more", id, s[1], s[2]))
			}
		}
	}
	for id := range rows {
		if !slices.Contains(order, id) {
			problems = append(problems, id+" is no requirement")
		}
	}
	return problems
}

func TestEveryRequirementHasATestThatShowsIt(t *testing.T) {
	t.Parallel()
	tree := os.DirFS(".")
	proofs, err := readProofs(tree)
	if err != nil {
		t.Fatal(err)
	}
	order, asks := readIDs(t, tree, "testdata/requirements-known.txt"), map[string]string{}
	text, err := fs.ReadFile(tree, "testdata/requirements-known.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if id, what, found := strings.Cut(strings.TrimSpace(line), " "); found && id != "#" {
			asks[id] = strings.TrimSpace(what)
		}
	}
	if *update {
		if err := os.WriteFile(conformancePage, []byte(conformance(asks, order, proofs)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(conformancePage)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range judgeConformance(string(page), order, proofs) {
		t.Errorf("%s; run make docs", problem)
	}
}

func TestTheRuleOfConformanceBites(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{
		"a_test.go":      {Data: []byte("package a\n\n// Claims: A1, A2\nfunc TestIt(t *testing.T) {}\n")},
		"s/one.txtar":    {Data: []byte("# Claims: A1\n")},
		"b/more_test.go": {Data: []byte("package b\n\n// Claims: A2\nfunc TestThat(t *testing.T) {}\n")},
	}
	proofs, err := readProofs(tree)
	if err != nil {
		t.Fatal(err)
	}
	order := []string{"A1", "A2"}
	page := conformance(map[string]string{}, order, proofs)
	if problems := judgeConformance(page, order, proofs); len(problems) > 0 {
		t.Errorf("a fresh page: %q", problems)
	}
	for change, want := range map[string]string{
		strings.ReplaceAll(page, "TestThat", "TestOther"):                    "A2: TestOther in b/more_test.go does not claim it any more",
		strings.ReplaceAll(page, "| A1 |", "| A9 |"):                         "A1 has no test on the page",
		page + "| A3 | x | `TestIt` in `a_test.go` | `make test` |\n":        "A3 is no requirement",
		strings.ReplaceAll(page, "`TestScripts/one` in `s/one.txtar`; ", ""): "",
	} {
		problems := judgeConformance(change, order, proofs)
		if want != "" && !slices.Contains(problems, want) || want == "" && len(problems) > 0 {
			t.Errorf("problems %q, want %q", problems, want)
		}
	}
	if problems := judgeConformance(page, []string{"A1", "A2", "A4"}, proofs); !slices.Contains(problems, "no test claims A4") {
		t.Errorf("a requirement without a test: %q", problems)
	}
}
