package c3po_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

// docs/reference/glossary.md has the words; these were given up for them.
var (
	retiredNames = []struct {
		name *regexp.Regexp
		say  string
	}{
		{regexp.MustCompile(`^[mM]ost([A-Z]|_)|[a-z0-9]Most$|[a-z]Most[A-Z]`), "maxX or xTimeout"},
		{regexp.MustCompile(`^[lL]east[A-Z]|[a-z0-9]Least$`), "minX"},
		{regexp.MustCompile(`^(un)?[hH]eard|[a-z]Heard`), "served, knownUpTo, onWake: what is meant"},
		{regexp.MustCompile(`^(house|world|duel|arena|rig)$|^new(House|World|Duel|Arena|Rig)$`), "what the fixture is: testHub"},
	}
	// retiredVerbs said that something was so, and did something.
	retiredVerbs = regexp.MustCompile(`^(failed|stored|told|asked|said|heard|meant|spent|shown|known|handed|missed|silent|examined|verified|prompted|stepped|hooked|worded|carried|parsed|listed|admitted|occupied|departed|rejected|mentioned)$`)
	// retiredPhrases are in no text that a person or a model reads.
	retiredPhrases = regexp.MustCompile(`(?i)\b(that of|of ours|of theirs|[a-z]+ of yours|of (its|their) own|(is|are) (told|said|written down|looked at)|on every way|the begin|low lines?|in the clear|lets nobody in|(goes|go) on by (itself|themselves)|is a person's to do)\b`)
	// usedPhrases are good English all the same.
	usedPhrases = regexp.MustCompile(`(?i)^(one|both|any|some|none|instead) of yours$`)

	dialectName = regexp.MustCompile(`^[bB]ridge|[a-z]Bridge`)
	// dialectFile may speak of the bridge, which is the ticket dialect.
	dialectFile = regexp.MustCompile(`^internal/(transport/|client/bridge|server/bridge_test|cli/(mail/bridge|agentside/(install|mcp)|root\.go|main\.go))|^operations\.go$`)

	words       = regexp.MustCompile(`[A-Za-z_]\w*`)
	scriptNoise = regexp.MustCompile(`--[^\n]*|'[^'\n]*'`)
	pageNoise   = regexp.MustCompile(`//[^\n]*`)
)

func TestRetiredWordsStayOutOfNamesAndTexts(t *testing.T) {
	t.Parallel()
	files, found, err := retiredWords(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if files < 500 {
		t.Fatalf("only %d files were looked at", files)
	}
	for _, word := range found {
		t.Error(word)
	}
}

// retiredWords looks at the names of Go, Lua and TypeScript, and at the texts of the
// program, its dashboard and its pages.
func retiredWords(tree fs.FS) (files int, found []string, err error) {
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != "." && (skipFolder(tree, name) || name == "docs/adr") {
				return fs.SkipDir
			}
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		say := func(line int, format string, args ...any) {
			found = append(found, fmt.Sprintf("%s:%d: %s (docs/reference/glossary.md)", name, line, fmt.Sprintf(format, args...)))
		}
		files++
		switch path.Ext(name) {
		case ".go":
			f, err := parseFile(name, text)
			if err != nil {
				return err
			}
			f.retiredWords(say)
		case ".lua":
			retiredIn(string(text), scriptNoise, say)
		case ".ts", ".tsx":
			retiredIn(string(text), pageNoise, say)
			retiredLines(pageNoise.ReplaceAllString(string(text), ""), say)
		case ".md":
			if name != "CHANGELOG.md" && name != "docs/reference/glossary.md" {
				retiredLines(string(text), say)
			}
		default:
			files--
		}
		return nil
	})
	return files, found, err
}

type lineSayer func(line int, format string, args ...any)

// judgedNames remembers names: each is there a hundred times.
var judgedNames sync.Map

func retiredName(name string) (instead string) {
	if known, ok := judgedNames.Load(name); ok {
		return known.(string)
	}
	for _, r := range retiredNames {
		if r.name.MatchString(name) {
			instead = r.say
		}
	}
	judgedNames.Store(name, instead)
	return instead
}

func (f *sourceFile) retiredWords(say lineSayer) {
	at := func(pos token.Pos) int { return f.fset.Position(pos).Line }
	fields := map[*ast.Ident]bool{} // of others: they chose the name
	ast.Inspect(f.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			fields[n.Sel] = true
		case *ast.FuncDecl:
			if !f.harness && retiredVerbs.MatchString(n.Name.Name) {
				say(at(n.Pos()), "the function %s is called by a participle: say what it does", n.Name.Name)
			}
		case *ast.Ident:
			if instead := retiredName(n.Name); instead != "" && !fields[n] && !strings.HasPrefix(n.Name, "Test") {
				say(at(n.Pos()), "%s: say %s", n.Name, instead)
			}
			if strings.Contains(strings.ToLower(n.Name), "bridge") && !fields[n] && dialectName.MatchString(n.Name) && !dialectFile.MatchString(f.name) {
				say(at(n.Pos()), "%s: the bridge is the ticket dialect; what a coding agent starts is a session", n.Name)
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && !f.harness {
				if phrase := retiredPhrase(strings.Join(strings.Fields(text), " ")); phrase != "" {
					say(at(n.Pos()), "a text says %q", phrase)
				}
			}
		}
		return true
	})
}

func retiredIn(text string, noise *regexp.Regexp, say lineSayer) {
	for i, line := range strings.Split(text, "\n") {
		for _, name := range words.FindAllString(noise.ReplaceAllString(line, ""), -1) {
			// The store has a key called heard since its first version.
			if instead := retiredName(name); instead != "" && name != "heard" {
				say(i+1, "%s: say %s", name, instead)
			}
		}
	}
}

func retiredPhrase(text string) string {
	for _, phrase := range retiredPhrases.FindAllString(text, -1) {
		if !usedPhrases.MatchString(phrase) {
			return phrase
		}
	}
	return ""
}

func retiredLines(text string, say lineSayer) {
	for i, line := range strings.Split(text, "\n") {
		// A row of the table of breaks is what its patch says (torture.md).
		if phrase := retiredPhrase(line); phrase != "" && !visibleTests.MatchString(line) {
			say(i+1, "it says %q", phrase)
		}
	}
}

func TestTheRuleOfRetiredWordsBites(t *testing.T) {
	t.Parallel()
	cases := []struct{ file, text, want string }{
		{"internal/hub/a.go", "package hub\nconst mostChoices = 9", "mostChoices: say maxX"},
		{"internal/hub/a.go", "package hub\nconst answerMost = 9", "answerMost: say maxX"},
		{"internal/hub/a.go", "package hub\nconst leastDeadline = 9", "leastDeadline: say minX"},
		{"internal/hub/a.go", "package hub\ntype HeardNote struct{}", "HeardNote: say"},
		{"internal/hub/a.go", "package hub\nfunc f() { unheard := 1; _ = unheard }", "unheard: say"},
		{"internal/hub/a_test.go", "package hub\ntype house struct{}", "house: say what the fixture is"},
		{"internal/hub/a.go", "package hub\nfunc failed() {}", "failed is called by a participle"},
		{"internal/hub/a_test.go", "package hub\nfunc failed() {}", ""},
		{"internal/hub/a.go", "package hub\nfunc failTurn(most int) { maxChoices := x.Heard; _ = maxChoices }", ""},
		{"internal/cli/a.go", "package cli\nfunc isBridge() {}", "isBridge: the bridge is the ticket dialect"},
		{"internal/transport/rest/bridge.go", "package rest\nfunc bridgeReply() {}", ""},
		{"internal/cli/a.go", "package cli\nvar long = `Prove that mail\narrives on every\nway`", "a text says \"on every way\""},
		{"internal/cli/a_test.go", "package cli\nvar long = `on every way`", ""},
		{"internal/store/redisstore/lua/a_b.lua", "local most_events = 1", "most_events: say maxX"},
		{"internal/store/redisstore/lua/a_b.lua", "-- most_events\nredis.call('ZADD', heard)", ""},
		{"web/src/a.ts", "const mostKept = 5000;", "mostKept: say maxX"},
		{"web/src/a.tsx", "<p>It goes on by itself.</p>", "it says \"goes on by itself\""},
		{"docs/a.md", "A key has low lines.", "it says \"low lines\""},
		{"docs/adr/a.md", "A key has low lines.", ""},
		{"docs/a.md", "The sender is told.", "it says \"is told\""},
		{"docs/a.md", "The clock is that of Redis.", "it says \"that of\""},
		{"docs/a.md", "Wait for the answer to one of yours, or to a message of yours.", "it says \"message of yours\""},
		{"docs/a.md", "Wait for the answer to one of yours.", ""},
		{"docs/a.md", "| `x` | a sender is told | `TestThatItIs` |", ""},
	}
	for _, c := range cases {
		files, found, err := retiredWords(fstest.MapFS{c.file: {Data: []byte(c.text)}})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case c.want == "" && len(found) > 0:
			t.Errorf("%s of %d, %q: %q", c.file, files, c.text, found)
		case c.want != "" && !slices.ContainsFunc(found, func(word string) bool { return strings.Contains(word, c.want) }):
			t.Errorf("%s, %q: %q, want %q", c.file, c.text, found, c.want)
		}
	}
}
