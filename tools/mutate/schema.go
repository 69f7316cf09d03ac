package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A mutant is one small change. It sleeps until the environment variable MUTANT has its id.
type mutant struct {
	id   int
	at   string // "internal/hub/waits.go:12"
	what string
}

// A schema is a package with all of its mutants, as an overlay for the go command.
type schema struct {
	root, folder, work string
	broken             map[string]bool // lines whose mutants do not compile: "waits.go:12"
	mutants            []mutant
	replaced           map[string]string
}

// add returns 0 for a line that does not compile.
func (s *schema) add(file string, line int, what, code string) int {
	if s.broken[fmt.Sprintf("%s:%d", file, line)] {
		return 0
	}
	code, _, _ = strings.Cut(strings.TrimSpace(code), "\n")
	s.mutants = append(s.mutants, mutant{len(s.mutants) + 1, fmt.Sprintf("%s/%s:%d", s.folder, file, line), what + ": " + code})
	return len(s.mutants)
}

// replace puts text in the place of a file.
func (s *schema) replace(file, text string) {
	to := filepath.Join(s.work, filepath.Base(file))
	s.replaced[file] = to
	check(os.WriteFile(to, []byte(text), 0o600))
}

// save returns the file for -overlay.
func (s *schema) save() string {
	to := filepath.Join(s.work, "overlay.json")
	check(os.WriteFile(to, must(json.Marshal(map[string]any{"Replace": s.replaced})), 0o600))
	return to
}

const wakeGo = `package %s

import (
	"fmt"
	"os"
	"sync"
)

var (
	zzMutant = os.Getenv("MUTANT")
	zzHits   = os.Getenv("MUTANT_HITS")
	zzSeen   sync.Map
)

func zzAwake(id string) bool {
	if zzHits != "" {
		if _, seen := zzSeen.LoadOrStore(id, true); !seen {
			f, _ := os.OpenFile(zzHits, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			fmt.Fprintln(f, id)
			f.Close()
		}
	}
	return id == zzMutant
}
`

const wakeLua = `package %s

import (
	"embed"
	"os"
)

type zzFS struct{ embed.FS }

func (f zzFS) ReadFile(name string) ([]byte, error) {
	if change := zzChanges[os.Getenv("MUTANT")]; change[0] == name {
		return []byte(change[1]), nil
	}
	return f.FS.ReadFile(name)
}

var zzChanges = map[string][2]string{
%s}
`

// luaCondition is an if whose condition ends on its line.
var luaCondition = regexp.MustCompile(`^(\s*(?:else)?if )(.+?)( then\b.*)$`)

// mutateLua negates each condition of the scripts that the package above embeds as sources.
func (s *schema) mutateLua(packageName string) {
	var table strings.Builder
	for _, script := range must(filepath.Glob(filepath.Join(s.root, s.folder, "*.lua"))) {
		lines := strings.Split(string(must(os.ReadFile(script))), "\n")
		for i, line := range lines {
			if found := luaCondition.FindStringSubmatch(line); found != nil {
				id := s.add(filepath.Base(script), i+1, "negated condition", line)
				changed := slices.Clone(lines)
				changed[i] = found[1] + "not (" + found[2] + ")" + found[3]
				fmt.Fprintf(&table, "\"%d\": {%q, %q},\n", id, "lua/"+filepath.Base(script), strings.Join(changed, "\n"))
			}
		}
	}
	above, declared := filepath.Dir(filepath.Join(s.root, s.folder)), []byte("var sources embed.FS")
	for _, file := range must(filepath.Glob(filepath.Join(above, "*.go"))) {
		if text := must(os.ReadFile(file)); bytes.Contains(text, declared) {
			s.replace(file, strings.Replace(string(text), string(declared), "var zzSources embed.FS\n\nvar sources = zzFS{zzSources}", 1))
		}
	}
	s.replace(filepath.Join(above, "zz_mutants.go"), fmt.Sprintf(wakeLua, packageName, table.String()))
}

// An edit inserts text. Spans nest: width is positive where one opens, negative where it closes.
type edit struct {
	at, width, id int
	text          string
}

// mutateGo writes a copy of a file in which each mutant sleeps. Lines keep their numbers.
func (s *schema) mutateGo(name string) {
	path := filepath.Join(s.root, s.folder, name)
	text, fileSet := must(os.ReadFile(path)), token.NewFileSet()
	file := must(parser.ParseFile(fileSet, name, text, parser.SkipObjectResolution))
	offset := func(p token.Pos) int { return fileSet.Position(p).Offset }
	source := func(n ast.Node) string { return string(text[offset(n.Pos()):offset(n.End())]) }
	var edits []edit
	wrap := func(n ast.Node, what, before, after string) {
		if id := s.add(name, fileSet.Position(n.Pos()).Line, what, source(n)); id > 0 {
			awake := strings.NewReplacer("AWAKE", fmt.Sprintf("zzAwake(\"%d\")", id))
			from, to := offset(n.Pos()), offset(n.End())
			edits = append(edits, edit{from, to - from, id, awake.Replace(before)}, edit{to, from - to, -id, awake.Replace(after)})
		}
	}
	whole := map[ast.Stmt]bool{} // statements in whose place a block may not stand
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok != token.CONST
		case *ast.IfStmt:
			whole[n.Init] = true
			wrap(n.Cond, "negated condition", "(", ") != AWAKE")
		case *ast.ForStmt:
			whole[n.Init], whole[n.Post] = true, true
		case *ast.SwitchStmt:
			whole[n.Init] = true
		case *ast.TypeSwitchStmt:
			whole[n.Init], whole[n.Assign] = true, true
		case *ast.CommClause:
			whole[n.Comm] = true
		case *ast.ExprStmt:
			if !whole[n] && !strings.HasPrefix(source(n), "panic(") {
				wrap(n, "dropped call", "if !AWAKE { ", " }")
			}
		case *ast.AssignStmt:
			if !whole[n] && n.Tok != token.DEFINE && source(n.Lhs[0]) != "_" {
				wrap(n, "dropped assignment", "if !AWAKE { ", " }")
			}
		case *ast.BinaryExpr:
			same := fmt.Sprintf("AWAKE && %s == %s", source(n.X), source(n.Y))
			switch n.Op {
			case token.LAND:
				wrap(n.X, "dropped operand of &&", "(", " || AWAKE)")
				wrap(n.Y, "dropped operand of &&", "(", " || AWAKE)")
			case token.LOR:
				wrap(n.X, "dropped operand of ||", "((", ") && !AWAKE)")
				wrap(n.Y, "dropped operand of ||", "((", ") && !AWAKE)")
			case token.LSS, token.GTR:
				wrap(n, "moved boundary", "(", " || "+same+")")
			case token.LEQ, token.GEQ:
				wrap(n, "moved boundary", "(", " && !("+same+"))")
			}
		}
		return true
	})
	slices.SortFunc(edits, func(a, b edit) int {
		return cmp.Or(a.at-b.at, cmp.Compare(cmp.Compare(a.width, 0), cmp.Compare(b.width, 0)), b.width-a.width, a.id-b.id)
	})
	var out strings.Builder
	last := 0
	for _, e := range edits {
		out.Write(text[last:e.at])
		out.WriteString(e.text)
		last = e.at
	}
	out.Write(text[last:])
	s.replace(path, out.String())
}
