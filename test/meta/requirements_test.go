package meta

import (
	"io/fs"
	"os"
	"strings"
	"testing"
)

func TestEveryRequirementNamesTestsThatExist(t *testing.T) {
	t.Parallel()
	const requirements, maxProofs = 84, 3
	tree := os.DirFS(".")
	tests := everyTest(t, tree)
	proofs, id := map[string]int{}, ""
	for line := range strings.Lines(readPage(t, tree, "testdata/requirements-known.txt")) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		if line[0] != ' ' {
			id = words[0]
			if _, known := proofs[id]; known || len(words) == 1 {
				t.Errorf("%s is listed twice or without its text", id)
			}
			proofs[id] = 0
			continue
		}
		proofs[id]++
		file := words[0]
		if script, found := strings.CutPrefix(file, "TestScripts/"); found {
			file = "internal/cli/testdata/script/" + script + ".txtar"
		}
		if _, err := fs.Stat(tree, file); err != nil && !tests[words[0]] {
			t.Errorf("%s: there is no %s", id, words[0])
		}
	}
	for id, n := range proofs {
		if n < 1 || n > maxProofs {
			t.Errorf("%s names %d tests, want 1 to %d", id, n, maxProofs)
		}
	}
	if len(proofs) != requirements {
		t.Errorf("%d requirements are listed, want %d", len(proofs), requirements)
	}
}
