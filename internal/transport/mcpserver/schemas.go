package mcpserver

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

// bound is what is known of an argument beyond its Go type.
type bound struct {
	words    []any
	min, max float64 // both 0: none
}

func oneOf[Word ~string](words ...Word) bound {
	var b bound
	for _, w := range words {
		b.words = append(b.words, string(w))
	}
	return b
}

// bounds of arguments, by operation and argument. They guide a model; the
// service checks for itself.
func bounds() map[string]bound {
	limits := c3po.DefaultLimits()
	seconds := bound{min: 1, max: limits.MaxWait.Seconds()}
	milliseconds := bound{min: 1, max: float64(limits.MaxWait.Milliseconds())}
	page := bound{min: 1, max: float64(limits.MaxPageItems)}
	return map[string]bound{
		"list_agents.status":        oneOf(c3po.Online, c3po.Offline),
		"list_agents.limit":         page,
		"co_workers.status":         oneOf(c3po.Online, c3po.Offline),
		"co_workers.limit":          page,
		"set_status.status":         oneOf(c3po.Available, c3po.Busy, c3po.Away),
		"send_message.priority":     oneOf(c3po.Normal, c3po.Urgent),
		"send_message.if_away":      oneOf("queue", "fail"),
		"send_message.wait_seconds": seconds,
		"reply.status":              oneOf(c3po.ReplySuccess, c3po.ReplyError, c3po.ReplyHandedOver),
		"wait_for_message.timeout":  seconds,
		"wait_for_message.kind":     oneOf(c3po.KindIncoming),
		"get_messages.limit":        page,
		"peek.limit":                page,
		"get_thread.limit":          page,
		"respond_to_request.status": oneOf(c3po.ReplySuccess, c3po.ReplyError),
		"wait_for_response.timeout": seconds,
		"wait_for_request.timeout":  seconds,

		"bridge_send_message.timeoutMs": milliseconds,
		"await_reply.timeoutMs":         milliseconds,
		"bridge_list_agents.status":     oneOf(c3po.Online, c3po.Offline),
		"bridge_list_agents.limit":      page,
		"bridge_co_workers.status":      oneOf(c3po.Online, c3po.Offline),
		"bridge_co_workers.limit":       page,
	}
}

// declaration is the tool as tools/list shows it. There is no output schema:
// clients do not show it to models, and it doubles the size of the list.
func (t tool) declaration() *mcp.Tool {
	no, destroys := false, t.Destroys
	d := &mcp.Tool{
		Name:        t.Tool,
		Description: t.Doc,
		InputSchema: inputSchema(t.Operation),
		Annotations: &mcp.ToolAnnotations{
			Title:           title(t.Tool),
			ReadOnlyHint:    t.ReadOnly,
			IdempotentHint:  t.Idempotent,
			DestructiveHint: &destroys,
			OpenWorldHint:   &no,
		},
	}
	for _, name := range t.unshown {
		hide(d.InputSchema.(*jsonschema.Schema), name)
	}
	if t.Bodies {
		// One message with its context can be larger than what Claude Code shows
		// of a result, and a message is never cut.
		d.Meta = mcp.Meta{"anthropic/maxResultSizeChars": 500_000}
	}
	return d
}

// title makes "Send message" of send_message.
func title(name string) string {
	words := strings.ReplaceAll(name, "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

// ofPrograms are arguments, by operation, that a program gives and a model has no
// use for: where a wait in slices began, and which process it is.
var ofPrograms = map[string][]string{
	"wait_for_message": {"asked"},
	"register_agent":   {"host", "pid", "pid_start"},
	"send_message":     {"attach"}, // a model sends files with the command line
	"reply":            {"attach"},
}

// inputSchema infers the schema of an operation's arguments. An operation whose
// arguments have none is a mistake in the table, found by the first test.
func inputSchema(op c3po.Operation) *jsonschema.Schema {
	schema, err := jsonschema.ForType(op.In, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {Type: "object"}, // metadata, the only raw argument
		reflect.TypeFor[dialect.Payload](): {Type: "string"}, // what models write; any other JSON is taken too
	}})
	if err != nil {
		panic(fmt.Sprintf("arguments of %s: %v", op.Name, err))
	}
	for _, name := range ofPrograms[op.Name] {
		hideClosed(schema, name)
	}
	known := bounds()
	for name, property := range schema.Properties {
		oneType(property)
		b := known[op.Name+"."+name]
		property.Enum = b.words
		if b.max > 0 {
			property.Minimum, property.Maximum = &b.min, &b.max
		}
	}
	return schema
}

// hide takes an argument out of what is shown. It is taken all the same, so the
// schema no longer says that there are no others.
func hide(schema *jsonschema.Schema, name string) {
	schema.AdditionalProperties = nil
	hideClosed(schema, name)
}

// hideClosed takes out an argument that is not for models at all.
func hideClosed(schema *jsonschema.Schema, name string) {
	delete(schema.Properties, name)
	schema.PropertyOrder = slices.DeleteFunc(schema.PropertyOrder, func(other string) bool { return other == name })
}

// oneType undoes what inference says of slices and pointers, "null or …": an
// argument is left out, never null, and some clients refuse lists of types.
func oneType(s *jsonschema.Schema) {
	types := slices.DeleteFunc(slices.Clone(s.Types), func(name string) bool { return name == "null" })
	if len(types) == 1 {
		s.Type, s.Types = types[0], nil
	}
}
