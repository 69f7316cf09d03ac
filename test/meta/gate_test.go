package meta

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// A clone is a small repository with the real gate, proved whole.
type clone struct {
	t   *testing.T
	dir string
}

func newClone(t *testing.T) *clone {
	t.Helper()
	c := &clone{t, t.TempDir()}
	if err := os.CopyFS(filepath.Join(c.dir, ".ci"), os.DirFS(".ci")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Makefile", "internal/hub/hub.go", "internal/hub/hub_test.go", "internal/store/redisstore/lua/mail.lua", "docs/guide.md", "web/src/main.tsx", "plugin/hooks.json"} {
		c.write(name, "first")
	}
	c.write("go.mod", "module m\n\ngo 1.26\n")
	c.write(".ci/owed", "")
	c.git("init", "-q")
	c.commit()
	c.prove(0)
	return c
}

func (c *clone) write(name, text string) {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil { // #nosec G306 -- some are run
		c.t.Fatal(err)
	}
}

func (c *clone) run(program string, arguments ...string) string {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), program, arguments...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "C3PO_CI_CACHE="+filepath.Join(c.dir, ".git", "passed"), "GIT_CONFIG_GLOBAL=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s %q: %v\n%s", program, arguments, err, out)
	}
	return string(out)
}

func (c *clone) git(arguments ...string) string {
	c.t.Helper()
	return strings.TrimSpace(c.run("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b.c"}, arguments...)...))
}

func (c *clone) commit() {
	c.t.Helper()
	c.git("add", "-A")
	c.git("commit", "-qm", "a step")
}

// prove records that the newest commit passed everything so long ago.
func (c *clone) prove(ago time.Duration) {
	c.t.Helper()
	c.write(".ci/proved", fmt.Sprintf("commit %s\ndate %s\n", c.git("rev-parse", "HEAD"), time.Now().Add(-ago).UTC().Format(time.RFC3339)))
	c.commit()
}

// plan returns the sections that would run, and the first line, which gives the reason.
func (c *clone) plan(arguments ...string) (sections []string, why string) {
	c.t.Helper()
	out := c.run(".ci/run", append([]string{"--plan"}, arguments...)...)
	for _, found := range regexp.MustCompile(`(?m)^run +(\S+)`).FindAllStringSubmatch(out, -1) {
		sections = append(sections, found[1])
	}
	why, _, _ = strings.Cut(out, "\n")
	return sections, why
}

func TestTheGateRunsWhatGuardsTheChange(t *testing.T) {
	t.Parallel()
	smoke := []string{"claude-smoke", "clients-smoke", "dashboard-smoke"}
	for _, test := range []struct {
		change   string
		runs     []string
		runsNone []string
	}{
		{"docs/guide.md", []string{"format", "tests", "site"}, append([]string{"race", "lint", "web", "claude", "clients", "engines", "fuzz"}, smoke...)},
		{"internal/hub/hub.go", append([]string{"lint", "tests", "race", "web"}, smoke...), []string{"claude", "clients", "dashboard", "engines", "site", "fuzz", "gosec"}},
		{"internal/hub/hub_test.go", []string{"lint", "tests", "race"}, append([]string{"claude", "dashboard", "engines"}, smoke...)},
		{"internal/store/redisstore/lua/mail.lua", append([]string{"tests", "race", "engines"}, smoke...), []string{"claude", "dashboard"}},
		{"web/src/main.tsx", []string{"web", "web-check", "dashboard"}, append([]string{"claude", "lint", "race"}, smoke...)},
		{"plugin/hooks.json", []string{"claude", "clients-smoke", "dashboard-smoke", "npm"}, []string{"claude-smoke", "clients", "dashboard"}},
	} {
		t.Run(test.change, func(t *testing.T) {
			t.Parallel()
			c := newClone(t)
			c.write(test.change, "second")
			c.commit()
			sections, why := c.plan()
			for _, name := range test.runs {
				if !slices.Contains(sections, name) {
					t.Errorf("%s does not run", name)
				}
			}
			for _, name := range test.runsNone {
				if slices.Contains(sections, name) {
					t.Errorf("%s runs", name)
				}
			}
			if t.Failed() {
				t.Logf("%s: %q", why, sections)
			}
		})
	}
}

func TestTheGateIsEverythingWithoutAProofToCompareWith(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*clone){
		"no proof":                     func(c *clone) { c.write(".ci/proved", "") },
		"a proof of four days ago":     func(c *clone) { c.prove(4 * 24 * time.Hour) },
		"a proof without a date":       func(c *clone) { c.write(".ci/proved", "commit "+c.git("rev-parse", "HEAD")+"\n") },
		"a commit that is not here":    func(c *clone) { c.write(".ci/proved", "commit "+strings.Repeat("a", 40)+"\ndate 2999-01-01\n") },
		"another script of the gate":   func(c *clone) { c.write(".ci/mirror", "second") },
		"another Makefile":             func(c *clone) { c.write("Makefile", "second") },
		"a new file of the gate":       func(c *clone) { c.write("test/Makefile", "second") },
		"another Go":                   func(c *clone) { c.write("go.mod", "module m\n\ngo 1.27\n") },
		"an uncommitted gate":          func(c *clone) { c.write(".ci/paths", "") },
		"no repository":                func(c *clone) { c.run("rm", "-r", ".git") },
		"a gate that has gone":         func(c *clone) { c.run("rm", "Makefile") },
		"a shallow clone without it":   func(c *clone) { c.write("docs/guide.md", "second"); c.commit(); c.shallow() },
		"everything, asked by name":    nil,
		"a script that has moved away": func(c *clone) { c.run("mv", ".ci/mirror", "mirror") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClone(t)
			arguments := []string{"all"}
			if change != nil {
				change(c)
				arguments = nil
			}
			sections, why := c.plan(arguments...)
			for _, name := range []string{"format", "gosec", "race", "claude", "clients", "dashboard", "runner", "engines", "fuzz"} {
				if !slices.Contains(sections, name) {
					t.Errorf("%s: %s does not run", why, name)
				}
			}
			if slices.Contains(sections, "claude-smoke") {
				t.Errorf("claude-smoke runs beside claude")
			}
		})
	}
}

// shallow makes it a clone of the newest commit alone.
func (c *clone) shallow() {
	c.t.Helper()
	next := filepath.Join(c.t.TempDir(), "clone")
	c.git("clone", "-q", "--depth", "1", "file://"+c.dir, next)
	c.dir = next
}

func TestASectionThatIsOwedIsInEveryGate(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.write(".ci/owed", "# a word\nengines\n")
	c.commit()
	if sections, why := c.plan(); !slices.Contains(sections, "engines") || slices.Contains(sections, "otel") {
		t.Errorf("%s: %q, want engines and nothing more", why, sections)
	}
}

func TestASectionThatPassedForTheseFilesIsLeftOut(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.write("internal/hub/hub.go", "second")
	c.commit()
	passed := filepath.Join(".git", "passed", c.git("rev-parse", "HEAD^{tree}"))
	c.write(filepath.Join(passed, "lint.gate"), "10\n")
	c.write(filepath.Join(passed, "tests.whole"), "10\n")
	if sections, why := c.plan(); slices.Contains(sections, "lint") || slices.Contains(sections, "tests") || !slices.Contains(sections, "race") {
		t.Errorf("%s: %q, want race, without lint and tests", why, sections)
	}
	c.write("internal/hub/hub.go", "third, not committed")
	if sections, why := c.plan(); !slices.Contains(sections, "lint") || !slices.Contains(sections, "tests") {
		t.Errorf("%s: %q, want lint and tests for other files", why, sections)
	}
}

func TestARunRecordsWhatItProvedAndWhatItOwes(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.write(".ci/install", "#!/bin/sh\n")
	c.write(".ci/sections", "program first every true\n\nclaude wait go sh again.sh\nlint beside go test -e works\nclaude-smoke smoke every false\n")
	c.write("again.sh", `echo "$SECTION TestIt passed" >>"$SECOND_RUNS"`)
	c.commit()
	cmd := exec.CommandContext(t.Context(), ".ci/run", "all")
	cmd.Dir = c.dir
	out, err := cmd.CombinedOutput()
	if owed := c.run("cat", ".ci/owed"); err == nil || !strings.Contains(string(out), "== claude") || !strings.HasSuffix(owed, "\nlint\n") {
		t.Errorf("lint is broken: %v, owed %q\n%s", err, owed, out)
	}
	c.write("works", "")
	c.commit()
	if said := c.run(".ci/run", "lint"); !strings.Contains(said, "\nno second runs\nall good after ") || strings.Contains(c.run("cat", ".ci/owed"), "\nlint\n") {
		t.Errorf("lint works and is owed:\n%s", said)
	}
	c.commit()
	said := c.run(".ci/run", "all")
	if !strings.Contains(said, "\nsecond runs:\nclaude TestIt passed\nall good after ") {
		t.Errorf("the end names no second run:\n%s", said)
	}
	proved := c.run("cat", ".ci/proved")
	for _, line := range []string{"commit " + c.git("rev-parse", "HEAD"), "section claude ", "section lint ", "second claude TestIt passed"} {
		if !strings.Contains(proved, "\n"+line) {
			t.Errorf("no line %q in\n%s", line, proved)
		}
	}
	c.write(".ci/proved", "") // now the gate is everything, and all of it has passed
	c.commit()
	c.run(".ci/run")
	c.write(".ci/proved", "")
	if said := c.run(".ci/run"); !strings.Contains(said, "leave lint") || !strings.Contains(said, "second runs:\nclaude TestIt passed") {
		t.Errorf("what passed runs again, or its second run is forgotten:\n%s", said)
	}
}

// A path that has moved would guard nothing.
func TestThePathsOfTheGateAreThere(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(".ci/paths")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		for _, spec := range words[1:] {
			spec = strings.TrimPrefix(strings.Replace(spec, ":(exclude,glob)", ":(glob)", 1), ":!")
			if out, err := exec.CommandContext(t.Context(), "git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard", "--", spec).Output(); err != nil {
				t.Skipf("this is no checkout: %v", err)
			} else if len(out) == 0 {
				t.Errorf("%s: nothing is at %s", words[0], spec)
			}
		}
	}
}

func TestASmokeTestNamesTestsThatExist(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(".ci/sections")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, found := range regexp.MustCompile(`test/(\w+)/run\.sh -test\.run=(\S+)`).FindAllStringSubmatch(string(text), -1) {
		tests := testsIn(t, os.DirFS("."), "test/"+found[1])
		for prefix := range strings.SplitSeq(found[2], "|") {
			named++
			there := false
			for name := range tests {
				there = there || strings.HasPrefix(name, prefix)
			}
			if !there {
				t.Errorf("no test of test/%s begins with %s", found[1], prefix)
			}
		}
	}
	if named < 8 {
		t.Errorf("only %d tests are named", named)
	}
}
