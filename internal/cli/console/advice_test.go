package console

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

// advice are the sentences that a coordinator gives with what it refuses or answers:
// what is handed to Suggest, or put into a Suggestion, a Notice or a Message.
func advice(t *testing.T, folders ...string) []string {
	t.Helper()
	var sentences []string
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join("..", "..", "..", folder), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() && folder == "." && path != filepath.Join("..", "..", "..") {
				return fs.SkipDir
			}
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "storetest") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if called, ok := n.Fun.(*ast.SelectorExpr); ok && (called.Sel.Name == "Suggest" || called.Sel.Name == "Errorf") {
						sentences = append(sentences, literals(n)...)
					}
				case *ast.KeyValueExpr:
					if key, ok := n.Key.(*ast.Ident); ok && slices.Contains([]string{"Suggestion", "Notice", "Message"}, key.Name) {
						sentences = append(sentences, literals(n.Value)...)
					}
				case *ast.AssignStmt:
					if to, ok := n.Lhs[0].(*ast.SelectorExpr); ok && slices.Contains([]string{"Suggestion", "Notice", "Message"}, to.Sel.Name) {
						sentences = append(sentences, literals(n)...)
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
	return sentences
}

func literals(in ast.Node) (texts []string) {
	ast.Inspect(in, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				texts = append(texts, text)
			}
		}
		return true
	})
	return texts
}

func TestNoToolNameReachesAPerson(t *testing.T) {
	t.Parallel()
	sentences := advice(t, ".", "internal/hub", "internal/store", "internal/auth", "internal/node", "internal/client")
	if len(sentences) < 200 {
		t.Fatalf("only %d sentences were found", len(sentences))
	}
	named := 0
	for _, sentence := range sentences {
		for _, o := range dialect.Operations() {
			name := o.Name
			if !strings.Contains(name, "_") {
				continue // an English word as well
			}
			word := regexp.MustCompile(`\b` + name + `\b`)
			if word.MatchString(sentence) {
				named++
			}
			if shown := ForPeople(sentence); word.MatchString(shown) {
				t.Errorf("a person reads %q of %q", name, shown)
			}
		}
	}
	if named < 15 {
		t.Errorf("only %d of the sentences name a tool: the test looks at the wrong ones", named)
	}
}

// What a coordinator says reaches a model as well, which may have no shell.
func TestNoCommandReachesAModel(t *testing.T) {
	t.Parallel()
	command := regexp.MustCompile("`?c3po (up|down|status|agents|inbox|send|reply|wait|doctor|open|human|join|token|resume)\\b")
	for _, sentence := range advice(t, "internal/hub", "internal/store", "internal/node") {
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
