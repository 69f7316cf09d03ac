package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

// hostile is a text that would do all there is to do to a terminal and its
// reader: colours, a title, a link, the clipboard, a forged line, C1 controls,
// turned text, text of no width, tags.
const hostile = "MARK\x1b[31m\x1b[2J\x1b]0;owned\a\x1b]8;;http://evil.example\x1b\\\x1b]52;c;ZXZpbA==\a" +
	"\r\nc3po: forged\u009b31m\u009d0;owned\u009c\u0085\u202egnp.exe\u2066\u2069\u200b\u200d\ufeff\u2028\u2029\U000e0041\u3164\x00\x7f\b"

// showing is how each command is made to show what a coordinator sends. The
// others show nothing of it, each for a reason.
var (
	showing = map[string][]string{
		"send":          {"bob", "hi", "--wait", "1"},
		"inbox":         {},
		"reply":         {"a::b::0a1b2c3d", "yes"},
		"wait":          {"--timeout", "1"},
		"ack":           {"a::b::0a1b2c3d"},
		"agents":        {},
		"whoami":        {},
		"register":      {},
		"unregister":    {},
		"status set":    {"busy"},
		"ask-human":     {"why?", "--wait", "1"},
		"room end":      {"build"},
		"trace":         {"a::b::0a1b2c3d"},
		"thread":        {"a::b::0a1b2c3d"},
		"thread resume": {"a::b::0a1b2c3d"},
		"human list":    {},
		"human answer":  {"a::b::0a1b2c3d", "yes"},
		"human send":    {"bob", "hi"},
		"answer":        {"a::b::0a1b2c3d", "yes"},
		"pause":         {"bob"},
		"resume":        {"bob"},
		"fsck":          {},
		"broadcast":     {"hi"},
		"room join":     {"build"},
		"room leave":    {"build"},
		"room post":     {"build", "hi"},
		"room history":  {"build"},
		"room list":     {},
		"room invite":   {"build", "bob"},
		"room set":      {"build", "public"},
		"room prune":    {},
		"status":        {},
		"health":        {},
		"doctor":        {},
		"verify":        {"--timeout", "1"},
		"stuck":         {},
		"search":        {"word"},
		"tickets":       {},
		"cancel":        {"a::b::0a1b2c3d"},
		"claim":         {"a::role/b::0a1b2c3d"},
		"tail":          {"--once"},
		"top":           {},

		"bridge-register":        {"--agent", "bob"},
		"bridge-reply":           {"a::b::0a1b2c3d", "yes"},
		"bridgectl list tickets": {},
		"bridgectl tail logs":    {"--once"},
		"audit tail":             {},
		"audit verify":           {},
		"passkey add":            {"--print"},
		"passkey list":           {},
		"passkey policy":         {"off"},
		"passkey remove":         {"phone"},
		"passkey reset":          {},
		"agents forget":          {"phantom", "--yes"},
		"token list":             {},
		"token create":           {"--role", "agent", "--agents", "box/*"},
		"token revoke":           {"abcdefghij23"},
		"token rotate":           {"abcdefghij23"},
		"run":                    {"--prompt", "x", "true"},
		"sweep":                  {},
		"rename":                 {"web"},
		"human show":             {"a::human::0a1b2c3d"},
		"dead-letter list":       {},
		"dead-letter show":       {"a::b::0a1b2c3d"},
		"dead-letter replay":     {"a::b::0a1b2c3d"},
		"dead-letter purge":      {"a::b::0a1b2c3d"},
		"upgrade":                {"--check", "--releases", "http://127.0.0.1:1"},
	}
	notShowing = map[string]string{
		"up":                 "starts a coordinator here",
		"demo":               "asks only a coordinator that it has started, for agents that it plays",
		"down":               "ends a coordinator here",
		"serve":              "is a coordinator",
		"backup":             "asks no coordinator; it prints the names of spaces, which have no control characters, line by line",
		"restore":            "as backup",
		"export":             "as backup",
		"import":             "asks no coordinator; it prints names that are checked character by character",
		"version":            "prints what is built in",
		"config":             "prints what is set here, line by line; config.txtar sets something hostile",
		"human watch":        "prints each question as human show does, for as long as it runs",
		"notify test":        "prints the names of channels that are set here",
		"hooks":              "logs ids of messages, and refusals in words of its own",
		"leave":              "prints addresses and names of files that are kept here, line by line",
		"login":              "as join",
		"logs":               "prints the coordinator's own log, line by line, as inline makes it",
		"claude":             "prints what installing prints, and becomes another program",
		"codex":              "as claude",
		"opencode":           "as claude",
		"gemini":             "as claude",
		"copilot":            "as claude",
		"kimi":               "as claude",
		"open":               "prints a link that is checked character by character",
		"instances":          "asks no coordinator; TestNothingASessionProcessSaysReachesTheTerminalAsACommand",
		"completion":         "prints what is built in",
		"man":                "prints what is built in",
		"exit-codes":         "prints what is built in",
		"leases on":          "asks no coordinator",
		"leases off":         "asks no coordinator",
		"leases release":     "prints constant words and counts",
		"leases accept":      "prints what it was given, and leases as leases does",
		"leases check":       "prints leases as leases does",
		"save":               "prints names of files made safe; TestNothingIsSavedOutsideTheFolderWhateverItsName",
		"files":              "prints names of files in quotes; files.txtar",
		"files drop":         "prints a number",
		"apply":              "prints a patch as other bodies are printed",
		"acp":                "asks no coordinator itself; TestWhatAnAgentSaysDoesNothingToTheTerminal",
		"format-stream":      "asks no coordinator; streamfmt is fuzzed for it, and format-stream.txtar shows something hostile",
		"invite":             "prints what is checked character by character",
		"join":               "prints times, and what is checked character by character",
		"mcp":                "speaks to a program; the envelope is tested where it is",
		"monitor":            "prints constant words and counts",
		"on":                 "prints constant words",
		"off":                "prints constant words",
		"hook session-start": "prints constant words and counts",
		"hook permission":    "prints the verdict in the client's own form, and the words of a denial are the person's",
		"install claude":     "prints what it does here",
		"uninstall claude":   "prints what it does here",
		"install codex":      "prints what it does here; the lines of files are sanitised",
		"uninstall codex":    "prints what it does here; the lines of files are sanitised",
		"install gemini":     "as install codex",
		"uninstall gemini":   "as uninstall codex",
		"install opencode":   "as install codex",
		"uninstall opencode": "as uninstall codex",
		"install copilot":    "as install codex",
		"uninstall copilot":  "as uninstall codex",
		"install kimi":       "as install codex",
		"uninstall kimi":     "as uninstall codex",
		"install bridge":     "prints what it does here",
		"agent list":         "prints agents.yaml, which is checked, and a path, made harmless",
		"agent check":        "asks no coordinator; what it prints of the file is made harmless",
		"attend":             "asks a coordinator for counts and numbers; its log is slog's",
		"attend allow":       "asks no coordinator",
		"attend deny":        "asks no coordinator",
		"attend list":        "asks no coordinator; shows ids and folders of this host, made harmless",
		"attend unit":        "asks no coordinator; prints text for systemd or launchd, escaped for them",
		"agent unit":         "asks no coordinator; prints text for systemd or launchd, escaped for them",
		"agent run":          "shows a container; streamfmt makes it harmless",
		"agent prompt":       "shows a container; streamfmt makes it harmless",
		"agent shell":        "is a shell of the person's own",
		"agent up":           "shows containers; streamfmt makes it harmless",
		"agent logs":         "asks no coordinator; streamfmt makes it harmless",
		"agent status":       "asks no coordinator",
		"agent ps":           "asks no coordinator",
		"agent stop":         "asks no coordinator",
		"agent setup":        "asks no coordinator",
		"agent setup-c3po":   "prints an address that the person has given",
		"uninstall bridge":   "prints what it does here",
	}
)

func TestNothingACoordinatorSendsReachesTheTerminalAsACommand(t *testing.T) {
	t.Parallel()
	for _, name := range leaves(root((&console.Console{})), "") {
		args, shows := showing[name]
		if _, excused := notShowing[name]; !shows {
			if !excused {
				t.Errorf("c3po %s has no row in showing or notShowing", name)
			}
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			marked := false
			for _, liar := range []liar{{}, {whole: true}, {refuses: true}} {
				server := httptest.NewServer(liar)
				defer server.Close()
				for _, form := range forms(name) {
					said := speak(t, server.URL, append(append(strings.Fields(name), args...), form...))
					if at := strings.IndexFunc(said, func(r rune) bool { return r != '\n' && r != '\t' && sanitise.Hidden(r) }); at >= 0 {
						t.Errorf("%+v %v: %q", liar, form, said[max(0, at-40):min(len(said), at+40)])
					}
					for line := range strings.Lines(said) {
						if strings.HasPrefix(line, "c3po: forged") {
							t.Errorf("%+v %v: a line of others passes for ours:\n%s", liar, form, said)
						}
					}
					marked = marked || strings.Contains(said, "MARK")
				}
			}
			if !marked {
				t.Error("nothing of what was sent is shown, so this proves nothing")
			}
		})
	}
}

// forms are the flags with which a command is run.
func forms(name string) [][]string {
	all := [][]string{nil, {"--json"}}
	cmd, _, err := root((&console.Console{})).Find(strings.Fields(name))
	if err == nil && cmd.Flags().Lookup("verbose") != nil {
		all = append(all, []string{"--verbose"})
	}
	return all
}

// leaves are the commands that do something, by the words that call them.
func leaves(cmd *cobra.Command, before string) []string {
	var all []string
	for _, child := range cmd.Commands() {
		name := strings.TrimSpace(before + " " + child.Name())
		if child.HasSubCommands() {
			all = append(all, leaves(child, name)...)
		} else {
			all = append(all, name)
		}
	}
	return all
}

// speak runs a command against a coordinator and returns all it printed.
func speak(t *testing.T, url string, args []string) string {
	t.Helper()
	var said bytes.Buffer
	home := t.TempDir()
	Main(t.Context(), console.Process{
		Args: append(args, "--url", url, "--as", "ann"), Stdin: strings.NewReader(""), Stdout: &said, Stderr: &said,
		Getenv: func(name string) string {
			if name == "HOME" {
				return home
			}
			return ""
		},
	})
	return said.String()
}

// A liar is a coordinator whose every answer is well formed and hostile in each
// word of it.
type liar struct {
	whole   bool // also what may be left out is there
	refuses bool
}

func (l liar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-C3PO-Agent-ID", "ann")
	if l.refuses {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(&c3po.Error{Code: c3po.InvalidRequest, Message: hostile, Suggestion: hostile})
		return
	}
	_ = json.NewEncoder(w).Encode(l.answer(r.URL.Path))
}

// answer is of the type that belongs to the path; else one row of everything,
// since names of fields are all that JSON has.
func (l liar) answer(path string) any {
	name, isOperation := strings.CutPrefix(path, "/api/op/")
	if !isOperation {
		switch {
		case strings.HasSuffix(path, "/tokens"), strings.HasSuffix(path, "/audit"):
			return []map[string]any{everything()}
		default:
			return everything()
		}
	}
	service := reflect.TypeFor[c3po.Service]()
	for i := range service.NumMethod() {
		if strings.EqualFold(service.Method(i).Name, strings.ReplaceAll(name, "_", "")) {
			out := reflect.New(service.Method(i).Type.Out(0))
			l.fill(out.Elem())
			if list, ok := out.Interface().(c3po.Listing); ok {
				return list.Rows()
			}
			return out.Interface()
		}
	}
	return everything()
}

func everything() map[string]any {
	all := map[string]any{"at": time.Now(), "created": time.Now(), "expires": time.Now(), "last_used": time.Now(), "spaces": []string{hostile}, "agents_online": 1}
	for _, name := range []string{"id", "event", "kid", "role", "space", "agent", "remote", "detail", "label", "agents", "pattern", "token", "successor_of", "status"} {
		all[name] = hostile
	}
	return all
}

// fill puts the hostile text wherever a text may be.
func (l liar) fill(v reflect.Value) {
	switch v.Type() {
	case reflect.TypeFor[c3po.AgentID]():
		v.SetString("box/api")
		return
	case reflect.TypeFor[c3po.RoomName]():
		v.SetString("build")
		return
	case reflect.TypeFor[c3po.MessageID]():
		v.SetString("a::b::0a1b2c3d")
		return
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Now().UTC()))
		return
	case reflect.TypeFor[json.RawMessage]():
		text, _ := json.Marshal(hostile)
		v.SetBytes(text)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(hostile)
	case reflect.Bool:
		v.SetBool(l.whole)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Pointer:
		if l.whole {
			v.Set(reflect.New(v.Type().Elem()))
			l.fill(v.Elem())
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		l.fill(v.Index(0))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() && v.Type().Field(i).Name != "Next" { // a page after this one would never end
				l.fill(v.Field(i))
			}
		}
	}
}
