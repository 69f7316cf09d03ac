package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAMutantIsKilledByATestThatPassesWithoutIt(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.26\n",
		"p/p.go": `package p

var calls int

func Larger(a, b int) int {
	if a > b && a != 0 {
		return a
	}
	calls = calls + 1
	return b
}

func Unused(a int) bool {
	for i := 0; i < a; i++ {
		println(i)
	}
	return a >= 3
}
`,
		"p/p_test.go": `package p

import "testing"

func TestLarger(t *testing.T) {
	if Larger(1, 2) != 2 || Larger(2, 1) != 2 {
		t.Fail()
	}
}

func TestBroken(t *testing.T) {
	Larger(1, 2)
	t.Fail()
}
`,
	})
	mutants, tests := prepare(root, "p", "p", t.TempDir())
	tests.measure(mutants)
	got := map[string]string{}
	for _, m := range mutants {
		id, result := fmt.Sprint(m.id), "survived"
		if len(tests.reach[id]) == 0 {
			result = "not reached"
		} else if tests.kills(id) {
			result = "killed"
		}
		got[strings.TrimPrefix(m.at, "p/p.go:")+" "+m.what] = result
	}
	want := map[string]string{
		"6 negated condition: a > b && a != 0":    "killed",
		"6 dropped operand of &&: a > b":          "killed",
		"6 dropped operand of &&: a != 0":         "not reached",
		"6 moved boundary: a > b":                 "survived",
		"9 dropped assignment: calls = calls + 1": "survived",
		"14 moved boundary: i < a":                "not reached",
		"15 dropped call: println(i)":             "not reached",
		"17 moved boundary: a >= 3":               "not reached",
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	if !slices.Equal(tests.unsteady, []string{"TestBroken"}) {
		t.Errorf("left out are %v, want TestBroken", tests.unsteady)
	}
}

func TestAConditionOfAScriptIsNegated(t *testing.T) {
	root, work := t.TempDir(), t.TempDir()
	write(t, root, map[string]string{
		"p/p.go":         "package p\n\nvar sources embed.FS\n",
		"p/lua/send.lua": "-- if it is\nif a and b then\n  return 1\nelseif c then return 2 end\n",
	})
	s := &schema{root: root, folder: "p/lua", work: work, replaced: map[string]string{}}
	s.mutateLua("p")
	if len(s.mutants) != 2 || s.mutants[1].at != "p/lua/send.lua:4" {
		t.Errorf("mutants are %v", s.mutants)
	}
	table, err := os.ReadFile(filepath.Join(work, "zz_mutants.go"))
	if err != nil || !strings.Contains(string(table), `"2": {"lua/send.lua", "-- if it is\nif a and b then\n  return 1\nelseif not (c) then return 2 end\n"}`) {
		t.Errorf("the table is %s, %v", table, err)
	}
}
