package mail

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
)

func Search(a *console.Console) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "search WORD...",
		Short: "Find messages by their words",
		Long: `Find messages that contain every word, the newest first. Case does not matter, and
a word is also found inside a longer one. Posts in rooms are searched as far back as
the event log goes, mail as long as it is kept.`,
		Example: `  c3po search migration users
  c3po search timeout --limit 5
  c3po search 'broken pipe' --json`,
		Args: console.Arguments(1, -1, "WORD..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(strings.Join(args, "")) == "" {
				return console.BadUsage("there is no word to search for", "c3po search --help shows an example.")
			}
			svc, err := a.Person(console.HumanToken)
			if err != nil {
				return err
			}
			var back time.Time
			in := c3po.SearchInput{Words: strings.Join(args, " ")}
			hits, more, err := console.Pages(limit, func(cursor string, most int) ([]c3po.SearchHit, string, error) {
				in.Cursor, in.Limit = cursor, most
				page, err := svc.Search(cmd.Context(), in)
				back = page.Back
				return page.Hits, page.Next, err
			})
			if err != nil {
				return err
			}
			if more && back.IsZero() && len(hits) > 0 {
				back = hits[len(hits)-1].At // no further than what is shown
			}
			defer a.More(more, "messages")
			return a.Show(hits, func(w io.Writer) { printHits(w, time.Now(), hits, back) })
		},
	}
	console.LimitFlag(cmd, &limit, 20)
	return cmd
}

// printHits also says how far back was searched: zero for all that is kept.
func printHits(w io.Writer, now time.Time, hits []c3po.SearchHit, back time.Time) {
	if len(hits) == 0 {
		fmt.Fprintln(w, "no message has these words")
	}
	for i, hit := range hits {
		if i > 0 {
			fmt.Fprintln(w)
		}
		whom, read := console.Name(hit.ToAgent), "c3po thread "+console.Inline(hit.Thread)
		if hit.Room != "" {
			whom, read = "#"+console.Inline(string(hit.Room)), "c3po room history "+console.Inline(string(hit.Room))
		}
		fmt.Fprintf(w, "%s → %s, %s ago\n  %s\n  %s\n", console.Inline(string(hit.FromAgent)), whom, c3po.Age(now.Sub(hit.At)), console.Inline(hit.Excerpt), read)
	}
	if back.IsZero() {
		fmt.Fprintln(w, "searched everything that is kept")
	} else {
		fmt.Fprintf(w, "searched back to %s\n", back.Local().Format(time.DateTime))
	}
}
