package meta

import (
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/c3po-dev/c3po/tools/reference"
)

// Links between our documents are held to what is there, headings included, with
// no network. The site checks pages when it is built, but not headings.

// site is where the documents are published. A page that git does not keep is linked
// to there: on GitHub it is not.
const site = "https://c3po-dev.github.io/c3po/"

func TestNoLinkOfTheDocumentsIsDead(t *testing.T) {
	t.Parallel()
	links, dead := followLinks(os.DirFS("."), ourDocuments(t))
	if links < 100 {
		t.Fatalf("only %d links were found", links)
	}
	for _, link := range dead {
		t.Error(link)
	}
}

func TestADeadLinkIsFound(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{
		"README.md": {Data: []byte("[a](docs/a.md#what-it-does) [b](docs/b.md) [c](docs/a.md#gone) <a href=\"no.svg\"> ![d](docs/no.png)\n" +
			"`[e](code.md)`\n```\n[f](fenced.md)\n```\n[g]: nowhere.md\n[h](#here) [j](docs/made.md#made) [i](https://example.com/x)\n## Here\n" +
			"[k](" + site + ") [l](" + site + "docs/made#made) [m](" + site + "docs/gone) [n](" + site + "docs/made.md)\n")},
		".gitignore": {Data: []byte("/bin\n/docs/made.md\n")},
		"docs/a.md":  {Data: []byte("# A\n\n## What it *does*\n\n[up](../README.md#here) [out](../../elsewhere.md)\n")},
	}
	texts, err := documents(tree)
	if err != nil {
		t.Fatal(err)
	}
	texts["docs/made.md"] = "# Made\n\n[itself](made.md) [back](../README.md#here) [no](no.md)\n"
	links, dead := followLinks(tree, texts)
	want := []string{
		"README.md: docs/a.md#gone: docs/a.md has no such heading",
		"README.md: docs/b.md: is not there",
		"README.md: docs/made.md#made: git does not keep it; link to the site",
		"README.md: docs/no.png: is not there",
		"README.md: https://c3po-dev.github.io/c3po/docs/gone: is not there",
		"README.md: https://c3po-dev.github.io/c3po/docs/made.md: is not there",
		"README.md: no.svg: is not there",
		"README.md: nowhere.md: is not there",
		"docs/a.md: ../../elsewhere.md: is not there",
		"docs/made.md: no.md: is not there",
	}
	slices.Sort(dead)
	if links != 17 || !slices.Equal(dead, want) {
		t.Errorf("%d links, dead:\n%s", links, strings.Join(dead, "\n"))
	}
}

// The site takes what looks like a tag, or like {{ }}, for its own and fails; GitHub
// leaves it out. In code it stays what it is. A picture with a dark form is a tag in both.
func TestNoDocumentHasMarkupOutsideCode(t *testing.T) {
	t.Parallel()
	indented, markup := regexp.MustCompile(`(?m)^ {4}.*$`), regexp.MustCompile(`</?[A-Za-z][A-Za-z0-9-]*(?:\s[^>\n]*)?/?>|{{`)
	for name, text := range ourDocuments(t) {
		text = inlineCode.ReplaceAllString(indented.ReplaceAllString(text, ""), "")
		for _, found := range markup.FindAllString(pictureTags.ReplaceAllString(text, ""), -1) {
			t.Errorf("%s: %s: put it between backticks", name, found)
		}
	}
}

// purposes are the folders of docs: a page has one job, and its folder says which.
var purposes = []string{"start", "guides", "reference", "explain", "operations", "dev"}

// The sidebar of the site is made from the same list.
func TestEveryPageIsListedByItsPurpose(t *testing.T) {
	t.Parallel()
	index, err := os.ReadFile("docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for page, text := range ourDocuments(t) {
		inDocs, found := strings.CutPrefix(page, "docs/")
		if !found || inDocs == "README.md" || path.Dir(inDocs) == "dev/adr" {
			continue
		}
		if !slices.Contains(purposes, path.Dir(inDocs)) {
			t.Errorf("%s is in none of the folders %v", page, purposes)
		}
		if !kept(os.DirFS("."), page) {
			inDocs = site + strings.TrimSuffix(page, ".md")
		}
		row := regexp.MustCompile(`(?m)^\| \[[^\]]+\]\(` + regexp.QuoteMeta(inDocs) + `\) \| .+ \|$`)
		if !row.Match(index) {
			t.Errorf("docs/README.md has no row | [Title](%s) | what is in it |", inDocs)
		}
		if titles := title.FindAllString(text, -1); len(titles) != 1 {
			t.Errorf("%s has the titles %q, and should have one", page, titles)
		}
	}
}

var (
	fencedBlock = regexp.MustCompile("(?ms)^ *```.*?^ *```[ \t]*$")
	htmlComment = regexp.MustCompile(`(?s)<!--.*?-->`)
	inlineCode  = regexp.MustCompile("`[^`\n]*`")
	linkForms   = []*regexp.Regexp{
		regexp.MustCompile(`\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)`),
		regexp.MustCompile(`(?m)^\[[^\]]+\]:\s*(\S+)`),
		regexp.MustCompile(`(?:href|src|srcset)="([^"]+)"`),
	}
	pictureTags  = regexp.MustCompile(`</?(?:p|picture|source|img)(?: [a-z]+="[^"]*")*>`)
	title        = regexp.MustCompile(`(?m)^# .*$`)
	heading      = regexp.MustCompile(`(?m)^#{1,6} +(.*?) *#* *$`)
	headingLink  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	notInAnchors = regexp.MustCompile(`[^\p{L}\p{N}\p{M} _-]`)
)

// ourDocuments are those of this tree and those that make docs puts there. Nobody may
// change them.
func ourDocuments(t *testing.T) map[string]string {
	t.Helper()
	texts, err := readDocuments()
	if err != nil {
		t.Fatal(err)
	}
	if len(texts) < 50 {
		t.Fatalf("only %d documents were found", len(texts))
	}
	return texts
}

// readDocuments reads them once: several tests do, and the references take a while to make.
var readDocuments = sync.OnceValues(func() (map[string]string, error) {
	texts, err := documents(os.DirFS("."))
	if err != nil {
		return nil, err
	}
	openapi, err := os.ReadFile("internal/transport/rest/openapi.yaml")
	if err != nil {
		return nil, err
	}
	made, err := reference.Pages(openapi)
	for name, text := range made {
		texts["docs/reference/"+name] = fencedBlock.ReplaceAllString(string(text), "")
	}
	return texts, err
})

// followLinks counts the links of the documents in a tree to places in it, and
// says which of them lead nowhere.
func followLinks(tree fs.FS, texts map[string]string) (links int, dead []string) {
	headings := map[string][]string{} // a page's, once a link to one was followed
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		for _, link := range linksIn(texts[name]) {
			links++
			if why := whyDead(tree, texts, headings, name, link); why != "" {
				dead = append(dead, fmt.Sprintf("%s: %s: %s", name, link, why))
			}
		}
	}
	return links, dead
}

// documents are all of a tree by their names, without the code between fences.
func documents(tree fs.FS) (map[string]string, error) {
	texts := map[string]string{}
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && skipFolder(tree, name):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".md":
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		texts[name] = fencedBlock.ReplaceAllString(string(text), "")
		return err
	})
	return texts, err
}

// linksIn are the links of a text that do not leave the repository and its site.
func linksIn(text string) []string {
	var all []string
	text = inlineCode.ReplaceAllString(text, "")
	for _, form := range linkForms {
		for _, found := range form.FindAllStringSubmatch(text, -1) {
			if to, err := url.Parse(found[1]); err != nil || to.Scheme == "" || strings.HasPrefix(found[1], site) {
				all = append(all, found[1])
			}
		}
	}
	return all
}

func whyDead(tree fs.FS, texts map[string]string, headings map[string][]string, from, link string) string {
	to, err := url.Parse(link)
	if err != nil {
		return err.Error()
	}
	target := from
	page, published := strings.CutPrefix(link, site)
	switch page, _, _ = strings.Cut(page, "#"); {
	case published && (page == "" || strings.HasSuffix(page, "/")):
		target = page + "README.md"
	case published:
		target = page + ".md"
	case to.Path != "":
		target = path.Join(path.Dir(from), to.Path)
	}
	text, isDocument := texts[target]
	if _, err := fs.Stat(tree, target); err != nil && !isDocument {
		return "is not there"
	}
	if !published && kept(tree, from) && !kept(tree, target) {
		return "git does not keep it; link to the site"
	}
	if !isDocument || to.Fragment == "" {
		return ""
	}
	if headings[target] == nil {
		headings[target] = anchors(text)
	}
	if !slices.Contains(headings[target], to.Fragment) {
		return target + " has no such heading"
	}
	return ""
}

// kept says whether git keeps a document, or leaves it to those who make it.
func kept(tree fs.FS, name string) bool {
	ignored, err := fs.ReadFile(tree, ".gitignore")
	return err != nil || !slices.Contains(strings.Split(string(ignored), "\n"), "/"+name)
}

// anchors are the names of a document's headings, as GitHub and the site make them.
func anchors(text string) []string {
	var all []string
	for _, found := range heading.FindAllStringSubmatch(text, -1) {
		words := headingLink.ReplaceAllString(found[1], "$1")
		name := strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(words), ""), " ", "-")
		again := name
		for n := 1; slices.Contains(all, again); n++ {
			again = fmt.Sprintf("%s-%d", name, n)
		}
		all = append(all, again)
	}
	return all
}
