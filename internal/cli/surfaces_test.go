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

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

// A shellForm is an operation as a shell calls it: the command, and how each
// argument is given that is not named like its flag.
type shellForm struct {
	command string            // without c3po
	given   map[string]string // argument → flag, or the word in the usage line; "" if nobody needs it there
	because string            // of an operation without a command: why
}

// paged are arguments that a command answers itself: it reads page after page.
var paged = []string{"cursor"}

// shellForms has one row for each operation. What is missing here is missing in the
// shell, and TestEveryOperationIsOnEverySurface fails.
var shellForms = map[string]shellForm{
	"ping":              {command: "health"},
	"list_agents":       {command: "agents"},
	"register_agent":    {command: "register", given: map[string]string{"capabilities": "capability", "heartbeat_interval": "heartbeat", "pid_start": ""}},
	"send_message":      {command: "send", given: map[string]string{"target": "TARGET", "message": "MESSAGE", "priority": "urgent", "expects_reply": "no-reply", "wait_seconds": "wait", "client_key": "key", "deadline_ms": "deadline"}},
	"get_messages":      {command: "inbox"},
	"reply":             {command: "reply", given: map[string]string{"message_id": "MESSAGE_ID", "response": "TEXT", "client_key": "key"}},
	"wait_for_message":  {command: "wait", given: map[string]string{"message_id": "for", "kind": "incoming", "asked": ""}},
	"ack_messages":      {command: "ack", given: map[string]string{"message_ids": "MESSAGE_ID..."}},
	"set_status":        {command: "status set", given: map[string]string{"status": "available|busy|away", "current_task": "task"}},
	"escalate_to_human": {command: "ask-human", given: map[string]string{"reason": "REASON", "choices": "choice", "client_key": "key"}},

	"whoami":           {command: "whoami"},
	"get_agent_status": {command: "agents", given: map[string]string{"agent_id": "AGENT"}},
	"get_thread":       {command: "thread", given: map[string]string{"thread": "THREAD"}},
	"peek":             {command: "inbox"},
	"cancel":           {command: "cancel", given: map[string]string{"message_id": "MESSAGE_ID"}},
	"claim":            {command: "claim", given: map[string]string{"message_id": "MESSAGE_ID"}},
	"co_workers":       {command: "agents"},

	"room_join":    {command: "room join", given: map[string]string{"room": "ROOM", "visibility": "invite-only"}},
	"room_leave":   {command: "room leave", given: map[string]string{"room": "ROOM"}},
	"room_end":     {command: "room end", given: map[string]string{"room": "ROOM"}},
	"room_post":    {command: "room post", given: map[string]string{"room": "ROOM", "message": "MESSAGE", "client_key": "key"}},
	"room_history": {command: "room history", given: map[string]string{"room": "ROOM"}},
	"room_list":    {command: "room list"},
	"room_invite":  {command: "room invite", given: map[string]string{"room": "ROOM", "agent": "AGENT"}},
	"room_set":     {command: "room set", given: map[string]string{"room": "ROOM", "visibility": "public|invite_only"}},
	"broadcast":    {command: "broadcast", given: map[string]string{"message": "MESSAGE", "client_key": "key"}},

	"server_info": {command: "status"},
	"trace":       {command: "trace", given: map[string]string{"message_id": "MESSAGE_ID"}},
	"tail_log":    {command: "tail", given: map[string]string{"kinds": "kind"}},
	"sweep":       {command: "sweep", given: map[string]string{"dry_run": "dry-run"}},

	"send_request":         {because: "first design's name for `c3po send`"},
	"get_pending_requests": {because: "first design's name for `c3po inbox`"},
	"respond_to_request":   {because: "first design's name for `c3po reply`"},
	"wait_for_response":    {because: "first design's name for `c3po wait --for`"},
	"wait_for_request":     {because: "first design's name for `c3po wait --incoming`"},

	"bridge_send_message":   {because: "bridge dialect's name for `c3po send --wait`"},
	"await_reply":           {because: "bridge dialect's name for `c3po wait --for`"},
	"post_reply":            {command: "bridge-reply", given: map[string]string{"ticketId": "ticket", "payload": "message", "metadata": ""}},
	"broadcast_message":     {because: "bridge dialect's name for `c3po broadcast`, or several `c3po send`"},
	"subscribe_updates":     {because: "bridge dialect's name for `c3po tail`"},
	"cancel_ticket":         {because: "bridge dialect's name for `c3po cancel`"},
	"bridge_list_agents":    {because: "bridge dialect's name for `c3po agents`"},
	"bridge_co_workers":     {because: "bridge dialect's name for `c3po agents`"},
	"bridge_register_agent": {command: "bridge-register", given: map[string]string{"agentId": "agent", "metadata": "cwd", "heartbeatIntervalMs": "heartbeat-ms"}},

	"unregister":         {command: "unregister"},
	"report_death":       {because: "`c3po mcp` and `c3po run` report the end of the process they watch"},
	"rename":             {command: "rename", given: map[string]string{"to": "NEW", "new_id": "NEW", "name": "NEW"}},
	"pending":            {command: "inbox"},
	"received":           {because: "a client reports what it has taken; reading in a shell is `served`"},
	"tickets":            {command: "tickets"},
	"human_list":         {command: "human list"},
	"human_show":         {command: "human show"},
	"human_answer":       {command: "human answer"},
	"pause":              {command: "pause"},
	"resume":             {command: "resume"},
	"thread_resume":      {command: "thread resume"},
	"room_prune":         {command: "room prune"},
	"fsck":               {command: "fsck"},
	"dead_letters":       {command: "dead-letter list"},
	"dead_letter":        {command: "dead-letter show"},
	"dead_letter_replay": {command: "dead-letter replay"},
	"dead_letter_purge":  {command: "dead-letter purge"},
}

// toolReasons say why an operation is no tool of a model's, by what its name begins with.
var toolReasons = map[string]string{
	"unregister": "the end of the session does it", "report_death": "for our own processes", "rename": "a person's choice", "pending": "for hooks: `peek`",
	"received": "for our own client", "tickets": "`get_thread`, `wait_for_message`", "human_": "for the person", "pause": "for the person", "resume": "for the person",
	"thread_resume": "for the person", "room_prune": "for the person", "fsck": "for operators", "dead_letter": "for the person",
}

// shortcuts are operations that REST also serves at a path of the documents.
var shortcuts = map[string]string{
	"list_agents": "`GET /api/agents`", "pending": "`GET /api/pending`, `GET /api/wait`", "unregister": "`POST /api/unregister`", "ping": "`GET /api/health`",
	"bridge_send_message": "`POST /agents/{id}/send`", "await_reply": "`GET /replies/{ticket}`, `/stream`", "post_reply": "`POST /replies`",
	"bridge_list_agents": "`GET /agents`", "subscribe_updates": "`GET /api/events`", "bridge_register_agent": "`POST /agents/register`, `/heartbeat`", "tail_log": "`GET /api/events`",
}

// An agent that is only a script lacks nothing that a model has.
// Claims: C13
func TestEveryOperationIsOnEverySurface(t *testing.T) {
	t.Parallel()
	root := (&app{}).root()
	for _, op := range dialect.Operations() {
		form, ok := shellForms[op.Name]
		switch {
		case !ok:
			t.Errorf("%s has no command, and nothing says why", op.Name)
		case form.command == "" && form.because == "":
			t.Errorf("nothing says why %s has no command", op.Name)
		case form.command != "":
			cmd, rest, err := root.Find(strings.Fields(form.command))
			if err != nil || len(rest) > 0 {
				t.Errorf("%s: there is no command c3po %s", op.Name, form.command)
				continue
			}
			if op.Toolset != "" {
				checkArguments(t, op, form, cmd)
			}
		}
		if op.Toolset == "" && toolReason(op.Name) == "" {
			t.Errorf("nothing says why %s is no tool", op.Name)
		}
	}
	for name := range shellForms {
		if _, err := dialect.FindOperation(name); err != nil {
			t.Errorf("%s is no operation", name)
		}
	}
}

// checkArguments finds each argument of an operation among the command's own.
func checkArguments(t *testing.T, op c3po.Operation, form shellForm, cmd *cobra.Command) {
	t.Helper()
	for field := range op.In.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		given, renamed := form.given[name]
		if slices.Contains(paged, name) || renamed && given == "" {
			continue
		}
		if !renamed {
			given = strings.ReplaceAll(name, "_", "-")
		}
		if cmd.Flags().Lookup(given) == nil && !strings.Contains(cmd.Use, given) {
			t.Errorf("c3po %s cannot give %s of %s", form.command, name, op.Name)
		}
	}
}

func toolReason(name string) string {
	for start, reason := range toolReasons {
		if name == start || strings.HasPrefix(name, start) {
			return reason
		}
	}
	return ""
}

const (
	surfacesPage  = "../../docs/cli.md"
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
		t.Errorf("%s is not what there is; run make docs:\n%s", surfacesPage, diff)
	}
}

// surfaces is the table of all operations.
func surfaces() string {
	var page strings.Builder
	page.WriteString("\nWritten by `make docs` from the table of operations. A script that has no MCP lacks nothing a model has: every argument of every tool is a flag,\n" +
		"but `cursor`: a command reads page after page by itself, up to its `--limit`.\n" +
		"Every operation is also `POST /api/op/NAME` with the tool's arguments as JSON.\n\n" +
		"| operation | MCP tool | REST, beside `/api/op` | command |\n|---|---|---|---|\n")
	for _, op := range dialect.Operations() {
		tool := fmt.Sprintf("`%s` (%s)", op.Tool, op.Toolset)
		if op.Toolset == "" {
			tool = "no: " + toolReason(op.Name)
		}
		form := shellForms[op.Name]
		command := "`c3po " + form.command + "`"
		switch {
		case form.command == "":
			command = "no: " + form.because
		case strings.HasPrefix(form.command, "bridge-"):
			command = "`" + form.command + "`"
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
