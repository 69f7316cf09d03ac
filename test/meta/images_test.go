package meta

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// imageNames are the images that a file names to be pulled or built on.
func imageNames(text string) []string {
	var all []string
	for _, form := range []*regexp.Regexp{
		regexp.MustCompile(`(?m)^\s*(?:- )?(?:image|container):[ \t]*"?([\w$][^\s"{}]*(?:\$\{[^}]*\})?)"?[ \t]*$`),
		regexp.MustCompile(`\{image:\s*"?([^\s",}]+)`),
		regexp.MustCompile(`(?m)^(?:FROM|ARG BASE=)\s*(?:--\S+\s+)*([\w$][^\s]*)`),
		regexp.MustCompile(`(?m)^\s*\$?\s*(?:docker|podman) pull (\S+)`),
	} {
		for _, found := range form.FindAllStringSubmatch(text, -1) {
			all = append(all, found[1])
		}
	}
	return all
}

// inFull says that a name begins with a registry: without one it is whatever the
// machine looks in first, where anybody may own the name.
func inFull(name string) bool {
	if name == "scratch" || strings.HasPrefix(name, "$") {
		return true // nothing, or a variable whose default is looked at where it is set
	}
	registry, _, found := strings.Cut(name, "/")
	return found && (registry == "localhost" || strings.ContainsAny(registry, ".:"))
}

func TestImagesAreNamedWithTheirRegistry(t *testing.T) {
	t.Parallel()
	tracked, err := exec.CommandContext(t.Context(), "git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard", "--",
		"deploy", "image", "examples", "docs", ".github", "README.md").Output()
	if err != nil {
		t.Skipf("this is no checkout: %v", err)
	}
	seen := 0
	for _, file := range strings.Fields(string(tracked)) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range imageNames(string(text)) {
			seen++
			if !inFull(name) {
				t.Errorf("%s names the image %s without its registry", file, name)
			}
		}
	}
	if seen < 7 {
		t.Errorf("only %d names of images were found", seen)
	}
}
