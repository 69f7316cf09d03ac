package mcpserver_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/text/envelope"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
	"github.com/c3po-dev/c3po/internal/transport/mcpserver"
)

var update = flag.Bool("update", false, "write the golden files anew")

var allSets = []c3po.Toolset{c3po.Core, c3po.More, c3po.Rooms, c3po.Diag, c3po.Compat, c3po.Bridge}

func fixedMark() envelope.Renderer {
	return envelope.Renderer{Mark: func() string { return "7f3a9c" }}
}

// connected gives a client's session with a server of svc, over memory.
func connected(t *testing.T, svc c3po.Service, options *mcp.ClientOptions, sets ...c3po.Toolset) *mcp.ClientSession {
	t.Helper()
	s := mcpserver.New(mcpserver.Config{Version: "1.2.3", Features: []string{"wait", "trace"}, Envelope: fixedMark()})
	here, there := mcp.NewInMemoryTransports()
	server, err := s.ServerFor(svc, sets).Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, options).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		server.Wait()
	})
	return client
}

func called(t *testing.T, client *mcp.ClientSession, tool, arguments string) *mcp.CallToolResult {
	t.Helper()
	result, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: raw(arguments)})
	if err != nil {
		t.Fatalf("%s(%s): %v", tool, arguments, err)
	}
	return result
}

func textOf(t *testing.T, result *mcp.CallToolResult) string {
	t.Helper()
	var blocks []string
	for _, c := range result.Content {
		block, ok := c.(*mcp.TextContent)
		if !ok {
			t.Fatalf("content is a %T", c)
		}
		blocks = append(blocks, block.Text)
	}
	return strings.Join(blocks, "\n")
}

func golden(t *testing.T, name string, value any) {
	t.Helper()
	var got bytes.Buffer
	e := json.NewEncoder(&got)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(value); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name+".golden.json")
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}

func TestEachToolsetListsItsTools(t *testing.T) {
	t.Parallel()
	for _, set := range allSets {
		t.Run(string(set), func(t *testing.T) {
			t.Parallel()
			list, err := connected(t, &scripted{}, nil, set).ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, "tools-"+string(set), list.Tools)
			for _, tool := range list.Tools {
				if tool.OutputSchema != nil {
					t.Errorf("%s has an output schema", tool.Name)
				}
			}
		})
	}
}

// The first sentence about a tool is the table's; what a page says beyond it stays.
func TestTheToolTableIsTheOperations(t *testing.T) {
	t.Parallel()
	const page = "../../../docs/reference/tools.md"
	read, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(read)
	rows := regexp.MustCompile("(?m)^(\\| [a-z0-9]+ \\| `[a-z_]+` \\|).*\n").FindAllStringSubmatch(text, -1)
	var got, want strings.Builder
	written := map[string]string{}
	for _, row := range rows {
		got.WriteString(row[0])
		written[row[1]] = row[0]
	}
	for _, op := range dialect.Operations() {
		if op.Toolset != "" {
			row := fmt.Sprintf("| %s | `%s` |", op.Toolset, op.Tool)
			if line := written[row]; line != "" {
				want.WriteString(line)
			} else {
				want.WriteString(row + " " + op.Doc + " |\n")
			}
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(strings.Replace(text, got.String(), want.String(), 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got.String() != want.String() {
		t.Errorf("%s lists other tools than there are, or in another order; run make contract. It has\n%s\nwant\n%s", page, got.String(), want.String())
	}
}

// A list of types is refused by some clients, and a missing additionalProperties
// lets a misspelt argument through.
func TestSchemasKeepToWhatEveryClientUnderstands(t *testing.T) {
	t.Parallel()
	var tools []*mcp.Tool
	for _, set := range allSets {
		list, err := connected(t, &scripted{}, nil, set).ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		tools = append(tools, list.Tools...)
	}
	for _, tool := range tools {
		schema, ok := tool.InputSchema.(map[string]any)
		if !ok {
			t.Fatalf("%s has a schema of type %T", tool.Name, tool.InputSchema)
		}
		if schema["additionalProperties"] == nil {
			t.Errorf("%s allows arguments it does not know", tool.Name)
		}
		properties, _ := schema["properties"].(map[string]any)
		for name, property := range properties {
			p := property.(map[string]any)
			if _, ok := p["type"].(string); !ok {
				t.Errorf("%s.%s has type %v", tool.Name, name, p["type"])
			}
			if p["description"] == nil {
				t.Errorf("%s.%s has no description", tool.Name, name)
			}
		}
	}
}

func TestEachToolAnswersInItsForm(t *testing.T) {
	t.Parallel()
	for _, set := range allSets {
		t.Run(string(set), func(t *testing.T) {
			t.Parallel()
			client := connected(t, &scripted{}, nil, set)
			list, err := client.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			results := map[string]*mcp.CallToolResult{}
			seen := map[string]bool{}
			for _, tool := range list.Tools {
				for _, c := range callsOf(set) {
					if c.tool == tool.Name {
						results[c.tool+" "+c.arguments] = called(t, client, c.tool, c.arguments)
						seen[tool.Name] = true
					}
				}
				// A read without bodies is its JSON, in which nothing is decided here.
				plain := slices.ContainsFunc(dialect.Operations(), func(o c3po.Operation) bool {
					return o.Tool == tool.Name && o.Toolset == set && o.ReadOnly && !o.Bodies
				})
				if !seen[tool.Name] && !plain {
					t.Errorf("no call of %s is written down", tool.Name)
				}
			}
			golden(t, "results-"+string(set), results)
		})
	}
}

func TestStructuredAndTextAreTheSame(t *testing.T) {
	t.Parallel()
	result := called(t, connected(t, &scripted{}, nil, c3po.Core), "ping", `{}`)
	var fromText any
	if err := json.Unmarshal([]byte(textOf(t, result)), &fromText); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(result.StructuredContent, fromText); diff != "" {
		t.Errorf("text and structured content differ:\n%s", diff)
	}
}

func TestBadArgumentsAreAToolErrorAModelCanRead(t *testing.T) {
	t.Parallel()
	client := connected(t, &scripted{}, nil, c3po.Core)
	for name, c := range map[string]struct{ tool, arguments, says string }{
		"unknown argument": {"send_message", `{"target":"api","message":"x","mesage":"y"}`, "mesage"},
		"wrong type":       {"send_message", `{"target":7,"message":"x"}`, "target"},
		"bad id":           {"reply", `{"message_id":"no","response":"x"}`, "not a message id"},
		"paged, unknown":   {"get_messages", `{"limt":3}`, "limt"},
		"no object":        {"get_messages", `[1]`, "type"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := called(t, client, c.tool, c.arguments)
			var wire struct {
				Error, Code, Suggestion, Retry string
			}
			if err := json.Unmarshal([]byte(textOf(t, result)), &wire); err != nil {
				t.Fatal(err)
			}
			if !result.IsError || wire.Code != "INVALID_REQUEST" || wire.Retry != "no" || wire.Suggestion == "" {
				t.Errorf("isError %v, %+v", result.IsError, wire)
			}
			if !strings.Contains(wire.Error, c.says) {
				t.Errorf("%q does not name %q", wire.Error, c.says)
			}
			if result.StructuredContent != nil {
				t.Errorf("an error has structured content: %v", result.StructuredContent)
			}
		})
	}
}

func TestClientsLearnVersionFeaturesAndHowToReadMail(t *testing.T) {
	t.Parallel()
	hello := connected(t, &scripted{}, nil, c3po.Core).InitializeResult()
	golden(t, "hello", map[string]any{
		"capabilities": hello.Capabilities, "instructions": hello.Instructions, "serverInfo": hello.ServerInfo,
	})
	//lint:ignore SA1019 deprecated, and the SDK announces it unless it is told not to
	if hello.Capabilities.Logging != nil {
		t.Error("logging is announced")
	}
}

// modelView builds what Claude Code shows a model of a result: structured
// content wins where there is any, except for errors.
func modelView(t *testing.T, result *mcp.CallToolResult) string {
	t.Helper()
	if result.StructuredContent == nil || result.IsError {
		return textOf(t, result)
	}
	shown, err := json.Marshal(result.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	return string(shown)
}

func TestWhatAModelIsShownHoldsTheEnvelope(t *testing.T) {
	t.Parallel()
	client := connected(t, &scripted{}, nil, c3po.Core, c3po.More)
	for _, c := range []struct {
		tool, arguments string
		bodies          []c3po.Message
	}{
		{"get_messages", `{}`, []c3po.Message{asked(), answered()}},
		{"peek", `{}`, []c3po.Message{asked(), answered()}},
		{"claim", `{"message_id":"api::role/web::0000002a"}`, []c3po.Message{queuedTask()}},
		{"get_thread", `{"thread":"api::web::0000002a"}`, []c3po.Message{asked(), answered()}},
		{"wait_for_message", `{}`, []c3po.Message{asked()}},
		{"wait_for_message", `{"message_id":"web::api::0000002b"}`, []c3po.Message{answered()}},
		{"send_message", `{"target":"api","message":"x","wait_seconds":30}`, []c3po.Message{answered()}},
	} {
		t.Run(c.tool+c.arguments, func(t *testing.T) {
			t.Parallel()
			view := modelView(t, called(t, client, c.tool, c.arguments))
			got, err := envelope.Parse(view)
			if err != nil {
				t.Fatalf("%v in what the model is shown:\n%s", err, view)
			}
			if len(got) != len(c.bodies) {
				t.Fatalf("%d messages shown, want %d:\n%s", len(got), len(c.bodies), view)
			}
			for i, m := range c.bodies {
				if got[i].Text != m.Text() || got[i].Context != m.Context {
					t.Errorf("message %d is shown as %+v", i, got[i])
				}
			}
			for line := range strings.SplitSeq(view, "\n") {
				ours := line == "" || strings.HasPrefix(line, "c3po: ") || strings.HasPrefix(line, "[")
				if !ours && !strings.HasPrefix(line, "| ") {
					t.Errorf("a line outside the gutter: %q", line)
				}
			}
		})
	}
}

func TestAnArgumentThatIsNotShownIsTakenAllTheSame(t *testing.T) {
	t.Parallel()
	var sent c3po.SendInput
	svc := &scripted{sent: func(in c3po.SendInput) { sent = in }}
	s := mcpserver.New(mcpserver.Config{Unshown: map[string][]string{"send_message": {"thread", "client_key"}}})
	here, there := mcp.NewInMemoryTransports()
	if _, err := s.ServerFor(svc, []c3po.Toolset{c3po.Core}).Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	list, err := client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		schema, err := json.Marshal(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		hidden := tool.Name == "send_message"
		if hidden && (bytes.Contains(schema, []byte("thread")) || bytes.Contains(schema, []byte("additionalProperties"))) {
			t.Errorf("%s shows %s", tool.Name, schema)
		}
		if tool.Name == "reply" && !bytes.Contains(schema, []byte("client_key")) {
			t.Errorf("%s hides what it should show: %s", tool.Name, schema)
		}
	}
	if _, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "send_message",
		Arguments: map[string]any{"target": "api", "message": "hi", "thread": "t1"}}); err != nil {
		t.Fatal(err)
	}
	if sent.Thread != "t1" {
		t.Errorf("the thread arrived as %q", sent.Thread)
	}
}
