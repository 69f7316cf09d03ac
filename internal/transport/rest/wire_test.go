package rest_test

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/c3po-dev/c3po/internal/transport/rest"
)

// The dashboard reads what the document describes, so the types of what it reads
// come from there.
func TestTheShapesOfThePageAreThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	text, err := rest.Document()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	checkGenerated(t, "../../../web/src/wire.ts", typescript(doc))
}

func typescript(doc *openapi3.T) []byte {
	var page bytes.Buffer
	page.WriteString("// Generated from openapi.yaml. Run make contract after a change of a type that is on the wire.\n")
	read := map[string]bool{}
	for _, item := range doc.Paths.Map() {
		for _, operation := range item.Operations() {
			if tag := operation.Tags[0]; tag == "bridge" || tag == "compat" {
				continue // the page speaks no dialect
			}
			for _, answer := range operation.Responses.Map() {
				for _, media := range answer.Value.Content {
					reach(media.Schema, read)
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(read)) {
		schema := doc.Components.Schemas[name].Value
		if len(schema.Properties) == 0 {
			fmt.Fprintf(&page, "\nexport type %s = %s;\n", name, typeOf(&openapi3.SchemaRef{Value: schema}))
			continue
		}
		fmt.Fprintf(&page, "\nexport interface %s {\n", name)
		optional := slices.DeleteFunc(slices.Sorted(maps.Keys(schema.Properties)), func(field string) bool { return slices.Contains(schema.Required, field) })
		for i, field := range slices.Concat(schema.Required, optional) {
			mark := ""
			if i >= len(schema.Required) {
				mark = "?"
			}
			fmt.Fprintf(&page, "  %s%s: %s;\n", field, mark, typeOf(schema.Properties[field]))
		}
		page.WriteString("}\n")
	}
	return page.Bytes()
}

// reach collects the names of all schemas that an answer is made of.
func reach(ref *openapi3.SchemaRef, into map[string]bool) {
	if ref.Ref != "" {
		name := path.Base(ref.Ref)
		if into[name] {
			return
		}
		into[name] = true
	}
	if ref.Value.Items != nil {
		reach(ref.Value.Items, into)
	}
	for _, form := range ref.Value.OneOf {
		reach(form, into)
	}
	for _, property := range ref.Value.Properties {
		reach(property, into)
	}
}

// typeOf is a schema as TypeScript calls it.
func typeOf(ref *openapi3.SchemaRef) string {
	if ref.Ref != "" {
		return path.Base(ref.Ref)
	}
	schema := ref.Value
	switch {
	case schema.Items != nil:
		return typeOf(schema.Items) + "[]"
	case len(schema.Enum) > 0:
		var words []string
		for _, word := range schema.Enum {
			words = append(words, strconv.Quote(word.(string)))
		}
		return strings.Join(words, " | ")
	case len(schema.OneOf) > 0:
		var all []string
		for _, form := range schema.OneOf {
			all = append(all, typeOf(form))
		}
		return strings.Join(all, " | ")
	case schema.Type == nil:
		return "unknown"
	}
	var all []string
	for _, name := range schema.Type.Slice() {
		all = append(all, map[string]string{"integer": "number", "object": "Record<string, unknown>"}[name])
		if all[len(all)-1] == "" {
			all[len(all)-1] = name
		}
	}
	return strings.Join(all, " | ")
}
