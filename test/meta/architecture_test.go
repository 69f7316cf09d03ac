package meta

import (
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var walkRow = regexp.MustCompile("(?m)^\\| [0-9]+ \\| `([^`]+)`(?: `([^`]+)`)? \\|")

// Whoever follows the walk opens each file and looks for the function.
func TestTheWalkThroughTheCodeLeadsToWhatIsThere(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := walkRow.FindAllStringSubmatch(string(page), -1)
	if len(rows) < 10 {
		t.Fatalf("the walk has %d steps", len(rows))
	}
	for _, row := range rows {
		text, err := os.ReadFile(row[1])
		if err != nil {
			t.Error(err)
			continue
		}
		if row[2] != "" && !regexp.MustCompile(`(?m)^func (\([^)]*\) )?`+row[2]+`[\[(]`).Match(text) {
			t.Errorf("%s has no function %s", row[1], row[2])
		}
	}
}

var (
	quoted   = regexp.MustCompile("`([^`\n ]+)`")
	fileName = regexp.MustCompile(`^[a-z].*\.(go|lua|md|txt|json|yaml|ts|sh)$`)
)

// A file may be named by the end of its path, a folder only by all of it.
func TestFilesNamedForDevelopersExist(t *testing.T) {
	t.Parallel()
	tree, files := os.DirFS("."), []string{}
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && (name == ".git" || entry.Name() == "node_modules") {
			return fs.SkipDir
		}
		files = append(files, "/"+name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"AGENTS.md", "ARCHITECTURE.md", "CONTRIBUTING.md"} {
		for _, found := range quoted.FindAllStringSubmatch(readPage(t, tree, page), -1) {
			name := strings.TrimSuffix(found[1], "/")
			first, _, deep := strings.Cut(name, "/")
			if _, err := fs.Stat(tree, first); !fileName.MatchString(name) && (!deep || err != nil) {
				continue
			}
			if !slices.ContainsFunc(files, func(file string) bool {
				return file == "/"+name || fileName.MatchString(name) && strings.HasSuffix(file, "/"+name)
			}) {
				t.Errorf("%s names %s, which does not exist", page, name)
			}
		}
	}
}
