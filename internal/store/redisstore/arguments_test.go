package redisstore

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

// shared are the files that are put in front of scripts.
var shared = []string{"lib", "rooms", "flow", "keys", "marks", "tickets", "edits", "files"}

// luaFiles gives the files of Lua by their names, and which of them are scripts.
func luaFiles(t *testing.T) (files map[string]string, scripts []string) {
	t.Helper()
	entries, err := sources.ReadDir("lua")
	if err != nil {
		t.Fatal(err)
	}
	files = map[string]string{}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".lua")
		files[name] = read(name)
		if !slices.Contains(shared, name) {
			scripts = append(scripts, name)
		}
	}
	return files, scripts
}

func TestNoScriptReadsByPosition(t *testing.T) {
	t.Parallel()
	files, _ := luaFiles(t)
	positional := regexp.MustCompile(`\b(KEYS|ARGV)\b`)
	for name, text := range files {
		for n, line := range strings.Split(text, "\n") {
			if code, _, _ := strings.Cut(line, "--"); positional.MatchString(code) {
				t.Errorf("%s.lua:%d reads by position: %s", name, n+1, line)
			}
		}
	}
}

func TestAScriptIsCalledByANounAndAVerb(t *testing.T) {
	t.Parallel()
	files, scripts := luaFiles(t)
	for _, name := range scripts {
		if !regexp.MustCompile(`^[a-z]+_[a-z]+$`).MatchString(name) {
			t.Errorf("%s.lua is not called NOUN_VERB", name)
		}
		if !strings.HasPrefix(files[name], "-- "+name+" ") {
			t.Errorf("%s.lua does not begin by saying what %s does", name, name)
		}
	}
}

func TestEveryNameInAHeadIsUsed(t *testing.T) {
	t.Parallel()
	files, scripts := luaFiles(t)
	for _, name := range scripts {
		head := signatureOf(name, files[name])
		text := strings.TrimPrefix(files[name], headOfFile.FindString(files[name]))
		for _, part := range shared {
			text += files[part]
		}
		for _, f := range slices.Concat(head.keys, head.words) {
			// A key with a type is looked at.
			if f.table == "" && f.is == "" && !regexp.MustCompile(`\b`+f.name+`\b`).MatchString(text) {
				t.Errorf("%s.lua declares %s and does not use it", name, f.name)
			}
		}
	}
}

func TestAScriptHasOnlyWhatItUsesOfSharedFiles(t *testing.T) {
	t.Parallel()
	text := newLoader(nil, true).text("message_ack", drains)
	for _, used := range []string{"end_acked", "emit", "whole", "clock"} {
		if !strings.Contains(text, "local function "+used+"(") {
			t.Errorf("message_ack.lua lacks %s", used)
		}
	}
	for _, unused := range []string{"put", "permuted", "lives", "roomed"} {
		if strings.Contains(text, "local function "+unused+"(") {
			t.Errorf("message_ack.lua makes %s at each call, and does not use it", unused)
		}
	}
}

func TestAHeadThatMakesNoSenseIsRefusedAtStart(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(){
		"a name twice":             func() { signatureOf("x", "-- KEYS  meta meta\n") },
		"a key and a word":         func() { signatureOf("x", "-- KEYS  grant\n-- ARGV  grant\n") },
		"a prose of names":         func() { signatureOf("x", "-- KEYS  meta, then the agents\n") },
		"a bracket that is open":   func() { signatureOf("x", "-- KEYS  mail{inbox\n") },
		"a key of no type":         func() { signatureOf("x", "-- KEYS  meta:hsah\n").prelude(nil) },
		"a word of no type":        func() { signatureOf("x", "-- ARGV  bytes:int\n").prelude(nil) },
		"a flag that is not one":   func() { newLoader(nil, true).load("room_set", "fast") },
		"a file that is not there": func() { newLoader(nil, true).load("x", "") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("it is taken")
				}
			}()
			make()
		})
	}
}

func TestAScriptIsGivenWhatItsHeadDeclares(t *testing.T) {
	t.Parallel()
	head := signatureOf("x", "-- KEYS  meta:hash mail{inbox:zset\n--       fact} log notes[mark:hash]\n-- ARGV  now:clock owner urgent:flag notes[seq:number] given[]\n")
	k := keysOf("main")
	standing := func(name string) (string, bool) { return "node@", name == "now" }
	whole := func() with {
		return with{
			"mail": k.of("bob"), "log": "c3po:1:{main}:room:r", "owner": c3po.AgentID("bob"), "urgent": true,
			"notes": []with{{"of": k.of("ana"), "seq": 7}, {"mark": "c3po:1:{main}:mark:carl", "seq": int64(8)}}, "given": []string{"x", "y"},
		}
	}
	keyNames, words, err := head.bind(k, standing, whole())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.ReplaceAll(strings.Join(keyNames, " "), "c3po:1:{main}:", ""), "meta inbox:bob fact:bob room:r mark:ana mark:carl"; got != want {
		t.Errorf("KEYS are %s, want %s", got, want)
	}
	if got, want := strings.Join(words, " "), "node@ bob 1 2 7 8 2 x y"; got != want {
		t.Errorf("ARGV is %s, want %s", got, want)
	}
	for name, spoil := range map[string]func(with){
		"a missing word":          func(w with) { delete(w, "owner") },
		"a missing key":           func(w with) { delete(w, "log") },
		"a missing list":          func(w with) { delete(w, "given") },
		"missing keys of one":     func(w with) { delete(w, "mail") },
		"a misspelled name":       func(w with) { w["ownr"] = w["owner"]; delete(w, "owner") },
		"an unknown name":         func(w with) { w["node"] = "n" },
		"what is no word":         func(w with) { w["owner"] = 1.5 },
		"no word at all":          func(w with) { w["owner"] = nil },
		"a word for a list":       func(w with) { w["given"] = "x" },
		"a row without a word":    func(w with) { delete(w["notes"].([]with)[0], "seq") },
		"a row without a key":     func(w with) { delete(w["notes"].([]with)[1], "mark") },
		"a row that has too much": func(w with) { w["notes"].([]with)[0]["at"] = 1 },
	} {
		spoilt := whole()
		spoil(spoilt)
		if _, _, err := head.bind(k, standing, spoilt); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	given := whole()
	delete(given, "owner")
	delete(given, "log")
	plainKeys, plainWords, err := head.bind(k, standing, given, plain{"owner", "bob"}, plain{"log", whole()["log"].(string)})
	if err != nil || !slices.Equal(plainKeys, keyNames) || !slices.Equal(plainWords, words) {
		t.Errorf("what is plain is given as %v %v (%v), want %v %v", plainKeys, plainWords, err, keyNames, words)
	}
	if _, _, err := head.bind(k, standing, whole(), plain{"ownr", "bob"}); err == nil {
		t.Error("a misspelled name is taken")
	}
}

// Rows of lists aside, what a call gives to a script stands in the code, so that all
// calls can be compared with the heads without a run.
func TestEveryCallOfAScriptGivesWhatItsHeadDeclares(t *testing.T) {
	t.Parallel()
	calls := scriptCalls(t)
	files, _ := luaFiles(t)
	s, fixed := &Store{}, boundsOf(c3po.DefaultLimits())
	seen := map[string]bool{}
	for _, call := range calls {
		name := strings.TrimSuffix(call.script, "_known")
		if files[name] == "" {
			t.Errorf("%s: there is no %s.lua", call.at, name)
			continue
		}
		seen[name] = true
		head := signatureOf(name, files[name]).fix(fixed)
		for _, given := range call.names {
			if !head.names[given] {
				t.Errorf("%s: %s.lua is given %q, which it does not declare", call.at, name, given)
			}
		}
		given := func(name string) bool { return slices.Contains(call.names, name) }
		for _, f := range head.keys {
			if _, known := noSpace.named(f.name); !known && !given(cmp.Or(f.table, f.name)) {
				t.Errorf("%s: %s.lua is not given the key %q", call.at, name, f.name)
			}
		}
		for _, f := range head.words {
			if _, known := s.standing(noSpace)(f.name); !known && !given(f.name) {
				t.Errorf("%s: %s.lua is not given %q", call.at, name, f.name)
			}
		}
		for _, list := range head.lists {
			if !given(list.name) {
				t.Errorf("%s: %s.lua is not given the list %q", call.at, name, list.name)
			}
		}
	}
	for name := range files {
		if !seen[name] && !slices.Contains(shared, name) {
			t.Errorf("no call of %s.lua was found", name)
		}
	}
}

type scriptCall struct {
	at, script string
	names      []string
}

// scriptCalls finds all calls with a script and a with in the code of this package.
func scriptCalls(t *testing.T) []scriptCall {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	var functions []*ast.FuncDecl
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				functions = append(functions, f)
			}
		}
	}
	// Of each function, what it puts into a with that has a name.
	puts := map[string]map[string][]string{}
	for _, f := range functions {
		if puts[f.Name.Name] == nil {
			puts[f.Name.Name] = map[string][]string{}
		}
		maps.Copy(puts[f.Name.Name], namesPut(f))
	}
	// Where each function that runs scripts is told which.
	takes := map[string]int{}
	for _, f := range functions {
		place := 0
		for _, field := range f.Type.Params.List {
			if kind, ok := field.Type.(*ast.Ident); ok && kind.Name == "scriptName" {
				takes[f.Name.Name] = place
			}
			place += max(1, len(field.Names))
		}
	}
	var calls []scriptCall
	for _, f := range functions {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			through, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			place, runs := takes[through.Sel.Name]
			if !runs || place >= len(call.Args) {
				return true
			}
			script := ""
			switch named := call.Args[place].(type) {
			case *ast.BasicLit:
				script = unquoted(named)
			case *ast.Ident:
				if named.Name != "knownRegister" { // its caller names it
					return true
				}
				script = string(knownRegister)
			}
			found := scriptCall{at: set.Position(call.Pos()).String(), script: script}
			args := call.Args
			for name, ok := plainName(args); ok; name, ok = plainName(args) {
				found.names, args = append(found.names, name), args[:len(args)-1]
			}
			switch last := args[len(args)-1].(type) {
			case *ast.CompositeLit:
				found.names = append(found.names, namesIn(last)...)
			case *ast.Ident:
				found.names = puts[f.Name.Name][last.Name]
			case *ast.SelectorExpr:
				for _, all := range puts {
					found.names = append(found.names, all[last.Sel.Name]...)
				}
			}
			if through.Sel.Name != "run" {
				found.names = append(slices.Clone(found.names), puts[through.Sel.Name]["given"]...)
			}
			calls = append(calls, found)
			return true
		})
	}
	return calls
}

// plainName is the name of the last argument if that is a plain.
func plainName(args []ast.Expr) (string, bool) {
	literal, ok := args[len(args)-1].(*ast.CompositeLit)
	if !ok {
		return "", false
	}
	if kind, ok := literal.Type.(*ast.Ident); !ok || kind.Name != "plain" {
		return "", false
	}
	return unquoted(literal.Elts[0].(*ast.BasicLit)), true
}

// namesPut are the names that a function gives a with, by what the with is called.
func namesPut(f *ast.FuncDecl) map[string][]string {
	puts := map[string][]string{}
	called := func(e ast.Expr) string {
		switch e := e.(type) {
		case *ast.Ident:
			return e.Name
		case *ast.SelectorExpr:
			return e.Sel.Name
		}
		return ""
	}
	// for _, name := range []string{"after", …} { given[name] = … }
	ranged := map[string][]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if list, ok := n.X.(*ast.CompositeLit); ok && n.Value != nil {
				for _, e := range list.Elts {
					if text, ok := e.(*ast.BasicLit); ok {
						ranged[called(n.Value)] = append(ranged[called(n.Value)], unquoted(text))
					}
				}
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if at, ok := left.(*ast.IndexExpr); ok {
					if text, ok := at.Index.(*ast.BasicLit); ok {
						puts[called(at.X)] = append(puts[called(at.X)], unquoted(text))
					} else {
						puts[called(at.X)] = append(puts[called(at.X)], ranged[called(at.Index)]...)
					}
				} else if i < len(n.Rhs) {
					if made, ok := n.Rhs[i].(*ast.CompositeLit); ok && called(made.Type) == "with" {
						puts[called(left)] = append(puts[called(left)], namesIn(made)...)
					}
				}
			}
		}
		return true
	})
	return puts
}

func namesIn(made *ast.CompositeLit) []string {
	names := map[string]bool{}
	for _, e := range made.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			if text, ok := pair.Key.(*ast.BasicLit); ok {
				names[unquoted(text)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func unquoted(text *ast.BasicLit) string {
	plain, err := strconv.Unquote(text.Value)
	if err != nil {
		return text.Value
	}
	return plain
}
