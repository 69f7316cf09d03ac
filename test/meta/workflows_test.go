package meta

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

var (
	pinnedAction = regexp.MustCompile(`^(?:[\w.-]+/[\w./-]+@[0-9a-f]{40}|\./\.github/workflows/[\w-]+\.yml)$`)
	pinnedImage  = regexp.MustCompile(`@sha256:[0-9a-f]{64}$`)
	ofMatrix     = regexp.MustCompile(`\$\{\{ matrix\.\w+ \}\}`) // this file says what is in it
)

// mayWrite is what a job may do beside reading, by file and job.
var mayWrite = map[string][]string{
	"release.yml release": {"contents", "id-token", "attestations"},
	"release.yml images":  {"packages", "id-token", "attestations"},
	"release.yml public":  {"contents"},
	"scan.yml codeql":     {"security-events"},
	"scan.yml zizmor":     {"security-events"},
	"scan.yml scorecard":  {"security-events", "id-token"},
	"site.yml publish":    {"pages", "id-token"},
}

// A job without any right may run in these although their tags move: tests are for
// Debian as it is, with the updates of its security team.
var movingImages = []string{"docker.io/library/debian:12"}

// loose says what a workflow trusts that somebody else can change, and what it may
// do that nobody has asked for. It is what zizmor looks for first, which runs in
// scan.yml, before anything is pushed.
func loose(file, workflow string) []string {
	var tree map[string]any
	if err := yaml.Unmarshal([]byte(workflow), &tree); err != nil {
		return []string{err.Error()}
	}
	w := looseness{text: workflow}
	if rights, is := tree["permissions"].(map[string]any); !is || len(rights) != 1 || rights["contents"] != "read" {
		w.say("", "the workflow gives every job other rights than contents: read; a job says what it needs")
	}
	w.walk("", tree)
	jobs, _ := tree["jobs"].(map[string]any)
	for name, value := range jobs {
		job, _ := value.(map[string]any)
		rights, asks := job["permissions"]
		w.rights(name, rights, mayWrite[file+" "+name])
		if job["runs-on"] != nil && job["timeout-minutes"] == nil {
			w.say(name, "may take for ever")
		}
		images := map[string]any{"": job["container"]}
		services, _ := job["services"].(map[string]any)
		maps.Copy(images, services)
		for _, image := range images {
			if long, is := image.(map[string]any); is {
				image = long["image"]
			}
			if text, is := image.(string); image != nil && (!is || !pinnedImage.MatchString(text) && (asks || !slices.Contains(movingImages, text))) {
				w.say(name, "%v is not pinned as image@sha256:<64 hex digits>", image)
			}
		}
	}
	return w.found
}

// looseness is what was found in a workflow so far.
type looseness struct {
	text  string
	found []string
}

func (w *looseness) say(where, format string, args ...any) {
	w.found = append(w.found, strings.TrimSpace(where+" "+fmt.Sprintf(format, args...)))
}

// rights looks at what a job asks for: what it may write is written down above.
func (w *looseness) rights(job string, asked any, may []string) {
	rights, is := asked.(map[string]any)
	if asked != nil && !is {
		w.say(job, "asks for the rights %v", asked)
	}
	for right, level := range rights {
		if level != "read" && level != "none" && !slices.Contains(may, right) {
			w.say(job, "asks for %s: %v, which mayWrite does not have", right, level)
		}
	}
}

// walk looks at all keys and values, however they are written.
func (w *looseness) walk(where string, value any) {
	switch value := value.(type) {
	case []any:
		for n, one := range value {
			w.walk(fmt.Sprintf("%s[%d]", where, n), one)
		}
	case map[string]any:
		for key, one := range value {
			w.word(where, key)
			w.key(where, key, one)
			w.walk(where+"."+key, one)
		}
		with, _ := value["with"].(map[string]any)
		if uses, _ := value["uses"].(string); strings.HasPrefix(uses, "actions/checkout@") && with["persist-credentials"] != false {
			w.say(where, "leaves the token for what runs later")
		}
	case string:
		w.word(where, value)
	}
}

func (w *looseness) word(where, word string) {
	if slices.Contains([]string{"pull_request_target", "workflow_run", "write-all"}, word) {
		w.say(where, "%s gives strangers rights", word)
	}
}

func (w *looseness) key(where, key string, value any) {
	text, _ := value.(string)
	switch key {
	case "uses":
		version := regexp.MustCompile(regexp.QuoteMeta(text) + ` # v\d+\.\d+\.\d+(?:\n|$)`)
		if !pinnedAction.MatchString(text) || !strings.HasPrefix(text, "./") && !version.MatchString(w.text) {
			w.say(where, "%s is not pinned as owner/action@<40 hex digits> # v1.2.3", text)
		}
	case "run", "script":
		// What a shell reads must not be written by whoever names a branch: values come as variables.
		if strings.Contains(ofMatrix.ReplaceAllString(text, ""), "${{") {
			w.say(where, "puts a value into a script: %s", text)
		}
	case "secrets":
		if text == "inherit" {
			w.say(where, "gives all secrets away")
		}
	}
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
		for _, breach := range loose(filepath.Base(name), string(text)) {
			t.Errorf("%s: %s", name, breach)
		}
	}
}

func TestALooseWorkflowIsFound(t *testing.T) {
	t.Parallel()
	const good = "permissions:\n  contents: read\njobs:\n  x:\n    runs-on: y\n    timeout-minutes: 1\n    steps:\n      - uses: a/b@0123456789012345678901234567890123456789 # v1.2.3\n"
	const checkout = "      - uses: actions/checkout@0123456789012345678901234567890123456789 # v1.2.3\n"
	if found := loose("x.yml", good+checkout+"        with: {persist-credentials: false}\n      - run: make ${{ matrix.what }}\n        env: {X: \"${{ github.ref }}\"}\n"); len(found) > 0 {
		t.Errorf("another good one is refused: %v", found)
	}
	if found := loose("x.yml", good+"    container: {image: \"docker.io/library/debian:12\"}\n"); len(found) > 0 {
		t.Errorf("a container that only tests is refused: %v", found)
	}
	if found := loose("x.yml", good); len(found) > 0 {
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
		good + "      - {run: \"echo ${{ github.event.issue.title }}\"}\n",
		good + "      - run: echo ${{ matrix.x || github.head_ref }}\n",
		good + "      - uses: a/b@0123456789012345678901234567890123456789 # v1.2.3\n        with: {script: \"say(${{ github.head_ref }})\"}\n",
		good + "      - {uses: c/d@main}\n",
		good + "      - {uses: docker://d}\n",
		good + "      - {\"uses\": actions/checkout@0123456789012345678901234567890123456789}\n",
		good + "    permissions: {contents: write}\n",
		good + "    permissions: write-all\n",
		good + "    permissions:\n      id-token: write\n",
		good + "    container: docker.io/library/debian:13\n",
		good + "    container: {image: \"docker.io/library/node:22\"}\n",
		good + "    container: docker.io/library/debian:12\n    permissions: {contents: read}\n",
		good + "    services: {db: {image: docker.io/library/redis}}\n",
		good + "  y:\n    uses: ./.github/workflows/ci.yml\n    secrets: inherit\n",
		"on: [push, pull_request_target]\n" + good,
		good + "  y: {runs-on: z}\n",
		good + "\t",
	} {
		if len(loose("x.yml", bad)) == 0 {
			t.Errorf("nothing is found in\n%s", bad)
		}
	}
}

func TestEverySectionOfCIRunsInTheWorkflow(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile(".ci/sections")
	if err != nil {
		t.Fatal(err)
	}
	workflow, err := os.ReadFile(".github/workflows/ci.yml")
	if err != nil {
		t.Fatal(err)
	}
	sections := regexp.MustCompile(`(?m)^([a-z0-9-]+) +(?:first|beside|wait|alone) `).FindAllStringSubmatch(string(script), -1)
	if len(sections) < 15 {
		t.Fatalf("only %d sections were found in .ci/sections", len(sections))
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
			t.Errorf("ci.yml runs section %s, which .ci/sections does not have", job)
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

func TestDependabotLooksAtEveryModule(t *testing.T) {
	t.Parallel()
	tracked, err := exec.CommandContext(t.Context(), "git", "-c", "safe.directory=*", "ls-files", "--", "go.mod", "*/go.mod", "*/package-lock.json").Output()
	if err != nil {
		t.Skipf("this is no checkout: %v", err)
	}
	var config struct{ Updates []struct{ Directory string } }
	readYAML(t, ".github/dependabot.yml", &config)
	for _, file := range strings.Fields(string(tracked)) {
		folder := path.Join("/", path.Dir(file))
		if !slices.ContainsFunc(config.Updates, func(u struct{ Directory string }) bool { return u.Directory == folder }) {
			t.Errorf("dependabot.yml has no row for %s", folder)
		}
	}
}
