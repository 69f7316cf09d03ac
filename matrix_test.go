package c3po_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig/matrix"
)

// matrixRows are the rows of the matrix: processes, networks, clocks, histories,
// size, changes, agents, attackers, what the program is made of, and several coordinators over a cluster.
var matrixRows = strings.Fields(`A1 A2 A3 A4 B1 B2 B3 B4 B5 B6 B7 C1 C2 C3 C4 C5 D1 E1 E2 F1 F2 F3 F4 G1 G2 H1 H2 H3 H4 H5 H6 H7
	I1s I2s I3s I4s I5s I6s I7s I8s I9s I10s J S1 S2 S3 S4 S5 S6 S7 S8`)

func TestEveryRowOfTheMatrixHasATestThatExists(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/matrix.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range judgeMatrix(t, os.DirFS("."), string(text), matrixRows) {
		t.Error(problem)
	}
}

func judgeMatrix(t *testing.T, tree fs.FS, text string, rows []string) []string {
	t.Helper()
	entries, err := matrix.Parse(text)
	if err != nil {
		return []string{err.Error()}
	}
	var problems []string
	shown := map[string]bool{}
	for _, entry := range entries {
		shown[entry.Row] = true
		if !slices.Contains(rows, entry.Row) {
			problems = append(problems, fmt.Sprintf("%s is no row", entry.Row))
		}
		if !exists(t, tree, entry) {
			problems = append(problems, fmt.Sprintf("%s: there is no %s", entry.Row, strings.TrimSpace(entry.Package+" "+entry.Name())))
		}
	}
	for _, row := range rows {
		if !shown[row] {
			problems = append(problems, fmt.Sprintf("nothing shows %s", row))
		}
	}
	return problems
}

// exists looks for the test in its package, or for what the command starts: a
// target of the Makefile, a script, or go itself.
func exists(t *testing.T, tree fs.FS, entry matrix.Entry) bool {
	t.Helper()
	if entry.Command == "" {
		return testsIn(t, tree, path.Clean(entry.Package))[entry.Test]
	}
	words := strings.Fields(entry.Command)
	switch words[0] {
	case "go":
		return true
	case "make":
		text, err := fs.ReadFile(tree, "Makefile")
		return err == nil && regexp.MustCompile(`(?m)^`+words[len(words)-1]+`:`).Match(text)
	default:
		_, err := fs.Stat(tree, words[0])
		return err == nil
	}
}

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// testsIn are the tests of one package.
func testsIn(t *testing.T, tree fs.FS, folder string) map[string]bool {
	t.Helper()
	files, err := fs.Glob(tree, path.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	for _, name := range files {
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range testFunction.FindAllSubmatch(text, -1) {
			tests[string(found[1])] = true
		}
	}
	return tests
}

func TestTheMatrixRuleBites(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{
		"Makefile":             {Data: []byte("fuzz: ## targets\n\ttrue\n")},
		"test/web/run.sh":      {Data: []byte("#!/bin/sh\n")},
		"internal/a/a_test.go": {Data: []byte("package a\n\nfunc TestIt(t *testing.T) {}\n")},
	}
	got := judgeMatrix(t, tree, strings.Join([]string{
		"A1 ./internal/a TestIt", "A1 ./internal/a TestGone", "A2 $ make -s fuzz", "A2 $ make flee", "B1 $ test/web/run.sh",
		"B1 $ test/gone.sh", "B3 ./internal/a TestIt",
	}, "\n"), []string{"A1", "A2", "B1", "C1"})
	want := []string{
		"A1: there is no ./internal/a TestGone",
		"A2: there is no make flee",
		"B1: there is no test/gone.sh",
		"B3 is no row",
		"nothing shows C1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
