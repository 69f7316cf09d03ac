package reference

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// restReference is every path with its parameters and answers, and every shape.
// It is made from the document for programs, to which the tests of REST hold every answer.
func restReference(openapi []byte) ([]byte, error) {
	doc, err := openapi3.NewLoader().LoadFromData(openapi)
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	fmt.Fprint(&page, "# REST reference\n\nWritten by `make docs` from `openapi.yaml`, which every coordinator serves as `GET /openapi.yaml`. Headers, pages and errors, which are\n"+
		"the same everywhere, are in [rest.md](rest.md). Everything under `/api/` is also served under `/agent/api/`.\n")
	for _, tag := range doc.Tags {
		fmt.Fprintf(&page, "\n## Paths: %s\n\n%s.\n", tag.Name, tag.Description)
		// In the order they are written in, which the parsed document does not keep.
		for _, found := range regexp.MustCompile(`(?m)^  (/\S*):$`).FindAllSubmatch(openapi, -1) {
			where := string(found[1])
			for _, method := range []string{"GET", "POST"} {
				operation := doc.Paths.Value(where).GetOperation(method)
				if operation != nil && operation.Tags[0] == tag.Name {
					writeEndpoint(&page, method, where, operation)
				}
			}
		}
	}
	fmt.Fprint(&page, "\n## Shapes\n\nA field that is not marked *always* may be missing.\n")
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		writeShape(&page, name, doc.Components.Schemas[name].Value)
	}
	return page.Bytes(), nil
}

func writeEndpoint(page *bytes.Buffer, method, where string, operation *openapi3.Operation) {
	// As code, because a page's renderer takes braces at the end of a heading for attributes.
	fmt.Fprintf(page, "\n### %s `%s`\n\n%s\n", method, where, operation.Summary)
	if operation.Description != "" {
		fmt.Fprintf(page, "\n%s\n", strings.TrimSpace(operation.Description))
	}
	var rows []string
	for _, p := range operation.Parameters {
		if p.Value.In != openapi3.ParameterInHeader {
			rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |\n", p.Value.Name, p.Value.In, kindOf(p.Value.Schema), cell(p.Value.Description)))
		}
	}
	if len(rows) > 0 {
		fmt.Fprintf(page, "\n| parameter | in | type | |\n|---|---|---|---|\n%s", strings.Join(rows, ""))
	}
	if body := operation.RequestBody; body != nil {
		for kind, content := range body.Value.Content {
			fmt.Fprintf(page, "\nBody: %s%s\n", kindOf(content.Schema), unlessJSON(kind))
		}
	}
	answers := operation.Responses.Map()
	for _, status := range slices.Sorted(maps.Keys(answers)) {
		if status == "default" {
			continue // an error, as everywhere
		}
		answer := answers[status].Value
		shapes := ""
		for _, kind := range slices.Sorted(maps.Keys(answer.Content)) {
			shapes += " " + kindOf(answer.Content[kind].Schema) + unlessJSON(kind)
		}
		words := strings.TrimSpace(strings.TrimPrefix(*answer.Description, "The result."))
		fmt.Fprintf(page, "\nAnswers %s:%s\n", status, strings.TrimRight(shapes+" "+words, " "))
	}
}

func unlessJSON(kind string) string {
	if kind == "application/json" {
		return "."
	}
	return " (`" + kind + "`)."
}

func writeShape(page *bytes.Buffer, name string, schema *openapi3.Schema) {
	fmt.Fprintf(page, "\n### %s\n", name)
	if schema.Description != "" {
		fmt.Fprintf(page, "\n%s\n", schema.Description)
	}
	if len(schema.Properties) == 0 {
		if kind := kindOf(&openapi3.SchemaRef{Value: schema}); kind != "object" {
			fmt.Fprintf(page, "\n%s.\n", strings.ToUpper(kind[:1])+kind[1:])
		} else if schema.Description == "" {
			fmt.Fprint(page, "\nAn empty object.\n")
		}
		return
	}
	fmt.Fprint(page, "\n| field | type | |\n|---|---|---|\n")
	optional := slices.DeleteFunc(slices.Sorted(maps.Keys(schema.Properties)), func(field string) bool { return slices.Contains(schema.Required, field) })
	for _, field := range slices.Concat(schema.Required, optional) {
		property := schema.Properties[field]
		words := ""
		if property.Ref == "" {
			words = property.Value.Description
		}
		always := ""
		if slices.Contains(schema.Required, field) {
			always = ", *always*"
		}
		fmt.Fprintf(page, "| `%s` | %s%s | %s |\n", field, kindOf(property), always, cell(words))
	}
}

// kindOf is a type in words, with a link where it has a name.
func kindOf(ref *openapi3.SchemaRef) string {
	if ref == nil || ref.Value == nil {
		return "anything"
	}
	if ref.Ref != "" {
		name := path.Base(ref.Ref)
		return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name))
	}
	schema := ref.Value
	switch {
	case schema.Items != nil:
		return "list of " + kindOf(schema.Items)
	case len(schema.Enum) > 0:
		var values []string
		for _, value := range schema.Enum {
			values = append(values, fmt.Sprintf("`%v`", value))
		}
		return strings.Join(values, ", ")
	case schema.Const != nil:
		return fmt.Sprintf("`%v`", schema.Const)
	case len(schema.OneOf)+len(schema.AnyOf) > 0:
		var forms []string
		for _, form := range slices.Concat(schema.OneOf, schema.AnyOf) {
			forms = append(forms, kindOf(form))
		}
		return strings.Join(forms, " or ")
	case schema.Type == nil:
		return "anything"
	}
	words := strings.Join(schema.Type.Slice(), " or ")
	if schema.Format == "date-time" {
		words = "time"
	}
	return words
}

func cell(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "|", "\\|") }
