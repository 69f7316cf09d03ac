package meta

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

func readYAML(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// goreleaser reads a token field with its own small parser, which knows one variable
// and no function, and only once the files are uploaded.
var oneVariable = regexp.MustCompile(`^{{\s*\.Env\.[^.\s}]+\s*}}$`)

// unreadTokens are the token fields that goreleaser would fail at.
func unreadTokens(config any) []string {
	var found []string
	switch config := config.(type) {
	case map[string]any:
		for key, value := range config {
			if text, is := value.(string); is && key == "token" && !oneVariable.MatchString(text) {
				found = append(found, text)
			}
			found = append(found, unreadTokens(value)...)
		}
	case []any:
		for _, value := range config {
			found = append(found, unreadTokens(value)...)
		}
	}
	return found
}

func TestGoreleaserCanReadItsTokens(t *testing.T) {
	t.Parallel()
	var config any
	readYAML(t, ".goreleaser.yaml", &config)
	for _, token := range unreadTokens(config) {
		t.Errorf("goreleaser fails at the token %s", token)
	}
	for text, want := range map[string]int{
		`x: [{repository: {token: '{{ .Env.TAP }}'}}]`:                   0,
		`x: [{repository: {token: '{{ envOrDefault "TAP" "" }}'}}]`:      1,
		`x: {token: '{{ if .Env.TAP }}{{ .Env.TAP }}{{ end }}', y: [1]}`: 1,
	} {
		var sample any
		if err := yaml.Unmarshal([]byte(text), &sample); err != nil {
			t.Fatal(err)
		}
		if found := unreadTokens(sample); len(found) != want {
			t.Errorf("%s: found %q, want %d", text, found, want)
		}
	}
}

// Whoever follows /releases/latest gets all of a release or the one before.
func TestAReleaseIsADraftUntilAllOfItIsThere(t *testing.T) {
	t.Parallel()
	var config struct {
		Release struct{ Draft bool }
		Casks   []struct {
			SkipUpload string `yaml:"skip_upload"`
		} `yaml:"homebrew_casks"`
	}
	readYAML(t, ".goreleaser.yaml", &config)
	if !config.Release.Draft {
		t.Error("goreleaser makes the release public before its provenance is there")
	}
	for _, cask := range config.Casks {
		if cask.SkipUpload != "true" {
			t.Error("goreleaser gives Homebrew addresses that are not public yet")
		}
	}
	var workflow struct {
		Jobs map[string]struct {
			Needs []string
			Steps []struct{ Run string }
		}
	}
	readYAML(t, ".github/workflows/release.yml", &workflow)
	var inOrder string
	for name, job := range workflow.Jobs {
		for _, step := range job.Steps {
			if name == "public" {
				inOrder += step.Run + "\n"
			} else if strings.Contains(step.Run, "--draft=false") || strings.Contains(step.Run, "homebrew-tap") {
				t.Errorf("job %s publishes before the others are done", name)
			}
		}
		if name != "public" && !reaches(name, func(name string) []string { return workflow.Jobs[name].Needs }) {
			t.Errorf("the release becomes public without %s", name)
		}
	}
	public, tap := strings.Index(inOrder, "--draft=false"), strings.Index(inOrder, "homebrew-tap")
	if public < 0 || tap < public {
		t.Errorf("the release becomes public at %d of its job, Homebrew hears of it at %d", public, tap)
	}
}

// reaches says whether the job that makes a release public waits for another.
func reaches(job string, needs func(string) []string) bool {
	waiting := []string{"public"}
	for n := 0; n < len(waiting); n++ {
		for _, next := range needs(waiting[n]) {
			if !slices.Contains(waiting, next) {
				waiting = append(waiting, next)
			}
		}
	}
	return slices.Contains(waiting, job)
}

func TestAnArchiveSaysNothingOfWhoBuiltIt(t *testing.T) {
	t.Parallel()
	type info struct {
		Owner, Group, MTime string
		Mode                uint32
	}
	var config struct {
		Archives []struct {
			BuildsInfo info `yaml:"builds_info"`
			Files      []struct {
				Src  string
				Info info
			}
		}
	}
	readYAML(t, ".goreleaser.yaml", &config)
	seen := 0
	for _, archive := range config.Archives {
		if want := (info{"root", "root", "{{ .CommitDate }}", 0o755}); archive.BuildsInfo != want {
			t.Errorf("the program is packed as %+v, want %+v", archive.BuildsInfo, want)
		}
		for _, file := range archive.Files {
			seen++
			if want := (info{"root", "root", "{{ .CommitDate }}", 0o644}); file.Info != want {
				t.Errorf("%s is packed as %+v, want %+v", file.Src, file.Info, want)
			}
		}
	}
	if seen < 4 {
		t.Errorf("only %d files beside the program were looked at", seen)
	}
}

// A shell goes on when a command inside echo fails: the step is green, its output empty.
func TestNoStepHidesAFailureInEcho(t *testing.T) {
	t.Parallel()
	var workflow struct {
		Jobs map[string]struct{ Steps []struct{ Run string } }
	}
	files, err := filepath.Glob(".github/workflows/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		readYAML(t, file, &workflow)
		for name, job := range workflow.Jobs {
			for _, step := range job.Steps {
				if hides := regexp.MustCompile(`echo .*\$\(.*`).FindString(step.Run); hides != "" {
					t.Errorf("%s: job %s: %s", file, name, hides)
				}
			}
		}
	}
}

// Go writes into a program whether it was built in a clone, unless it is told not to:
// test/package/run.sh compares two programs, this says which line would make them differ.
func TestAProgramSaysNothingOfTheFolderItWasBuiltIn(t *testing.T) {
	t.Parallel()
	var config struct {
		Builds []struct{ Flags []string }
	}
	readYAML(t, ".goreleaser.yaml", &config)
	for _, build := range config.Builds {
		if !slices.Contains(build.Flags, "-trimpath") || !slices.Contains(build.Flags, "-buildvcs=false") {
			t.Errorf("goreleaser builds with %v", build.Flags)
		}
	}
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(makefile), "\n") {
		if strings.Contains(line, "-trimpath") && !strings.Contains(line, "-buildvcs=false") {
			t.Errorf("the Makefile builds with %s", line)
		}
	}
}
