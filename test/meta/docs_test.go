package meta

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

// The documents list what the code has, so the code keeps them true.

func TestTheListOfEventsIsTheKinds(t *testing.T) {
	t.Parallel()
	text := readDocument(t, "docs/operations/operations.md")
	for _, kind := range c3po.EventKinds() {
		if !strings.Contains(text, fmt.Sprintf("`%s`", kind)) {
			t.Errorf("docs/operations/operations.md does not name the event %s", kind)
		}
	}
}

// make -C test recording draws it from two real sessions, and the same test of test/claude runs
// with every change.
func TestThePictureOfTheReadmeShowsAQuestionAndItsAnswer(t *testing.T) {
	t.Parallel()
	picture := readDocument(t, "docs/demo.svg")
	for _, said := range []string{"Which port does the gateway use?", "8443, see deploy/gateway.yaml"} {
		if !strings.Contains(picture, said) {
			t.Errorf("docs/demo.svg does not show %q", said)
		}
	}
	if strings.Contains(picture, "<script") || strings.Contains(picture, "/tmp/") {
		t.Error("docs/demo.svg has a script, or names a folder of the machine it was made on")
	}
	if maxBytes := 150 << 10; len(picture) > maxBytes {
		t.Errorf("docs/demo.svg has %d bytes, want %d at most", len(picture), maxBytes)
	}
}

func TestPicturesOfThePagesAreSmall(t *testing.T) {
	t.Parallel()
	pictures, err := filepath.Glob("docs/*.png")
	if err != nil || len(pictures) == 0 {
		t.Fatalf("%d pictures, %v", len(pictures), err)
	}
	views, err := filepath.Glob("docs/guides/dashboard/*.webp")
	if err != nil || len(views) != 16 {
		t.Fatalf("%d pictures of four views, two widths and two themes, %v", len(views), err)
	}
	pictures = append(pictures, views...)
	const maxBytes = 150 << 10
	for _, name := range pictures {
		if text := readDocument(t, name); len(text) > maxBytes {
			t.Errorf("%s has %d bytes, want %d at most", name, len(text), maxBytes)
		}
	}
}

func readDocument(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What the page quotes is what the program says.
func TestTroubleshootingQuotesTheProgram(t *testing.T) {
	t.Parallel()
	var source strings.Builder
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules") {
			return fs.SkipDir
		}
		if err == nil && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			text, err := os.ReadFile(name)
			source.Write(text)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	quotes := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ").FindAllStringSubmatch(readDocument(t, "docs/guides/troubleshooting.md"), -1)
	if len(quotes) < 20 {
		t.Fatalf("only %d texts of the program were found", len(quotes))
	}
	for _, quote := range quotes {
		for part := range strings.SplitSeq(quote[1], "…") {
			if !strings.Contains(source.String(), strings.Trim(part, "'")) {
				t.Errorf("docs/guides/troubleshooting.md quotes %q, but no file says %q", quote[1], part)
			}
		}
	}
}

// testdata/claims.txt names a test or a dated source for each row of a comparison, for each
// "no" of the FAQ, and for whatever else it lists.
func TestWhatPagesClaimOfUsAndOthersIsShown(t *testing.T) {
	t.Parallel()
	pages := map[string]string{"README.md": "", "docs/explain/faq.md": ""}
	for name := range pages {
		pages[name] = readDocument(t, name)
	}
	for _, problem := range judgePageClaims(readDocument(t, "testdata/claims.txt"), pages, namesOfTests(t)) {
		t.Error(problem)
	}
}

func TestTheRuleForClaimsOfPagesBites(t *testing.T) {
	t.Parallel()
	pages := map[string]string{"a.md": "| | x |\n|---|---|\n| we | yes |\n| they | no |\n\nNo. Never.\n\n## What does it not do?\n\nFly, or swim. It walks.\n"}
	whole := "a.md | we | TestIt\na.md | they | https://they.example 2026-01-02\na.md | No. Never | TestIt\na.md | Fly | TestIt\na.md | swim | TestIt\n"
	tests := map[string]bool{"TestIt": true}
	if problems := judgePageClaims(whole, pages, tests); len(problems) > 0 {
		t.Errorf("all is shown, and it says %q", problems)
	}
	for _, line := range strings.SplitAfter(strings.TrimSuffix(whole, "\n"), "\n") {
		if problems := judgePageClaims(strings.Replace(whole, line, "", 1), pages, tests); len(problems) != 1 {
			t.Errorf("without %q it says %q", line, problems)
		}
	}
	for _, worse := range []string{"a.md | we | TestGone\n", "a.md | we | https://they.example\n", "a.md | we | \n", "a.md | gone | TestIt\n", "b.md | we | TestIt\n"} {
		if problems := judgePageClaims(whole+worse, pages, tests); len(problems) != 1 {
			t.Errorf("with %q it says %q", worse, problems)
		}
	}
}

var (
	datedSource   = regexp.MustCompile(`^https://\S+ 20\d\d-\d\d-\d\d$`)
	testName      = regexp.MustCompile(`^Test\w+$`)
	comparedRow   = regexp.MustCompile(`(?m)^\| ([^|]*[^|\s:-][^|]*) \|.*\|$`)
	plainNo       = regexp.MustCompile(`(?m)^No\. [^.]*`)
	notDone       = regexp.MustCompile(`(?s)## What does it not do\?\n\n([^.]*)\.`)
	listSeparator = regexp.MustCompile(`,? or |, `)
)

// judgePageClaims compares the table of claims with the pages and the tests there are.
func judgePageClaims(table string, pages map[string]string, tests map[string]bool) (problems []string) {
	shown := map[string][]string{} // by page
	for line := range strings.Lines(table) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.SplitN(line, " | ", 3)
		if len(fields) != 3 || !strings.Contains(pages[fields[0]], fields[1]) {
			problems = append(problems, fmt.Sprintf("%q is no claim of a page", line))
			continue
		}
		shown[fields[0]] = append(shown[fields[0]], fields[1])
		if datedSource.MatchString(fields[2]) {
			continue
		}
		names := strings.Fields(fields[2])
		if len(names) == 0 {
			problems = append(problems, fmt.Sprintf("nothing shows %q", line))
		}
		for _, name := range names {
			if !testName.MatchString(name) || !tests[name] {
				problems = append(problems, fmt.Sprintf("%q names %q, which is no test and no dated source", fields[1], name))
			}
		}
	}
	for name, page := range pages {
		var claims []string
		for _, row := range comparedRow.FindAllStringSubmatch(page, -1) {
			claims = append(claims, strings.Trim(row[1], "* "))
		}
		claims = append(claims, plainNo.FindAllString(page, -1)...)
		if found := notDone.FindStringSubmatch(page); found != nil {
			claims = append(claims, listSeparator.Split(found[1], -1)...)
		}
		for _, claim := range claims {
			if !slices.ContainsFunc(shown[name], func(known string) bool { return strings.HasPrefix(claim, known) }) {
				problems = append(problems, fmt.Sprintf("testdata/claims.txt has nothing that shows %q of %s", claim, name))
			}
		}
	}
	return problems
}

// namesOfTests are all tests of the repository.
func namesOfTests(t *testing.T) map[string]bool {
	t.Helper()
	tests := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules") {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := os.ReadFile(name)
		for _, found := range declared.FindAllSubmatch(text, -1) {
			tests[string(found[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests
}
