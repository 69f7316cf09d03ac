package c3po_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	used   = regexp.MustCompile(`^\s*(?:- )?uses:\s*(.*)$`)
	pinned = regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
)

// loose says what a workflow trusts that somebody else can change, and what it may
// do that nobody has asked for.
func loose(workflow string) []string {
	var found []string
	granted := false
	for n, line := range strings.Split(workflow, "\n") {
		if action := used.FindStringSubmatch(line); action != nil && !pinned.MatchString(action[1]) {
			found = append(found, fmt.Sprintf("line %d: %s is not pinned as owner/action@<40 hex digits> # v1.2.3", n+1, action[1]))
		}
		granted = granted || line == "permissions:"
		if strings.Contains(line, "pull_request_target") || strings.Contains(line, "write-all") {
			found = append(found, fmt.Sprintf("line %d: %s gives strangers rights", n+1, strings.TrimSpace(line)))
		}
	}
	if !granted {
		found = append(found, "it has no permissions: of its own, so it gets those of the repository")
	}
	return found
}

func TestWorkflowsUseNothingThatSomebodyElseCanChange(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(".github/workflows/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no workflows: %v", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, breach := range loose(string(text)) {
			t.Errorf("%s: %s", name, breach)
		}
	}
}

func TestALooseWorkflowIsFound(t *testing.T) {
	t.Parallel()
	const good = "permissions:\n  contents: read\njobs:\n  x:\n    steps:\n      - uses: a/b@0123456789012345678901234567890123456789 # v1.2.3\n"
	if found := loose(good); len(found) > 0 {
		t.Errorf("a good one is refused: %v", found)
	}
	for _, bad := range []string{
		strings.Replace(good, "@0123456789012345678901234567890123456789 # v1.2.3", "@v1", 1),
		strings.Replace(good, "@0123456789012345678901234567890123456789", "@0123456", 1),
		strings.Replace(good, " # v1.2.3", "", 1),
		strings.Replace(good, "permissions:\n", "", 1),
		good + "      - name: later\n        uses: c/d@main\n",
		"on: pull_request_target\n" + good,
	} {
		if len(loose(bad)) == 0 {
			t.Errorf("nothing is found in\n%s", bad)
		}
	}
}
