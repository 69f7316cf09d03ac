package c3po_test

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
		{"the root imports nobody of ours", "a.go",
			"package c3po\nimport _ \"" + module + "/internal/hub\"", "a.go:2: . may not import internal/hub"},
		{"the root uses no library", "a.go",
			"package c3po\nimport _ \"github.com/redis/rueidis\"", ". may not use github.com/redis/rueidis"},
		{"the standard library is free", "a.go",
			"package c3po\nimport _ \"net/http\"", ""},
		{"the hub does not know its store", "internal/hub/a.go",
			"package hub\nimport _ \"" + module + "/internal/store/redisstore\"", "internal/hub may not import internal/store/redisstore"},
		{"the hub knows the root", "internal/hub/a.go",
			"package hub\nimport _ \"" + module + "\"", ""},
		{"a module whose name only starts like ours is not ours", "internal/hub/a.go",
			"package hub\nimport _ \"" + module + "-extra\"", "has no row in libraries"},
		{"REST does not know MCP", "internal/transport/rest/a.go",
			"package rest\nimport _ \"" + module + "/internal/transport/mcpserver\"", "may not import internal/transport/mcpserver"},
		{"a test may import what its package may not", "internal/transport/rest/a_test.go",
			"package rest_test\nimport _ \"" + module + "/internal/store/redisstore\"", ""},
		{"the model is for tests", "internal/server/a.go",
			"package server\nimport _ \"" + module + "/internal/store/storetest\"", "internal/store/storetest is for tests only"},
		{"tests use the model", "internal/hub/a_test.go",
			"package hub_test\nimport _ \"" + module + "/internal/store/storetest\"", ""},
		{"a subpackage of a library is that library", "internal/hub/a.go",
			"package hub\nimport _ \"github.com/modelcontextprotocol/go-sdk/mcp\"", "may not use github.com/modelcontextprotocol/go-sdk"},
		{"one library, one package", "internal/cli/a.go",
			"package cli\nimport _ \"github.com/spf13/cobra\"", ""},
		{"a library of tests stays out of the program", "internal/transport/rest/a.go",
			"package rest\nimport _ \"github.com/getkin/kin-openapi/openapi3\"", "may not use github.com/getkin/kin-openapi"},
		{"a library of one package's tests stays there", "internal/hub/a_test.go",
			"package hub\nimport _ \"github.com/getkin/kin-openapi/openapi3\"", "may not use github.com/getkin/kin-openapi"},
		{"and is free there", "internal/transport/rest/a_test.go",
			"package rest\nimport _ \"github.com/getkin/kin-openapi/openapi3\"", ""},
		{"a new library needs a row", "internal/hub/a_test.go",
			"package hub\nimport _ \"example.com/mock\"", "example.com/mock has no row in libraries"},
		{"a new package needs a row", "internal/news/a.go",
			"package news", "package internal/news has no row in mayImport"},
		{"a package is not called util", "internal/util/a.go",
			"package util", "a package called util says nothing"},
		{"whatever its folder is called", "internal/hub/a.go",
			"package helpers", "a package called helpers says nothing"},

		{"600 lines are enough", "a.go",
			"package c3po\n" + strings.Repeat("\n", 600), "a.go: 601 lines"},
		{"600 lines are allowed", "a.go",
			"package c3po\n" + strings.Repeat("\n", 599), ""},
		{"scripts are no exception", "internal/store/redisstore/lua/message_send.lua",
			strings.Repeat("\n", 601), "message_send.lua: 601 lines"},

		{"the hub makes no caller", "internal/hub/a.go",
			"package hub\nimport \"" + module + "\"\nvar me = c3po.Caller{}", "internal/hub/a.go:3: only internal/auth makes a c3po.Caller"},
		{"nor under another name", "internal/hub/a.go",
			"package hub\nimport words \"" + module + "\"\nvar me = &words.Caller{Role: words.RoleAdmin}", "only internal/auth makes a c3po.Caller"},
		{"nor as part of a list", "internal/hub/a.go",
			"package hub\nimport \"" + module + "\"\nvar all = []c3po.Caller{{ID: \"api\"}}", "only internal/auth makes a c3po.Caller"},
		{"nor does the root", "a.go",
			"package c3po\nfunc f() any { return Caller{} }", "only internal/auth makes a c3po.Caller"},
		{"auth does", "internal/auth/a.go",
			"package auth\nimport \"" + module + "\"\nvar me = c3po.Caller{}", ""},
		{"tests do", "internal/hub/a_test.go",
			"package hub\nimport \"" + module + "\"\nvar me = c3po.Caller{}", ""},

		{"no surface forgets the dialects", "internal/transport/rest/a.go",
			"package rest\nimport \"" + module + "\"\nvar all = c3po.NativeOperations()", "ask dialect.Operations"},

		{"a test does not sleep", "a_test.go",
			"package c3po\nimport \"time\"\nfunc f() { time.Sleep(1) }", "time.Sleep in a test"},
		{"nor under another name", "a_test.go",
			"package c3po\nimport clock \"time\"\nfunc f() { clock.Sleep(1) }", "time.Sleep in a test"},
		{"nor does what tests stand on", "internal/testkit/redistest/a.go",
			"package redistest\nimport \"time\"\nfunc f() { time.Sleep(1) }", "time.Sleep in a test"},
		{"nor by a timer", "a_test.go",
			"package c3po\nimport \"time\"\nfunc f() { <-time.After(1) }", "is a sleep"},
		{"nor by a timer alone in a select", "a_test.go",
			"package c3po\nimport \"time\"\nfunc f() { select { case <-time.After(1): } }", "is a sleep"},
		{"a timer may be a timeout", "a_test.go",
			"package c3po\nimport \"time\"\nfunc f(c chan int) { select { case <-c: case <-time.After(1): } }", ""},
		{"time that is not real costs none", "a_test.go",
			"package c3po\nimport (\n_ \"testing/synctest\"\n\"time\"\n)\nfunc f() { <-time.After(1) }", "is a sleep"},
		{"time in a bubble is not real", "a_test.go",
			"package c3po\nimport (\n\"testing/synctest\"\n\"time\"\n)\nvar _ = synctest.Wait\nfunc f() { <-time.After(1) }", ""},
		{"a test has no build tag", "a_test.go",
			"//go:build integration\n\npackage c3po", "behind a build tag"},
		{"other files may", "internal/host/engine/a.go",
			"//go:build unix\n\npackage engine", ""},

		{"the hub does not print", "internal/hub/a.go",
			"package hub\nimport \"fmt\"\nfunc f() { fmt.Println() }", "only the command line prints"},
		{"nor by standard output", "internal/hub/a.go",
			"package hub\nimport \"os\"\nvar out = os.Stdout", "only the command line has a standard output"},
		{"nor by the builtin", "internal/hub/a.go",
			"package hub\nfunc f() { println(1) }", "the builtin println"},
		{"the command line prints", "internal/cli/a.go",
			"package cli\nimport \"fmt\"\nfunc f() { fmt.Println() }", ""},
		{"nobody ends the program by logging", "cmd/c3po/a.go",
			"package main\nimport \"log\"\nfunc f() { log.Fatalf(\"\") }", "log.Fatalf ends the program"},
		{"the command line does not exit", "internal/cli/a.go",
			"package cli\nimport \"os\"\nfunc f() { os.Exit(1) }", "only main and TestMain may exit"},
		{"main exits", "cmd/c3po/a.go",
			"package main\nimport \"os\"\nfunc main() { os.Exit(1) }", ""},
		{"TestMain exits", "internal/cli/a_test.go",
			"package cli\nimport \"os\"\nfunc TestMain() { f := func() { os.Exit(1) }; f() }", ""},
		{"other tests do not", "internal/cli/a_test.go",
			"package cli\nimport \"os\"\nfunc TestIt() { os.Exit(1) }", "only main and TestMain may exit"},
		{"nothing runs unasked", "internal/hub/a.go",
			"package hub\nfunc init() {}", "init runs unasked"},
		{"a context is not stored", "internal/hub/a.go",
			"package hub\nimport \"context\"\ntype T struct { ctx context.Context }", "a context is passed, never stored"},
		{"but by what lives as long as its test", "internal/store/storetest/a.go",
			"package storetest\nimport \"context\"\ntype T struct { ctx context.Context }", ""},

		{"test data is not judged", "internal/hub/testdata/util/a.go", "package util", ""},
		{"nor another module", "tools/a.go", "package util", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tree := fstest.MapFS{
				"doc.go":       {Data: []byte("package c3po\n")},
				"tools/go.mod": {Data: []byte("module tools\n")},
				c.file:         {Data: []byte(c.text)},
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

func TestLongFilesAreNamedBeforeTheyAreRefused(t *testing.T) {
	t.Parallel()
	found, err := inspect(fstest.MapFS{"a.go": {Data: []byte("package c3po\n" + strings.Repeat("\n", 450))}})
	if err != nil {
		t.Fatal(err)
	}
	if len(found.long) != 1 || len(found.breaches) != 0 {
		t.Errorf("long %v, breaches %v, want a.go named and nothing refused", found.long, found.breaches)
	}
}
