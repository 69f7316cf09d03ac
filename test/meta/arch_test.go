package meta

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/c3po-dev/c3po"

// mayImport lists the packages of ours that a package may import. Tests may import
// more; nothing but tests imports a package of testsOnly.
var mayImport = map[string][]string{
	"c3po":            {},
	"client":          {"c3po", "internal/client", "internal/client/attempt", "internal/host/engine", "internal/host/paths", "internal/host/reach"},
	"cmd/c3po":        {"internal/cli"},
	"examples/worker": {"c3po", "client"},
	"image":           {},
	"deploy":          {},

	"internal/agent":          {},
	"internal/agent/attend":   {"c3po", "internal/client", "internal/client/attempt", "internal/agent/hook", "internal/agent/resident", "internal/host/group", "internal/host/paths"},
	"internal/agent/session":  {"c3po", "internal/client", "internal/client/attempt", "internal/agent/resident", "internal/text/envelope", "internal/agent/hook", "internal/transport/mcpserver", "internal/host/paths"},
	"internal/agent/hook":     {"c3po", "internal/text/sanitise"},
	"internal/agent/resident": {"c3po", "internal/agent/hook", "internal/client/attempt"},
	"internal/agent/ptyrun":   {"c3po", "internal/client", "internal/client/attempt", "internal/agent/resident", "internal/text/envelope", "internal/agent/hook", "internal/host/paths", "internal/text/sanitise"},

	"internal/auth":         {"internal/client/attempt", "c3po", "internal/auth/passkey"},
	"internal/auth/passkey": {},
	"internal/auth/pki":     {"c3po"},

	"internal/cli":           {"c3po", "internal/cli/agentside", "internal/cli/console", "internal/cli/mail", "internal/cli/operate", "internal/cli/people", "internal/client", "internal/host/paths"},
	"internal/cli/agentside": {"c3po", "internal/agent/attend", "internal/agent/hook", "internal/agent/ptyrun", "internal/agent/session", "internal/auth", "internal/cli/console", "internal/client", "internal/client/attempt", "internal/host/clients", "internal/host/engine", "internal/host/paths", "internal/host/reach", "internal/host/unit", "internal/host/verify", "internal/runner", "internal/runner/acp", "internal/runner/agentfile", "internal/runner/container", "internal/runner/streamfmt", "internal/text/sanitise", "internal/transport/mcpserver", "plugin"},
	"internal/cli/console":   {"c3po", "internal/agent/hook", "internal/agent/session", "internal/auth", "internal/auth/pki", "internal/client", "internal/host/engine", "internal/host/paths", "internal/host/reach", "internal/host/settings", "internal/text/sanitise", "internal/transport/dialect"},
	"internal/cli/mail":      {"c3po", "internal/agent/session", "internal/cli/agentside", "internal/cli/console", "internal/client", "internal/host/engine", "internal/host/paths", "internal/text/sanitise", "internal/transport/dialect"},
	"internal/cli/operate":   {"c3po", "deploy", "internal/auth", "internal/auth/pki", "internal/cli/agentside", "internal/cli/console", "internal/cli/mail", "internal/cli/people", "internal/client", "internal/host/clients", "internal/host/doctor", "internal/host/engine", "internal/host/paths", "internal/host/reach", "internal/host/release", "internal/host/settings", "internal/host/unit", "internal/ops/backup", "internal/ops/demo", "internal/ops/move", "internal/ops/telemetry", "internal/person/notify", "internal/server", "internal/text/sanitise", "internal/transport/webhook", "plugin", "internal/runner/container"},
	"internal/cli/people":    {"c3po", "internal/auth", "internal/auth/pki", "internal/cli/agentside", "internal/cli/console", "internal/cli/mail", "internal/client", "internal/host/paths", "internal/host/reach", "internal/person/top"},

	"internal/client":         {"c3po", "internal/client/attempt", "internal/transport/dialect"},
	"internal/client/attempt": {},

	"internal/host":            {},
	"internal/host/clients":    {"c3po", "internal/host/configedit", "internal/host/paths"},
	"internal/host/configedit": {"c3po"},
	"internal/host/doctor":     {"c3po"},
	"internal/host/group":      {},
	"internal/host/engine":     {"c3po", "internal/host/paths", "internal/host/resp"},
	"internal/host/liveness":   {"c3po"},
	"internal/host/paths":      {"c3po"},
	"internal/host/release":    {"c3po"},
	"internal/host/reach":      {"c3po", "internal/auth", "internal/auth/pki", "internal/client", "internal/host/engine", "internal/host/paths"},
	"internal/host/resp":       {},
	"internal/host/settings":   {"c3po"},
	"internal/host/unit":       {},
	"internal/host/verify":     {"c3po"},

	"internal/hub": {"c3po", "internal/client/attempt", "internal/node", "internal/store", "internal/text/sanitise", "internal/text/toolinput"},

	"internal/node": {"c3po", "internal/client/attempt", "internal/store"},

	"internal/ops":           {},
	"internal/ops/backup":    {"c3po", "internal/host/engine", "internal/hub", "internal/store", "internal/store/redisstore"},
	"internal/ops/demo":      {},
	"internal/ops/metrics":   {"c3po", "internal/hub"}, // hub for what it meters and its vitals
	"internal/ops/move":      {"c3po", "internal/ops/backup", "internal/hub", "internal/store", "internal/store/redisstore"},
	"internal/ops/telemetry": {"c3po", "internal/client/attempt", "internal/hub"}, // hub for the lives it exports

	"internal/person":           {},
	"internal/person/dashboard": {},
	"internal/person/notify":    {"c3po", "internal/text/sanitise"},
	"internal/person/top":       {"c3po", "internal/client/attempt", "internal/text/sanitise"},

	"internal/runner":           {"c3po", "image", "internal/agent/resident", "internal/runner/acp", "internal/runner/agentfile", "internal/client", "internal/client/attempt", "internal/runner/container", "internal/runner/memory", "internal/host/group", "internal/host/paths", "internal/runner/streamfmt", "plugin"},
	"internal/runner/acp":       {"c3po", "internal/host/group", "internal/text/sanitise"},
	"internal/runner/agentfile": {"c3po"},
	"internal/runner/container": {"c3po"},
	"internal/runner/memory":    {"c3po", "internal/text/envelope", "internal/host/paths"},
	"internal/runner/streamfmt": {"internal/text/sanitise"},

	"internal/server": {"c3po", "internal/auth", "internal/person/dashboard", "internal/hub", "internal/store", "internal/host/liveness", "internal/transport/mcpserver", "internal/ops/metrics", "internal/ops/telemetry", "internal/person/notify", "internal/host/paths", "internal/auth/passkey", "internal/auth/pki", "internal/store/redisstore", "internal/transport/a2a", "internal/transport/rest", "web"},

	"internal/store":            {"c3po"},
	"internal/store/redisstore": {"c3po", "internal/client/attempt", "internal/auth", "internal/store"}, // auth for the types of its steps
	"internal/store/storetest":  {"c3po", "internal/hub", "internal/store", "internal/testkit/seed"},    // hub for its reaper, in a year of a space

	"internal/testkit":               {},
	"internal/testkit/authenticator": {},
	"internal/testkit/clientrig":     {"c3po", "internal/client", "internal/testkit/faultrig", "internal/testkit/llm", "internal/testkit/redistest"},
	"internal/testkit/faultrig":      {"c3po", "internal/testkit/redistest"},
	"internal/testkit/llm":           {},
	"internal/testkit/redistest":     {"internal/host/resp"},
	"internal/testkit/screencast":    {},
	"internal/testkit/seed":          {},
	"internal/testkit/workerrig":     {"c3po", "client", "internal/testkit/faultrig", "internal/testkit/seed"},

	"internal/text":           {},
	"internal/text/envelope":  {"c3po", "internal/text/sanitise"},
	"internal/text/sanitise":  {},
	"internal/text/toolinput": {"internal/text/sanitise"},

	"internal/transport":           {},
	"internal/transport/a2a":       {"c3po", "internal/auth", "internal/hub", "internal/transport/dialect"},
	"internal/transport/dialect":   {"c3po"},
	"internal/transport/mcpserver": {"c3po", "internal/text/envelope", "internal/transport/dialect"},
	"internal/transport/webhook":   {"c3po", "internal/client/attempt", "internal/host/paths"},
	"internal/transport/rest":      {"c3po", "deploy", "internal/auth", "internal/hub", "internal/text/sanitise", "internal/transport/dialect"},

	"plugin": {},

	"test/a2a":           {},
	"test/otel":          {},
	"test/claude":        {},
	"test/clients":       {},
	"test/conformance":   {},
	"test/documents/api": {},
	"test/join":          {},
	"test/meta":          {},
	"test/quickstart":    {},
	"test/recipe":        {},
	"test/runner":        {},
	"test/scale":         {},
	"test/typescript":    {},

	"tools/bench":     {"c3po", "internal/auth", "internal/host/engine", "internal/store", "internal/store/redisstore"},
	"tools/mutate":    {},
	"tools/packages":  {},
	"tools/reference": {"c3po", "internal/cli", "internal/transport/dialect", "internal/transport/mcpserver"},
	"tools/sbom":      {},

	"web": {},

	// Programs of the build and the tests.
	"tools/bench/cmd":                  {"tools/bench"},
	"internal/testkit/faultrig/matrix": {"internal/testkit/faultrig"},
	"internal/testkit/faultrig/table":  {"internal/testkit/faultrig", "internal/testkit/faultrig/matrix"},
	"tools/reference/cmd":              {"tools/reference"},
	"internal/client/methods":          {},
	"tools/packages/cmd":               {"tools/packages"},
	"tools/sbom/cmd":                   {"tools/sbom"},
}

var testsOnly = []string{"internal/testkit/authenticator", "internal/testkit/clientrig", "internal/testkit/faultrig", "internal/testkit/faultrig/matrix", "internal/testkit/faultrig/table", "internal/testkit/llm", "internal/testkit/redistest", "internal/testkit/screencast", "internal/testkit/seed", "internal/testkit/workerrig", "internal/store/storetest", "test/conformance", "test/join"}

// A library is a module of others. One library, one package: what wraps it can
// be replaced, and what it can do wrong stays in one place.
type library struct {
	prefix    string
	in        []string // packages that may use it, tests included
	testFiles bool     // any _test.go file may use it
}

var libraries = []library{
	{prefix: "github.com/redis/rueidis", in: []string{"internal/store/redisstore"}},
	{prefix: "github.com/modelcontextprotocol/go-sdk", in: []string{"internal/transport/mcpserver", "internal/agent/session", "internal/testkit/faultrig", "tools/reference"}},
	{prefix: "github.com/google/jsonschema-go", in: []string{"internal/transport/mcpserver", "internal/runner/agentfile", "tools/reference"}}, // agentfile's tests try the schema of agents.yaml with it
	{prefix: "github.com/coder/acp-go-sdk", in: []string{"internal/runner/acp"}},                                                              // the protocol's own schema as types, and its framing; needs nothing else
	{prefix: "github.com/spf13/cobra", in: []string{"internal/cli", "internal/cli/agentside", "internal/cli/console", "internal/cli/mail", "internal/cli/operate", "internal/cli/people"}},
	{prefix: "github.com/spf13/pflag", in: []string{"internal/cli", "internal/cli/agentside", "internal/cli/console", "internal/cli/mail", "internal/cli/operate", "internal/cli/people"}},
	{prefix: "github.com/goccy/go-yaml", in: []string{"internal/host/settings", "internal/runner/agentfile"}, testFiles: true}, // knows the line of every key, and needs nothing else
	{prefix: "github.com/prometheus", in: []string{"internal/ops/metrics"}},
	{prefix: "go.opentelemetry.io/proto/otlp", in: []string{"internal/ops/telemetry", "internal/ops/metrics"}}, // the messages of OTLP; the SDK would bring grpc-go for one call
	{prefix: "google.golang.org/protobuf", in: []string{"internal/ops/telemetry"}},                             // writes them; client_golang needs it anyway
	{prefix: "golang.org/x/sync", in: []string{"internal/server", "internal/store/redisstore"}},
	{prefix: "golang.org/x/time", in: []string{"internal/auth"}},
	{prefix: "golang.org/x/sys", in: []string{"internal/auth", "internal/host/engine", "internal/host/paths", "internal/agent/ptyrun", "internal/testkit/faultrig"}},
	{prefix: "golang.org/x/term", in: []string{"internal/agent/ptyrun", "internal/person/top", "internal/cli/console", "internal/cli/people"}}, // console asks whether there is one; people asks for an invitation without showing it
	{prefix: "github.com/creack/pty", in: []string{"internal/agent/ptyrun", "internal/server", "internal/cli/console", "internal/cli/people"}}, // the tests of server and cli type into a terminal
	{prefix: "github.com/charmbracelet/x", in: []string{"internal/agent/ptyrun", "internal/person/top"}},                                       // a maintained terminal emulator, its parser, and how wide a text is
	{prefix: "charm.land/bubbletea/v2", in: []string{"internal/person/top"}},                                                                   // draws only what changed, which ssh needs, and knows keys, resizing and pasting
	{prefix: "charm.land/lipgloss/v2", in: []string{"internal/person/top"}},                                                                    // its colours
	{prefix: "github.com/go-webauthn/webauthn", in: []string{"internal/auth/passkey"}},                                                         // reads and checks what authenticators sign
	{prefix: "github.com/anishathalye/porcupine", in: []string{"internal/testkit/faultrig"}},                                                   // says whether a history of concurrent calls is linearizable
	{prefix: "pgregory.net/rapid", in: []string{"internal/ops/move", "internal/testkit/seed", "internal/testkit/workerrig", "internal/store/storetest", "internal/agent/ptyrun", "internal/host/configedit"}},
	{prefix: "github.com/pelletier/go-toml/v2", in: []string{"internal/host/configedit"}}, // says whether a file is TOML before and after we touch it
	{prefix: "github.com/tailscale/hujson", in: []string{"internal/host/configedit"}},     // reads JSON with comments, and says where each value stands
	{prefix: "github.com/google/go-cmp", in: []string{"internal/store/storetest"}, testFiles: true},
	{prefix: "go.uber.org/goleak", testFiles: true},
	{prefix: "github.com/rogpeppe/go-internal", in: []string{"internal/host/clients"}, testFiles: true}, // clients shows a diff with it
	{prefix: "github.com/getkin/kin-openapi", in: []string{"tools/reference"}, testFiles: true},         // reads openapi.yaml; no part of the program
}

// testLibraryOf narrows a library that tests use to the tests of one package.
var testLibraryOf = map[string]string{
	"github.com/getkin/kin-openapi": "internal/transport/rest",
	"github.com/goccy/go-yaml":      "test/meta", // what is released, and the workflows
}

// Names that say nothing collect everything.
var emptyNames = []string{"util", "utils", "common", "helper", "helpers", "types", "models", "base", "core", "misc", "shared"}

const (
	linesAim = 400
	maxLines = 600
)

func TestTheTreeKeepsTheHouseRules(t *testing.T) {
	t.Parallel()
	found, err := inspect(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if found.files == 0 {
		t.Fatal("no Go file was looked at")
	}
	for _, long := range found.long {
		t.Logf("over %d lines: %s", linesAim, long)
	}
	for _, breach := range found.breaches {
		t.Error(breach)
	}
}

// A newcomer reads the folders of internal before anything else: few, and each with a
// word about what it holds.
func TestEveryFloorSaysWhatItHolds(t *testing.T) {
	t.Parallel()
	const most = 15
	floors, err := os.ReadDir("internal")
	if err != nil {
		t.Fatal(err)
	}
	if len(floors) > most {
		t.Errorf("internal has %d folders, at most %d are allowed: put the new one on a floor", len(floors), most)
	}
	for _, floor := range floors {
		var comment string
		files, err := filepath.Glob(filepath.Join("internal", floor.Name(), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.PackageClauseOnly)
			if err != nil {
				t.Fatal(err)
			}
			comment += parsed.Doc.Text()
		}
		if !strings.HasPrefix(comment, "Package "+floor.Name()+" ") {
			t.Errorf("internal/%s does not open with a comment on what it holds: %.40q", floor.Name(), comment)
		}
	}
}

// findings is what inspect has to say about a tree.
type findings struct {
	files    int
	long     []string
	breaches []string
}

func inspect(tree fs.FS) (findings, error) {
	var found findings
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != "." && skipFolder(tree, name) {
				return fs.SkipDir
			}
			return nil
		}
		if ext := path.Ext(name); ext != ".go" && ext != ".lua" {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		found.files++
		if n := strings.Count(string(text), "\n"); n > maxLines {
			found.breaches = append(found.breaches, fmt.Sprintf("%s: %d lines, at most %d are allowed: split it by noun", name, n, maxLines))
		} else if n > linesAim {
			found.long = append(found.long, fmt.Sprintf("%s (%d)", name, n))
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		f, err := parseFile(name, text)
		if err != nil {
			return err
		}
		found.breaches = append(found.breaches, f.breaches()...)
		return nil
	})
	return found, err
}

// skipFolder leaves out what is not ours to judge: hidden folders, outputs, test
// data, and modules of their own.
func skipFolder(tree fs.FS, name string) bool {
	base := path.Base(name)
	if strings.HasPrefix(base, ".") || slices.Contains([]string{"testdata", "bin", "dist", "node_modules"}, base) {
		return true
	}
	_, err := fs.Stat(tree, path.Join(name, "go.mod"))
	return err == nil
}

// A sourceFile is one Go file and what the rules ask about it.
type sourceFile struct {
	name    string
	folder  string // of its package
	test    bool   // is a _test.go file
	harness bool   // is that, or belongs to a package only tests use
	fset    *token.FileSet
	tree    *ast.File
	imports map[string]string // local name → path

	timeouts map[*ast.UnaryExpr]bool // timers beside something that is waited for
}

func parseFile(name string, text []byte) (*sourceFile, error) {
	f := &sourceFile{name: name, folder: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), fset: token.NewFileSet()}
	f.harness = f.test || slices.Contains(testsOnly, f.folder)
	tree, err := parser.ParseFile(f.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f.tree, f.imports, f.timeouts = tree, map[string]string{}, map[*ast.UnaryExpr]bool{}
	for _, spec := range tree.Imports {
		where, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		local := path.Base(where)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		f.imports[local] = where
	}
	return f, nil
}

func (f *sourceFile) breaches() []string {
	var all []string
	say := func(at token.Pos, format string, args ...any) {
		all = append(all, fmt.Sprintf("%s:%d: %s", f.name, f.fset.Position(at).Line, fmt.Sprintf(format, args...)))
	}
	f.checkName(say)
	for _, spec := range f.tree.Imports {
		where, _ := strconv.Unquote(spec.Path.Value) // parseFile has unquoted it once
		f.checkImport(spec.Pos(), where, say)
	}
	f.checkCode(say)
	return all
}

type sayer func(at token.Pos, format string, args ...any)

func (f *sourceFile) checkName(say sayer) {
	for _, name := range []string{strings.TrimSuffix(f.tree.Name.Name, "_test"), path.Base(f.folder)} {
		if slices.Contains(emptyNames, name) {
			say(f.tree.Package, "a package called %s says nothing: name it for what it holds", name)
			return
		}
	}
	if _, known := mayImport[f.folder]; !known {
		say(f.tree.Package, "package %s has no row in mayImport", f.folder)
	}
}

func (f *sourceFile) checkImport(at token.Pos, where string, say sayer) {
	switch inside, ours := strings.CutPrefix(where+"/", module+"/"); {
	case ours:
		f.checkOurs(at, strings.TrimSuffix(inside, "/"), say)
	case strings.Contains(strings.Split(where, "/")[0], "."):
		f.checkLibrary(at, where, say)
	}
}

func (f *sourceFile) checkOurs(at token.Pos, inside string, say sayer) {
	if slices.Contains(testsOnly, inside) && !f.harness {
		say(at, "%s is for tests only", inside)
		return
	}
	if !f.test && !slices.Contains(mayImport[f.folder], inside) {
		say(at, "%s may not import %s", f.folder, inside)
	}
}

func (f *sourceFile) checkLibrary(at token.Pos, where string, say sayer) {
	for _, lib := range libraries {
		if where != lib.prefix && !strings.HasPrefix(where, lib.prefix+"/") {
			continue
		}
		owner, narrowed := testLibraryOf[lib.prefix]
		inTests := lib.testFiles && f.test && (!narrowed || owner == f.folder)
		if !inTests && !slices.Contains(lib.in, f.folder) {
			say(at, "%s may not use %s", f.folder, lib.prefix)
		}
		return
	}
	say(at, "%s has no row in libraries: a new dependency needs a reason", where)
}

// checkCode looks at what the file does, declaration by declaration.
func (f *sourceFile) checkCode(say sayer) {
	for _, group := range f.tree.Comments {
		if f.test && group.Pos() < f.tree.Package && strings.HasPrefix(group.List[0].Text, "//go:build") {
			say(group.Pos(), "a test behind a build tag is a test that does not run")
		}
	}
	for _, declaration := range f.tree.Decls {
		function := ""
		if fn, ok := declaration.(*ast.FuncDecl); ok && fn.Recv == nil {
			function = fn.Name.Name
			if function == "init" {
				say(fn.Pos(), "init runs unasked: let the caller build what it needs")
			}
		}
		ast.Inspect(declaration, func(n ast.Node) bool {
			f.checkNode(n, function, say)
			return true
		})
	}
}

func (f *sourceFile) checkNode(n ast.Node, function string, say sayer) {
	switch n := n.(type) {
	case *ast.CompositeLit:
		if f.isCaller(n.Type) && f.folder != "internal/auth" && !f.test {
			say(n.Pos(), "only internal/auth makes a c3po.Caller")
		}
	case *ast.StructType:
		for _, field := range n.Fields.List {
			if s, ok := field.Type.(*ast.SelectorExpr); ok && f.refersTo(s, "context", "Context") && !f.harness {
				say(field.Pos(), "a context is passed, never stored")
			}
		}
	case *ast.CallExpr:
		if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "print" || id.Name == "println") && !f.speaks() {
			say(n.Pos(), "the builtin %s is for debugging", id.Name)
		}
	case *ast.SelectorExpr:
		f.checkSelector(n, function, say)
	case *ast.SelectStmt:
		f.noteTimeouts(n)
	case *ast.UnaryExpr:
		if f.isTimer(n) && f.harness && !f.timeouts[n] && f.imports["synctest"] != "testing/synctest" {
			say(n.Pos(), "<-time.After in a test is a sleep: wait for what you wait for, or faultrig.Pass if it is time itself")
		}
	}
}

// noteTimeouts remembers the timers of a select that waits for something else too.
func (f *sourceFile) noteTimeouts(n *ast.SelectStmt) {
	var timers []*ast.UnaryExpr
	waits := 0
	for _, clause := range n.Body.List {
		comm := clause.(*ast.CommClause).Comm
		if comm == nil {
			continue
		}
		if expr, ok := comm.(*ast.ExprStmt); ok {
			if timer, ok := expr.X.(*ast.UnaryExpr); ok && f.isTimer(timer) {
				timers = append(timers, timer)
				continue
			}
		}
		waits++
	}
	for _, timer := range timers {
		if waits > 0 {
			f.timeouts[timer] = true
		}
	}
}

// isTimer says that n is <-time.After(…).
func (f *sourceFile) isTimer(n *ast.UnaryExpr) bool {
	call, ok := n.X.(*ast.CallExpr)
	if n.Op != token.ARROW || !ok {
		return false
	}
	after, ok := call.Fun.(*ast.SelectorExpr)
	return ok && f.refersTo(after, "time", "After")
}

func (f *sourceFile) checkSelector(n *ast.SelectorExpr, function string, say sayer) {
	switch {
	case f.refersTo(n, module+"/c3po", "NativeOperations") && f.folder != "internal/transport/dialect":
		say(n.Pos(), "the dialects are missing from c3po.NativeOperations: ask dialect.Operations")
	case f.refersTo(n, "time", "Sleep") && f.harness:
		say(n.Pos(), "time.Sleep in a test: wait for what you wait for")
	case (f.refersTo(n, "pgregory.net/rapid", "Check") || f.refersTo(n, "pgregory.net/rapid", "MakeCheck")) && f.folder != "internal/testkit/seed":
		say(n.Pos(), "rapid.%s draws something else in every run: seed.Check does not", n.Sel.Name)
	case (f.refersTo(n, "fmt", "Print") || f.refersTo(n, "fmt", "Printf") || f.refersTo(n, "fmt", "Println")) && !f.speaks():
		say(n.Pos(), "only the command line prints")
	case f.refersTo(n, "os", "Stdout") && !f.speaks():
		say(n.Pos(), "only the command line has a standard output")
	case f.refersTo(n, "log", "Fatal") || f.refersTo(n, "log", "Fatalf") || f.refersTo(n, "log", "Fatalln"):
		say(n.Pos(), "log.%s ends the program without its cleanup: return the error", n.Sel.Name)
	case f.refersTo(n, "os", "Exit") && !f.program() && (!f.test || function != "TestMain"):
		say(n.Pos(), "only main and TestMain may exit")
	}
}

// speaks says whether the file may write to a terminal.
func (f *sourceFile) speaks() bool {
	return f.test || f.folder == "internal/cli" || strings.HasPrefix(f.folder, "internal/cli/") || f.program()
}

// program says whether the file belongs to a program: ours in cmd, or one that
// only the build and the tests run.
func (f *sourceFile) program() bool { return f.tree.Name.Name == "main" }

// refersTo says whether n is name of the package at where, under whatever local
// name the file imports it.
func (f *sourceFile) refersTo(n *ast.SelectorExpr, where, name string) bool {
	local, ok := n.X.(*ast.Ident)
	return ok && n.Sel.Name == name && f.imports[local.Name] == where
}

func (f *sourceFile) isCaller(of ast.Expr) bool {
	switch of := of.(type) {
	case *ast.SelectorExpr:
		return f.refersTo(of, module+"/c3po", "Caller")
	case *ast.Ident:
		return of.Name == "Caller" && f.folder == "c3po"
	case *ast.ArrayType:
		return f.isCaller(of.Elt)
	case *ast.MapType:
		return f.isCaller(of.Value)
	default:
		return false
	}
}
