package meta

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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
