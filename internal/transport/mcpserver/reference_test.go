package mcpserver_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/c3po-dev/c3po"
)

const referenceFile = "../../../docs/reference-tools.md"

// The document lists what a client is offered, so a client writes it.
func TestTheReferenceOfToolsIsCurrent(t *testing.T) {
	t.Parallel()
	want := toolReference(t)
	if *update {
		if err := os.WriteFile(referenceFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(referenceFile)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what clients are offered; run make docs: %v\n%s", referenceFile, err, cmp.Diff(string(want), string(got)))
	}
}

// toolReference is every tool with its arguments, as a document.
func toolReference(t *testing.T) []byte {
	t.Helper()
	var doc bytes.Buffer
	fmt.Fprint(&doc, "# Tool reference\n\nWritten by `make docs` from what a client is offered. For how the tools go together see [tools.md](tools.md).\n"+
		"Every tool can also be called as `POST /api/op/{name}`, with the same arguments ([reference-rest.md](reference-rest.md)).\n")
	var sets []c3po.Toolset
	for _, op := range c3po.Operations() {
		if op.Toolset != "" && !slices.Contains(sets, op.Toolset) {
			sets = append(sets, op.Toolset)
		}
	}
	for _, set := range sets {
		list, err := connected(t, &scripted{}, nil, set).ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&doc, "\n## The set %s\n", set)
		for _, op := range c3po.Operations() {
			at := slices.IndexFunc(list.Tools, func(tool *mcp.Tool) bool { return tool.Name == op.Tool })
			if op.Toolset == set && at >= 0 {
				writeTool(t, &doc, op, list.Tools[at])
			}
		}
	}
	return doc.Bytes()
}

func writeTool(t *testing.T, doc *bytes.Buffer, op c3po.Operation, tool *mcp.Tool) {
	t.Helper()
	fmt.Fprintf(doc, "\n### %s\n\n%s\n", tool.Name, tool.Description)
	var facts []string
	for fact, holds := range map[string]bool{
		"changes nothing":                                   op.ReadOnly,
		"the same call twice is the same as once":           op.Idempotent && !op.ReadOnly,
		"answers with text of other agents":                 op.Bodies,
		"its operation is called `" + op.Name + "` in REST": op.Name != tool.Name,
	} {
		if holds {
			facts = append(facts, fact)
		}
	}
	if slices.Sort(facts); len(facts) > 0 {
		line := strings.Join(facts, "; ")
		fmt.Fprintf(doc, "\n%s%s.\n", strings.ToUpper(line[:1]), line[1:])
	}
	// The client has it as it came over the wire.
	wire, err := json.Marshal(tool.InputSchema)
	var schema jsonschema.Schema
	if err != nil || json.Unmarshal(wire, &schema) != nil {
		t.Fatalf("%s: %v", tool.Name, err)
	}
	if len(schema.Properties) == 0 {
		fmt.Fprint(doc, "\nNo arguments.\n")
		return
	}
	fmt.Fprint(doc, "\n| argument | type | |\n|---|---|---|\n")
	for _, name := range argumentsInOrder(&schema) {
		kind := typeWords(schema.Properties[name])
		if slices.Contains(schema.Required, name) {
			kind += ", required"
		}
		fmt.Fprintf(doc, "| `%s` | %s | %s |\n", name, kind, strings.ReplaceAll(schema.Properties[name].Description, "|", "\\|"))
	}
}

// argumentsInOrder has those first that must be there.
func argumentsInOrder(schema *jsonschema.Schema) []string {
	optional := slices.DeleteFunc(slices.Sorted(maps.Keys(schema.Properties)), func(name string) bool { return slices.Contains(schema.Required, name) })
	return append(slices.Clone(schema.Required), optional...)
}

func typeWords(schema *jsonschema.Schema) string {
	words := schema.Type
	if words == "" {
		words = strings.Join(schema.Types, " or ")
	}
	if schema.Items != nil {
		words = "list of " + typeWords(schema.Items)
	}
	if len(schema.Enum) > 0 {
		var values []string
		for _, value := range schema.Enum {
			values = append(values, fmt.Sprintf("`%v`", value))
		}
		words = strings.Join(values, ", ")
	}
	if schema.Minimum != nil && schema.Maximum != nil {
		words += fmt.Sprintf(", %g to %g", *schema.Minimum, *schema.Maximum)
	}
	return words
}
