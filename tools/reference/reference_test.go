package reference_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/c3po-dev/c3po/internal/transport/dialect"
	"github.com/c3po-dev/c3po/tools/reference"
)

// pages are made from the openapi.yaml of this tree, which comes with them.
func pages(t *testing.T) (pages map[string][]byte, openapi []byte) {
	t.Helper()
	openapi, err := os.ReadFile("../../internal/transport/rest/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	pages, err = reference.Pages(openapi)
	if err != nil {
		t.Fatal(err)
	}
	return pages, openapi
}

// section is what a page says under a heading of level three.
func section(page, heading string) string {
	_, text, _ := strings.Cut(page, "\n### "+heading+"\n")
	text, _, _ = strings.Cut(text, "\n### ")
	return text
}

func TestEveryToolIsInItsReference(t *testing.T) {
	t.Parallel()
	all, _ := pages(t)
	for _, op := range dialect.Operations() {
		if op.Toolset == "" {
			continue
		}
		_, set, _ := strings.Cut(string(all["reference-tools.md"]), fmt.Sprintf("\n## The set %s\n", op.Toolset))
		set, _, _ = strings.Cut(set, "\n## ")
		text := section(set, op.Tool)
		if !strings.Contains(text, op.Doc) {
			t.Errorf("the reference does not say what %s does", op.Tool)
		}
		if strings.Contains(text, "| argument | type |") == strings.Contains(text, "No arguments.") {
			t.Errorf("the reference does not say what %s is given", op.Tool)
		}
	}
}

func TestEveryPathAndShapeIsInTheReferenceOfREST(t *testing.T) {
	t.Parallel()
	all, openapi := pages(t)
	doc, err := openapi3.NewLoader().LoadFromData(openapi)
	if err != nil {
		t.Fatal(err)
	}
	page := string(all["reference-rest.md"])
	for where, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			text := section(page, method+" `"+where+"`")
			if !strings.Contains(text, operation.Summary) {
				t.Errorf("the reference does not say what %s %s is for", method, where)
			}
			for status := range operation.Responses.Map() {
				if status != "default" && !strings.Contains(text, "Answers "+status+":") {
					t.Errorf("the reference does not say what %s %s answers with %s", method, where, status)
				}
			}
		}
	}
	for name, schema := range doc.Components.Schemas {
		text := section(page, name)
		if text == "" {
			t.Errorf("the reference has no shape %s", name)
		}
		for field := range schema.Value.Properties {
			if !strings.Contains(text, "| `"+field+"` |") {
				t.Errorf("the reference of %s has no field %s", name, field)
			}
		}
	}
}

// What make docs writes is ignored by git, each page by its name.
func TestNoGeneratedPageIsKept(t *testing.T) {
	t.Parallel()
	ignored, err := os.ReadFile("../../.gitignore")
	if err != nil {
		t.Fatal(err)
	}
	all, _ := pages(t)
	for name := range all {
		if !strings.Contains(string(ignored), "\n/docs/reference/"+name+"\n") {
			t.Errorf(".gitignore does not name /docs/reference/%s", name)
		}
	}
}
