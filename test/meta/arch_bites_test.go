package meta

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestTheHouseRulesBite gives inspect a tree with one fault each, so that a rule
// that has gone blind is noticed.
func TestTheHouseRulesBite(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		file string
		text string
		want string // part of the one breach; empty: none
	}{
		{"the root imports nobody of ours", "c3po/a.go",
			"package c3po\nimport _ \"" + module + "/internal/hub\"", "c3po/a.go:2: c3po may not import internal/hub"},
		{"the root uses no library", "c3po/a.go",
			"package c3po\nimport _ \"github.com/redis/rueidis\"", "c3po may not use github.com/redis/rueidis"},
		{"the hub does not know its store", "internal/hub/a.go",
			"package hub\nimport _ \"" + module + "/internal/store/redisstore\"", "internal/hub may not import internal/store/redisstore"},
		{"a module whose name only starts like ours is not ours", "internal/hub/a.go",
			"package hub\nimport _ \"" + module + "-extra\"", "has no row in libraries"},
		{"a test may import what its package may not", "internal/transport/rest/a_test.go",
			"package rest_test\nimport _ \"" + module + "/internal/store/redisstore\"", ""},
		{"the model is for tests", "internal/server/a.go",
			"package server\nimport _ \"" + module + "/internal/store/storetest\"", "internal/store/storetest is for tests only"},
		{"a subpackage of a library is that library", "internal/hub/a.go",
			"package hub\nimport _ \"github.com/modelcontextprotocol/go-sdk/mcp\"", "may not use github.com/modelcontextprotocol/go-sdk"},
		{"a library of one package's tests stays there", "internal/hub/a_test.go",
			"package hub\nimport _ \"github.com/getkin/kin-openapi/openapi3\"", "may not use github.com/getkin/kin-openapi"},
		{"a new library needs a row", "internal/hub/a_test.go",
			"package hub\nimport _ \"example.com/mock\"", "example.com/mock has no row in libraries"},

		{"the hub makes no caller", "internal/hub/a.go",
			"package hub\nimport \"" + module + "/c3po\"\nvar me = c3po.Caller{}", "internal/hub/a.go:3: only internal/auth makes a c3po.Caller"},
		{"nor under another name", "internal/hub/a.go",
			"package hub\nimport words \"" + module + "/c3po\"\nvar me = &words.Caller{Role: words.RoleAdmin}", "only internal/auth makes a c3po.Caller"},
		{"nor as part of a list", "internal/hub/a.go",
			"package hub\nimport \"" + module + "/c3po\"\nvar all = []c3po.Caller{{ID: \"api\"}}", "only internal/auth makes a c3po.Caller"},
		{"nor does the root", "c3po/a.go",
			"package c3po\nfunc f() any { return Caller{} }", "only internal/auth makes a c3po.Caller"},
		{"auth does", "internal/auth/a.go",
			"package auth\nimport \"" + module + "/c3po\"\nvar me = c3po.Caller{}", ""},
		{"tests do", "internal/hub/a_test.go",
			"package hub\nimport \"" + module + "/c3po\"\nvar me = c3po.Caller{}", ""},

		{"no surface forgets the dialects", "internal/transport/rest/a.go",
			"package rest\nimport \"" + module + "/c3po\"\nvar all = c3po.NativeOperations()", "ask dialect.Operations"},

		{"a test does not sleep", "c3po/a_test.go",
			"package c3po\nimport \"time\"\nfunc f() { time.Sleep(1) }", "time.Sleep in a test"},
		{"nor under another name", "c3po/a_test.go",
			"package c3po\nimport clock \"time\"\nfunc f() { clock.Sleep(1) }", "time.Sleep in a test"},
		{"nor does what tests stand on", "internal/testkit/redistest/a.go",
			"package redistest\nimport \"time\"\nfunc f() { time.Sleep(1) }", "time.Sleep in a test"},
		{"nor by a timer", "c3po/a_test.go",
			"package c3po\nimport \"time\"\nfunc f() { <-time.After(1) }", "is a sleep"},
		{"nor by a timer alone in a select", "c3po/a_test.go",
			"package c3po\nimport \"time\"\nfunc f() { select { case <-time.After(1): } }", "is a sleep"},
		{"a timer may be a timeout", "c3po/a_test.go",
			"package c3po\nimport \"time\"\nfunc f(c chan int) { select { case <-c: case <-time.After(1): } }", ""},
		{"time that is not real costs none", "c3po/a_test.go",
			"package c3po\nimport (\n_ \"testing/synctest\"\n\"time\"\n)\nfunc f() { <-time.After(1) }", "is a sleep"},
		{"time in a bubble is not real", "c3po/a_test.go",
			"package c3po\nimport (\n\"testing/synctest\"\n\"time\"\n)\nvar _ = synctest.Wait\nfunc f() { <-time.After(1) }", ""},

		{"the hub does not print", "internal/hub/a.go",
			"package hub\nimport \"fmt\"\nfunc f() { fmt.Println() }", "only the command line prints"},
		{"nor by standard output", "internal/hub/a.go",
			"package hub\nimport \"os\"\nvar out = os.Stdout", "only the command line has a standard output"},
		{"the command line does not exit", "internal/cli/a.go",
			"package cli\nimport \"os\"\nfunc f() { os.Exit(1) }", "only main and TestMain may exit"},
		{"TestMain exits", "internal/cli/a_test.go",
			"package cli\nimport \"os\"\nfunc TestMain() { f := func() { os.Exit(1) }; f() }", ""},
		{"other tests do not", "internal/cli/a_test.go",
			"package cli\nimport \"os\"\nfunc TestIt() { os.Exit(1) }", "only main and TestMain may exit"},
		{"a context is not stored", "internal/hub/a.go",
			"package hub\nimport \"context\"\ntype T struct { ctx context.Context }", "a context is passed, never stored"},
		{"but by what lives as long as its test", "internal/store/storetest/a.go",
			"package storetest\nimport \"context\"\ntype T struct { ctx context.Context }", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tree := fstest.MapFS{
				"c3po/doc.go":         {Data: []byte("package c3po\n")},
				"tools/pinned/go.mod": {Data: []byte("module tools\n")},
				c.file:                {Data: []byte(c.text)},
			}
			found, err := inspect(tree)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(found.breaches, "\n")
			switch {
			case c.want == "" && got != "":
				t.Errorf("a clean tree is blamed:\n%s", got)
			case c.want != "" && (len(found.breaches) != 1 || !strings.Contains(got, c.want)):
				t.Errorf("got\n%s\nwant one breach with\n%s", got, c.want)
			}
		})
	}
}
