package reference

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
	"github.com/c3po-dev/c3po/internal/transport/mcpserver"
)

// toolReference is every tool with its arguments. It lists what a client is
// offered, so a client asks for it.
func toolReference() ([]byte, error) {
	var doc bytes.Buffer
	fmt.Fprint(&doc, "# Tool reference\n\nWritten by `make docs` from what a client is offered. For how the tools go together see [tools.md](tools.md).\n"+
		"Every tool can also be called as `POST /api/op/{name}`, with the same arguments ([reference-rest.md](reference-rest.md)).\n")
	var sets []c3po.Toolset
	for _, op := range dialect.Operations() {
		if op.Toolset != "" && !slices.Contains(sets, op.Toolset) {
			sets = append(sets, op.Toolset)
		}
	}
	for _, set := range sets {
		tools, err := listTools(context.Background(), set)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&doc, "\n## The set %s\n", set)
		for _, op := range dialect.Operations() {
			at := slices.IndexFunc(tools, func(tool *mcp.Tool) bool { return tool.Name == op.Tool })
			if op.Toolset != set || at < 0 {
				continue
			}
			if err := writeTool(&doc, op, tools[at]); err != nil {
				return nil, fmt.Errorf("%s: %w", op.Tool, err)
			}
		}
	}
	return doc.Bytes(), nil
}

// listTools are the tools of a set as a client sees them. None is called, so there
// is nothing behind them.
func listTools(ctx context.Context, set c3po.Toolset) ([]*mcp.Tool, error) {
	here, there := mcp.NewInMemoryTransports()
	server, err := mcpserver.New(mcpserver.Config{}).ServerFor(struct{ c3po.Service }{}, []c3po.Toolset{set}).Connect(ctx, there, nil)
	if err != nil {
		return nil, err
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "reference"}, nil).Connect(ctx, here, nil)
	if err != nil {
		return nil, err
	}
	list, err := client.ListTools(ctx, nil)
	if err != nil {
		return nil, err
	}
	return list.Tools, errors.Join(client.Close(), server.Wait())
}

func writeTool(doc *bytes.Buffer, op c3po.Operation, tool *mcp.Tool) error {
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
	if err != nil {
		return err
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(wire, &schema); err != nil {
		return err
	}
	if len(schema.Properties) == 0 {
		fmt.Fprint(doc, "\nNo arguments.\n")
		return nil
	}
	fmt.Fprint(doc, "\n| argument | type | |\n|---|---|---|\n")
	for _, name := range argumentsInOrder(&schema) {
		kind := typeWords(schema.Properties[name])
		if slices.Contains(schema.Required, name) {
			kind += ", required"
		}
		fmt.Fprintf(doc, "| `%s` | %s | %s |\n", name, kind, strings.ReplaceAll(schema.Properties[name].Description, "|", "\\|"))
	}
	return nil
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
