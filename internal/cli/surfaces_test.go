package cli

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

// renamed are arguments that a command takes under another name: a flag, a word of the
// usage line, or "" if nobody needs it in a shell. All others are called what they are called.
var renamed = map[string]map[string]string{
	"":                      {"client_key": "key"},
	"register_agent":        {"capabilities": "capability", "heartbeat_interval": "heartbeat", "pid_start": ""},
	"send_message":          {"priority": "urgent", "expects_reply": "no-reply", "wait_seconds": "wait", "deadline_ms": "deadline", "attach": "file"},
	"reply":                 {"response": "TEXT", "attach": "file"},
	"lease_list":            {"repository": ""},
	"wait_for_message":      {"message_id": "for", "kind": "incoming", "asked": ""},
	"sweep":                 {"agent_id": ""}, // c3po agents forget gives it
	"set_status":            {"status": "available|busy|away", "current_task": "task"},
	"room_join":             {"visibility": "invite-only"},
	"room_set":              {"visibility": "public|invite_only"},
	"post_reply":            {"ticketId": "ticket", "payload": "message", "metadata": ""},
	"bridge_register_agent": {"agentId": "agent", "metadata": "cwd", "heartbeatIntervalMs": "heartbeat-ms"},
}

// paged are arguments that a command answers itself: it reads page after page.
var paged = []string{"cursor"}

// shortcuts are operations that REST also serves at a path of the documents.
var shortcuts = map[string]string{
	"list_agents": "`GET /api/agents`", "pending": "`GET /api/pending`, `GET /api/wait`", "unregister": "`POST /api/unregister`", "ping": "`GET /api/health`",
	"bridge_send_message": "`POST /agents/{id}/send`", "await_reply": "`GET /replies/{ticket}`, `/stream`", "post_reply": "`POST /replies`",
	"bridge_list_agents": "`GET /agents`", "subscribe_updates": "`GET /api/events`", "bridge_register_agent": "`POST /agents/register`, `/heartbeat`", "tail_log": "`GET /api/events`",
}

// An agent that is only a script lacks nothing that a model has.
func TestEveryOperationIsOnEverySurface(t *testing.T) {
	t.Parallel()
	root := root((&console.Console{}))
	for _, op := range dialect.Operations() {
		switch {
		case (op.Command == "") == (op.NoCommand == ""):
			t.Errorf("%s names no command and no reason for having none, or both", op.Name)
		case op.Command != "":
			cmd, rest, err := root.Find(strings.Fields(op.Command))
			if err != nil || len(rest) > 0 {
				t.Errorf("%s: there is no command c3po %s", op.Name, op.Command)
				continue
			}
			if op.Toolset != "" {
				checkArguments(t, op, cmd)
			}
		}
		if (op.Toolset == "") == (op.NoTool == "") {
			t.Errorf("%s is in no toolset without a reason, or has a reason in spite of one", op.Name)
		}
	}
	for name := range renamed {
		if _, err := dialect.FindOperation(name); err != nil && name != "" {
			t.Errorf("%s is no operation", name)
		}
	}
}

// checkArguments finds each argument of an operation among the command's own.
func checkArguments(t *testing.T, op c3po.Operation, cmd *cobra.Command) {
	t.Helper()
	_, words, _ := strings.Cut(cmd.Use, " ")
	for field := range op.In.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		given, other := renamed[op.Name][name]
		if !other {
			given, other = renamed[""][name]
		}
		if slices.Contains(paged, name) || other && given == "" {
			continue
		}
		one := strings.TrimSuffix(name, "s")
		forms := []string{given}
		if !other {
			forms = []string{strings.ReplaceAll(name, "_", "-"), strings.ReplaceAll(one, "_", "-"), strings.ToUpper(one), strings.ToUpper(strings.TrimSuffix(one, "_id"))}
		}
		if !slices.ContainsFunc(forms, func(form string) bool { return cmd.Flags().Lookup(form) != nil || strings.Contains(words, form) }) {
			t.Errorf("c3po %s cannot give %s of %s", op.Command, name, op.Name)
		}
	}
}

const (
	surfacesPage  = "../../docs/reference/cli.md"
	surfacesTitle = "## Every operation on every surface\n"
)

var update = flag.Bool("update", false, "write the table of surfaces anew")

func TestTheTableOfSurfacesIsCurrent(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(surfacesPage)
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := strings.Cut(string(text), surfacesTitle)
	if !found {
		t.Fatalf("%s has no %q", surfacesPage, surfacesTitle)
	}
	want := before + surfacesTitle + surfaces()
	if *update {
		if err := os.WriteFile(surfacesPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("%s is not what there is; run make contract:\n%s", surfacesPage, diff)
	}
}

// surfaces is the table of all operations.
func surfaces() string {
	var page strings.Builder
	page.WriteString("\nWritten by `make contract` from the table of operations. A script that has no MCP lacks nothing a model has: every argument of every tool is a flag,\n" +
		"but `cursor`: a command reads page after page by itself, up to its `--limit`.\n" +
		"Every operation is also `POST /api/op/NAME` with the tool's arguments as JSON.\n\n" +
		"| operation | MCP tool | REST, beside `/api/op` | command |\n|---|---|---|---|\n")
	for _, op := range dialect.Operations() {
		tool := fmt.Sprintf("`%s` (%s)", op.Tool, op.Toolset)
		if op.Toolset == "" {
			tool = "no: " + op.NoTool
		}
		command := "`c3po " + op.Command + "`"
		switch {
		case op.Command == "":
			command = "no: " + op.NoCommand
		case strings.HasPrefix(op.Command, "bridge-"):
			command = "`" + op.Command + "`"
		case op.Name == "peek":
			command = "`c3po inbox --peek`"
		}
		rest := shortcuts[op.Name]
		if rest == "" {
			rest = "`/api/op` only"
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s | %s |\n", op.Name, tool, rest, command)
	}
	return page.String()
}
