package console

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

// sentences are all that the sources of some folders may say: every text of more than one
// word. What describes a tool to a model, in operations.go and in tags, is not among them.
func sentences(t *testing.T, folders ...string) []string {
	t.Helper()
	var all []string
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join("..", "..", "..", folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "storetest") || entry.Name() == "operations.go" || entry.Name() == "about.go" || entry.Name() == "routes.go" {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.Field:
					return false // its tag
				case *ast.FuncDecl:
					return n.Name.Name != "questionOfSpent" // only the person reads it
				case *ast.BasicLit:
					if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && strings.Contains(text, " ") {
						all = append(all, text)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// modelPhrases are what only a model can make something of.
var modelPhrases = []string{"Check parameter values", "Coordination features disabled", "You can continue with other work", "X-Agent-ID", "Call again", "Call it"}

func TestNoToolNameReachesAPerson(t *testing.T) {
	t.Parallel()
	var tools, arguments []string
	for _, o := range dialect.Operations() {
		if strings.Contains(o.Name, "_") { // else an English word as well
			tools = append(tools, o.Name)
		}
		for field := range o.In.Fields() {
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); strings.Contains(name, "_") {
				arguments = append(arguments, name)
			}
		}
	}
	word := regexp.MustCompile(`\b(` + strings.Join(append(tools, arguments...), "|") + `)\b`)
	said := sentences(t, "c3po", "internal/hub", "internal/store", "internal/auth", "internal/node", "internal/client", "internal/transport/rest")
	named := 0
	for _, sentence := range append(said, arguments...) { // an argument is also named alone, and put into a sentence
		if word.MatchString(sentence) {
			named++
		}
		shown := ForPeople(sentence)
		if found := word.FindString(shown); found != "" && !strings.Contains(sentence, "redis.call") {
			t.Errorf("a person reads %q of %q", found, shown)
		}
		for _, phrase := range modelPhrases {
			if strings.Contains(shown, phrase) {
				t.Errorf("a person reads %q, which is for a model: %q", phrase, shown)
			}
		}
	}
	if len(said) < 500 || named < len(arguments)+30 {
		t.Errorf("%d sentences were found, and %d name a tool: the test looks at the wrong ones", len(said), named)
	}
}

// What a coordinator says reaches a model as well, which may have no shell.
func TestNoCommandReachesAModel(t *testing.T) {
	t.Parallel()
	commands := []string{"up", "down", "status", "doctor", "open", "join", "login", "leave", "invite", "install", "uninstall", "upgrade", "backup", "restore", "logs", "config", "top", "run", "agent", "answer", "serve"}
	for _, o := range dialect.Operations() {
		if o.Command != "" {
			commands = append(commands, strings.Fields(o.Command)[0])
		}
	}
	command := regexp.MustCompile(`\bc3po (` + strings.Join(commands, "|") + `)\b`)
	for _, sentence := range sentences(t, "internal/hub", "internal/store", "internal/node") {
		if command.MatchString(sentence) {
			t.Errorf("a model is told to run a command: %q", sentence)
		}
	}
}

func TestAdviceNamesTheCommandsOfTheProgram(t *testing.T) {
	t.Parallel()
	for model, person := range map[string]string{
		"Check agent status with list_agents.":                                             "Check agent status with `c3po agents`.",
		"Call wait_for_message with message_id a::b::0a1b2c3d.":                            "Wait for the answer with: c3po wait --for a::b::0a1b2c3d",
		"wait again with wait_for_message and this message_id. Else ask.":                  "wait again with `c3po wait --for ID`. Else ask.",
		`Read it with room_history(room="build").`:                                         "Read it with `c3po room history build`.",
		"Call register_agent to go on under an id of your own.":                            "Run `c3po register` to go on under an id of your own.",
		"No messages are pending. You can continue with other work.":                       "Nothing is waiting for you. Wait longer with --timeout 10m.",
		"No response received within 60 seconds":                                           "no answer after 60s",
		"The target agent may be offline or busy. Check agent status with list_agents.":    "The question stays open; see it with `c3po tickets`, and wait again with `c3po wait --for ID`.",
		"Use a new client_key for a new message.":                                          "Use a new --key for a new message.",
		"Nothing new came; 3 earlier messages are not acked yet, get_messages shows them.": "Nothing new came; 3 earlier messages are not acked yet, `c3po inbox` shows them.",
	} {
		if got := ForPeople(model); got != person {
			t.Errorf("%q is told a person as %q, want %q", model, got, person)
		}
	}
}

// Whoever has started and joined nothing may find somebody else's coordinator at the
// usual address.
func TestACoordinatorThatNobodyNamedAndThatRefusesIsNotOurs(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	a := &Console{Process: Process{Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }}}
	a.Folders = paths.Folders{Getenv: a.Getenv}
	refused := c3po.Errorf(c3po.Unauthorized, "a token is needed here").Suggest("Run c3po join.")
	if said := a.ForPerson(refused); !strings.Contains(said.Message, "is not yours") || said.Suggestion != "Start your own with: c3po up" {
		t.Errorf("a person is told %q, %q", said.Message, said.Suggestion)
	}
	a.URL = "http://nas:8420"
	if said := a.ForPerson(refused); said.Message != refused.Message {
		t.Errorf("of a coordinator that was named a person is told %q", said.Message)
	}
}

func TestARedisThatFailsOnAFullDiskIsSaidToBeOnOne(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	a := &Console{Process: Process{Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }}}
	a.Folders = paths.Folders{Getenv: a.Getenv}
	state, err := a.Folders.State()
	if err != nil {
		t.Fatal(err)
	}
	note := paths.Coordinator{URL: "http://127.0.0.1:1", PID: os.Getpid(), Started: engine.Started(os.Getpid()), RedisSocket: filepath.Join(state, "redis.sock")}
	if err := note.Write(state); err != nil {
		t.Fatal(err)
	}
	const message, advice = "Redis cannot be reached", "Check the URL."
	for free, want := range map[int64]string{0: "is full", 3 << 20: "has 3 MB left", 1 << 40: ""} {
		said, hint := a.withoutRedis(message, advice, func(string) (int64, bool) { return free, true })
		if !strings.HasSuffix(said, want) || want == "" && said != message || hint == advice {
			t.Errorf("with %d bytes free a person is told %q, %q", free, said, hint)
		}
	}
}
