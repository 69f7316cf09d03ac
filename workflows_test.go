package c3po_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	used   = regexp.MustCompile(`^\s*(?:- )?uses:\s*(.*)$`)
	pinned = regexp.MustCompile(`^(?:[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|\./\.github/workflows/[\w-]+\.yml)$`)
)

// loose says what a workflow trusts that somebody else can change, and what it may
// do that nobody has asked for. It is what zizmor looks for first, which runs in
// scan.yml, before anything is pushed.
func loose(workflow string) []string {
	var found []string
	say := func(n int, line, why string) {
		found = append(found, fmt.Sprintf("line %d: %s %s", n+1, strings.TrimSpace(line), why))
	}
	granted, script := false, -1 // the indent of the run: that a line belongs to
	lines := strings.Split(workflow, "\n")
	for n, line := range lines {
		if action := used.FindStringSubmatch(line); action != nil && !pinned.MatchString(action[1]) {
			say(n, action[1], "is not pinned as owner/action@<40 hex digits> # v1.2.3")
		}
		if line == "permissions:" {
			granted = true
			if n+1 == len(lines) || lines[n+1] != "  contents: read" || n+2 < len(lines) && strings.HasPrefix(lines[n+2], "  ") {
				say(n, line, "gives every job more than to read; a job says what it needs")
			}
		}
		for _, word := range []string{"pull_request_target", "workflow_run", "write-all", "secrets: inherit"} {
			if strings.Contains(line, word) {
				say(n, line, "gives strangers rights")
			}
		}
		if strings.Contains(line, "uses: actions/checkout@") && (n+1 == len(lines) || !strings.Contains(lines[n+1], "persist-credentials: false")) {
			say(n, line, "leaves the token for what runs later")
		}
		indent := len(line) - len(strings.TrimLeft(line, " -"))
		if script >= 0 && strings.TrimSpace(line) != "" && indent <= script {
			script = -1
		}
		if strings.HasPrefix(strings.TrimLeft(line, " -"), "run:") {
			script = indent
		}
		// What a shell reads must not be written by whoever names a branch: values come as variables.
		if script >= 0 && strings.Contains(strings.ReplaceAll(line, "${{ matrix.", ""), "${{") {
			say(n, line, "puts a value into a script")
		}
	}
	if !granted {
		found = append(found, "it has no permissions: of its own, so it gets those of the repository")
	}
	for _, job := range regexp.MustCompile(`(?m)^  [a-z-]+:\n(?:(?:    .*)?\n|  *#.*\n)+`).FindAllString(workflow[strings.Index(workflow, "jobs:")+1:], -1) {
		if strings.Contains(job, "\n    runs-on:") && !strings.Contains(job, "\n    timeout-minutes:") {
			found = append(found, strings.TrimSpace(strings.SplitN(job, "\n", 2)[0])+" may take for ever")
		}
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
	const good = "permissions:\n  contents: read\njobs:\n  x:\n    runs-on: y\n    timeout-minutes: 1\n    steps:\n      - uses: a/b@0123456789012345678901234567890123456789 # v1.2.3\n"
	const checkout = "      - uses: actions/checkout@0123456789012345678901234567890123456789 # v1.2.3\n"
	if found := loose(good + checkout + "        with: {persist-credentials: false}\n      - run: make ${{ matrix.what }}\n        env: {X: \"${{ github.ref }}\"}\n"); len(found) > 0 {
		t.Errorf("another good one is refused: %v", found)
	}
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
		"on: workflow_run\n" + good,
		strings.Replace(good, "contents: read", "contents: write", 1),
		strings.Replace(good, "contents: read\n", "contents: read\n  packages: write\n", 1),
		strings.Replace(good, "    timeout-minutes: 1\n", "", 1),
		good + checkout,
		good + "      - run: echo ${{ github.head_ref }}\n",
		good + "      - name: z\n        run: |\n          true\n\n          echo ${{ github.event.issue.title }}\n",
	} {
		if len(loose(bad)) == 0 {
			t.Errorf("nothing is found in\n%s", bad)
		}
	}
}

func TestEverySectionOfCIRunsInTheWorkflow(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile(".ci/run")
	if err != nil {
		t.Fatal(err)
	}
	workflow, err := os.ReadFile(".github/workflows/ci.yml")
	if err != nil {
		t.Fatal(err)
	}
	sections := regexp.MustCompile(`(?m)^([a-z0-9-]+) +(?:shared|alone) `).FindAllStringSubmatch(string(script), -1)
	if len(sections) < 15 {
		t.Fatalf("only %d sections were found in .ci/run", len(sections))
	}
	var jobs []string
	for _, job := range regexp.MustCompile(`(?m)^          - ([a-z0-9 -]+)$`).FindAllStringSubmatch(string(workflow), -1) {
		jobs = append(jobs, strings.Fields(job[1])...)
	}
	for _, section := range sections {
		if !slices.Contains(jobs, section[1]) {
			t.Errorf("no job of ci.yml runs section %s", section[1])
		}
	}
	for _, job := range jobs {
		if !slices.ContainsFunc(sections, func(s []string) bool { return s[1] == job }) {
			t.Errorf("ci.yml runs section %s, which .ci/run does not have", job)
		}
	}
}

func TestAReleaseWaitsForCI(t *testing.T) {
	t.Parallel()
	workflow, err := os.ReadFile(".github/workflows/release.yml")
	if err != nil {
		t.Fatal(err)
	}
	_, release, _ := strings.Cut(string(workflow), "\n  release:\n")
	if !regexp.MustCompile(`(?m)^    needs: \[.*\bci\b.*\]$`).MatchString(release) ||
		!strings.Contains(string(workflow), "\n  ci:\n    uses: ./.github/workflows/ci.yml\n") {
		t.Error("the job that publishes does not need all of ci.yml")
	}
}

// What npm installs runs with the rights of the job it is in. The job that signs
// and publishes therefore runs none of it.
func TestNoPackageOfNPMRunsInTheJobThatSigns(t *testing.T) {
	t.Parallel()
	release, err := os.ReadFile(".github/workflows/release.yml")
	if err != nil {
		t.Fatal(err)
	}
	_, signs, found := strings.Cut(string(release), "\n  release:\n")
	if !found || !strings.Contains(signs, "id-token: write") {
		t.Fatal("the job that signs is not found")
	}
	for _, word := range []string{"npm", "setup-node", "make web"} {
		if strings.Contains(signs, word) {
			t.Errorf("the job that signs has %q", word)
		}
	}
	if !strings.Contains(signs, "sha256sum --check") {
		t.Error("what another job built is taken without a look at its hash")
	}
}

// Without a lock, what is installed is what a registry says that day.
func TestThePagesAreBuiltFromPackagesWithKnownHashes(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(makefile), "npm ci --ignore-scripts") || strings.Contains(string(makefile), "npm install") {
		t.Error("the Makefile installs more than the lock names, or runs what packages bring")
	}
	for _, folder := range []string{"web", "site"} {
		lock, err := os.ReadFile(filepath.Join(folder, "package-lock.json"))
		if err != nil {
			t.Fatal(err)
		}
		var named struct {
			Packages map[string]struct {
				Integrity string
				Resolved  string
				Optional  bool
			}
		}
		if err := json.Unmarshal(lock, &named); err != nil || len(named.Packages) < 2 {
			t.Fatalf("the lock of %s: %v, %d packages", folder, err, len(named.Packages))
		}
		for name, one := range named.Packages {
			// The native parts for systems that no release is built on have none.
			if name != "" && !one.Optional && !strings.HasPrefix(one.Integrity, "sha512-") {
				t.Errorf("the lock of %s has no hash for %s", folder, name)
			}
			if one.Resolved != "" {
				t.Errorf("the lock of %s says where %s was found, which is different elsewhere", folder, name)
			}
		}
	}
}
