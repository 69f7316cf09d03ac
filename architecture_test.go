package c3po_test

import (
	"os"
	"regexp"
	"testing"
)

var walkRow = regexp.MustCompile("(?m)^\\| [0-9]+ \\| `([^`]+)`(?: `([^`]+)`)? \\|")

// Whoever follows the walk opens each file and looks for the function.
func TestTheWalkThroughTheCodeLeadsToWhatIsThere(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := walkRow.FindAllStringSubmatch(string(page), -1)
	if len(rows) < 10 {
		t.Fatalf("the walk has %d steps", len(rows))
	}
	for _, row := range rows {
		text, err := os.ReadFile(row[1])
		if err != nil {
			t.Error(err)
			continue
		}
		if row[2] != "" && !regexp.MustCompile(`(?m)^func (\([^)]*\) )?`+row[2]+`[\[(]`).Match(text) {
			t.Errorf("%s has no function %s", row[1], row[2])
		}
	}
}
