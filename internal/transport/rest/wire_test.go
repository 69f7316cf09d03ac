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

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
	"github.com/c3po-dev/c3po/internal/transport/rest"
)

// The TypeScript client, and with it the dashboard, has the types that the document
// describes and the operations of the table.
func TestTheTypeScriptClientIsWhatTheDocumentSays(t *testing.T) {
	t.Parallel()
	text, err := rest.Document()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	checkGenerated(t, "../../../client/typescript/src/wire.ts", wireTypes(doc))
	checkGenerated(t, "../../../client/typescript/src/operations.ts", operationTypes(doc))
	checkGenerated(t, "../../../client/typescript/src/methods.ts", operationMethods(doc))
}

const generatedFrom = "// Generated from openapi.yaml by make contract, from the same table as the Go client.\n"

func wireTypes(doc *openapi3.T) []byte {
	var page bytes.Buffer
	page.WriteString(generatedFrom)
	read := map[string]bool{}
	for _, item := range doc.Paths.Map() {
		for _, operation := range item.Operations() {
			if tag := operation.Tags[0]; tag == "bridge" || tag == "compat" {
				continue // the client speaks no dialect
			}
			if operation.RequestBody != nil {
				for _, media := range operation.RequestBody.Value.Content {
					reach(media.Schema, read)
				}
			}
			for _, answer := range operation.Responses.Map() {
				for _, media := range answer.Value.Content {
					reach(media.Schema, read)
				}
			}
		}
	}
	for _, also := range []string{"Event", "StreamStart"} { // what the stream of events carries
		reach(openapi3.NewSchemaRef("#/components/schemas/"+also, doc.Components.Schemas[also].Value), read)
	}
	for _, name := range slices.Sorted(maps.Keys(read)) {
		schema := doc.Components.Schemas[name].Value
		page.WriteString("\n" + comment("", schema.Description))
		if len(schema.Properties) == 0 {
			kind := typeOf(&openapi3.SchemaRef{Value: schema})
			if schema.AdditionalProperties.Has != nil && !*schema.AdditionalProperties.Has {
				kind = "Record<string, never>"
			}
			fmt.Fprintf(&page, "export type %s = %s;\n", name, kind)
			continue
		}
		fmt.Fprintf(&page, "export interface %s {\n", name)
		optional := slices.DeleteFunc(slices.Sorted(maps.Keys(schema.Properties)), func(field string) bool { return slices.Contains(schema.Required, field) })
		for i, field := range slices.Concat(schema.Required, optional) {
			mark := ""
			if i >= len(schema.Required) {
				mark = "?"
			}
			property := schema.Properties[field]
			said := property.Value.Description
			if property.Ref != "" {
				said, _ = property.Extensions["description"].(string) // what stands beside a reference
			}
			fmt.Fprintf(&page, "%s  %s%s: %s;\n", comment("  ", said), field, mark, typeOf(property))
		}
		page.WriteString("}\n")
	}
	return page.Bytes()
}

// comment is what a description says, as editors show it.
func comment(indent, text string) string {
	if text == "" {
		return ""
	}
	return indent + "/** " + strings.ReplaceAll(strings.ReplaceAll(text, "\n", " "), "*/", "* /") + " */\n"
}

// shape is an operation as TypeScript sees it: what it takes and answers.
type shape struct {
	c3po.Operation
	in, out  string
	optional bool // no field of what it takes is needed
}

func shapes(doc *openapi3.T) (all []shape) {
	for _, op := range dialect.Operations() {
		if op.Toolset == c3po.Bridge || op.Toolset == c3po.Compat {
			continue // the client speaks no dialect
		}
		operation := doc.Paths.Value("/api/op/" + op.Name).Post
		body := operation.RequestBody.Value
		answer := operation.Responses.Value("200").Value.Content["application/json"].Schema
		out := typeOf(answer)
		if answer.Value.Items != nil {
			out = "Page<" + typeOf(answer.Value.Items) + ">"
		}
		all = append(all, shape{op, typeOf(body.Content["application/json"].Schema), out, !body.Required})
	}
	return all
}

// operationTypes is the table: what each operation takes and answers, which of them change
// nothing, and which take a key that makes a repeat the same act.
func operationTypes(doc *openapi3.T) []byte {
	var page bytes.Buffer
	page.WriteString(generatedFrom + "\nimport type * as wire from \"./wire.js\";\n\n" +
		"/** One part of a list. */\nexport interface Page<Row> {\n  rows: Row[];\n  /** The cursor to go on with; empty at the end. */\n  next: string;\n" +
		"  /** How many there are in all, where the operation counts them. */\n  count?: number;\n}\n\n" +
		"/** What each operation takes and answers, by its name. */\nexport interface Operations {\n")
	var readOnly, keyed []string
	for _, op := range shapes(doc) {
		fmt.Fprintf(&page, "%s  %s: { in: %s; out: %s };\n", comment("  ", op.Doc), op.Name, inWire(op.in), inWire(op.out))
		_, takesKey := op.In.FieldByName("ClientKey")
		switch {
		case op.ReadOnly:
			readOnly = append(readOnly, op.Name)
		case takesKey:
			keyed = append(keyed, op.Name)
		}
	}
	fmt.Fprintf(&page, "}\n\n/** The operations that change nothing. */\nexport const readOnly: ReadonlySet<string> = new Set(%s);\n", words(readOnly))
	fmt.Fprintf(&page, "\n/** The operations that take a key, under which a repeat is the same act. */\nexport const keyed: ReadonlySet<string> = new Set(%s);\n", words(keyed))
	fmt.Fprintf(&page, "\n/** The oldest and the newest protocol that is spoken here. */\nexport const protocol = %q;\n", c3po.OwnProtocols())
	return page.Bytes()
}

// operationMethods is a method for each operation.
func operationMethods(doc *openapi3.T) []byte {
	var page bytes.Buffer
	page.WriteString(generatedFrom + "\nimport type { CallOptions } from \"./connection.js\";\nimport type { Operations, Page } from \"./operations.js\";\nimport type * as wire from \"./wire.js\";\n\n" +
		"/** A method for each operation of the table. */\nexport abstract class Methods {\n" +
		"  abstract call<Name extends keyof Operations>(name: Name, input: Operations[Name][\"in\"], options?: CallOptions): Promise<Operations[Name][\"out\"]>;\n")
	for _, op := range shapes(doc) {
		none := ""
		if op.optional {
			none = " = {}"
		}
		fmt.Fprintf(&page, "\n%s  %s(input: %s%s, options?: CallOptions): Promise<%s> {\n    return this.call(%q, input, options);\n  }\n",
			comment("  ", op.Doc), camel(op.Name), inWire(op.in), none, inWire(op.out), op.Name)
	}
	page.WriteString("}\n")
	return page.Bytes()
}

// inWire is the name of a type where wire.ts is imported whole.
func inWire(name string) string {
	if row, isPage := strings.CutPrefix(name, "Page<"); isPage {
		return "Page<wire." + row
	}
	return "wire." + name
}

// camel is the name of an operation as TypeScript writes it.
func camel(name string) string {
	first, rest, _ := strings.Cut(name, "_")
	for _, word := range strings.Split(rest, "_") {
		if word != "" {
			first += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return first
}

func words(all []string) string {
	return `["` + strings.Join(all, `", "`) + `"]`
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
