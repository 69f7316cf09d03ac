package c3po

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestTheErrorTableIsTheCodes(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/reference/rest.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for code, facts := range codes {
		row := fmt.Sprintf("| `%s` | %d | %s |", code, facts.status, facts.retry)
		if !strings.Contains(text, row) {
			t.Errorf("docs/reference/rest.md has no row %s", row)
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\|").FindAllStringSubmatch(text, -1) {
		if _, known := codes[Code(row[1])]; !known {
			t.Errorf("docs/reference/rest.md has a row for %s, which is no code", row[1])
		}
	}
}
