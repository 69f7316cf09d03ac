package matrix

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// Table is the end of it all, in Markdown, and whether everything holds.
func Table(entries []Entry, results *Results) (table string, holds bool) {
	var b strings.Builder
	b.WriteString("| row | test | size | faults | lost | doubled | recovery | verdict |\n")
	b.WriteString("|---|---|---|---|--:|--:|--:|---|\n")
	holds = len(entries) > 0
	for _, entry := range entries {
		result := results.Of(entry)
		holds = holds && result.End == Passed
		verdicts := ofRow(entry.Row, result.Verdicts)
		if len(verdicts) == 0 {
			fmt.Fprintf(&b, "| %s | `%s` | | | | | | %s |\n", entry.Row, entry.Name(), ended(result))
		}
		for _, v := range verdicts {
			fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %d | %d | %s | %s |\n",
				entry.Row, entry.Name(), cell(v.Size), cell(v.Faults), v.Lost, v.Doubled, recovery(v), ended(result))
		}
	}
	return b.String(), holds
}

// ofRow leaves out what a test has to say about other rows.
func ofRow(row string, all []faultrig.Verdict) []faultrig.Verdict {
	var own []faultrig.Verdict
	for _, v := range all {
		if v.Row == row {
			own = append(own, v)
		}
	}
	return own
}

func recovery(v faultrig.Verdict) string {
	if v.Recovery == 0 {
		return ""
	}
	return v.Recovery.Round(time.Millisecond).String()
}

func ended(r Result) string {
	if r.End == Missing {
		return r.End
	}
	return r.End + ", " + strconv.FormatFloat(r.Took.Seconds(), 'f', 1, 64) + " s"
}

// cell keeps a text within its column.
func cell(text string) string {
	return strings.NewReplacer("|", "/", "\n", " ").Replace(text)
}
