package operate

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/cli/people"
	"github.com/c3po-dev/c3po/internal/ops/move"
)

func Export(a *console.Console) *cobra.Command {
	var flags writeFlags
	cmd := &cobra.Command{
		Use:   "export FILE",
		Short: "Write agents, mail and rooms for another coordinator",
		Long: `Write agents, mail and rooms for another coordinator: one line of JSON each, which
c3po import takes in there. Tokens and broadcasts stay, and so does the mail itself. Of
files that came with messages the names go along, and the bytes do not.
- is standard output. A file that is there already stays unless --force is given.

The coordinator must be down, so that nothing is sent that would not be in the file.
Whoever has the file can read the mail.`,
		Example: `  c3po export laptop.jsonl`,
		RunE: writeFile(a, &flags, true, "exporting", func(ctx context.Context, url string, out io.Writer) (move.Exported, bool, error) {
			done, err := move.Export(ctx, move.ExportConfig{RedisURL: url, Version: a.Version, Host: people.HostName(), Now: clock(a)}, out)
			return done, done.Counts == (move.Counts{}), err
		}, printExport),
	}
	flags.add(cmd)
	return cmd
}

func ImportFile(a *console.Console) *cobra.Command {
	var redis, host string
	var dry bool
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Take in what c3po export wrote on another machine",
		Long: `Take in what c3po export wrote on another machine. Its agents belong to that machine
here: api of a laptop becomes laptop/api, in everything that speaks of it. Ids with
the old names in them are understood. What was open is open, in the same order.

Nothing that is here changes, and coordinators may run. Importing the same file again
brings nothing twice, so an import that was cut off is simply run again. At the end every
message is looked for, and the books are gone through. - is standard input.`,
		Example: `  c3po import laptop.jsonl --dry-run
  c3po import laptop.jsonl --as-host laptop`,
		RunE: readFile(a, &redis, false, "export", "importing", func(ctx context.Context, url string, in io.Reader) (move.Imported, error) {
			return move.Import(ctx, move.ImportConfig{RedisURL: url, Version: a.Version, Host: host, DryRun: dry}, in)
		}, printImport),
	}
	cmd.Flags().StringVar(&host, "as-host", "", "host the agents belong to here; else the name of the machine the export is from")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be done, and do nothing")
	redisFlag(cmd, &redis)
	return cmd
}

func printExport(w io.Writer, file string, done move.Exported) {
	fmt.Fprintf(w, "written to %s: %s\n", console.Inline(file), countsInWords(done.Counts))
	if done.Damaged > 0 {
		fmt.Fprintf(w, "%d messages are damaged and are not in it\n", done.Damaged)
	}
	if done.Files > 0 {
		fmt.Fprintf(w, "the bytes of %d files are not in it, only their names: save those you need with c3po save, or move everything with c3po backup\n", done.Files)
	}
	fmt.Fprintf(w, "where they go they are agents of %s\n", console.Inline(done.Host))
}

func countsInWords(c move.Counts) string {
	return fmt.Sprintf("%s, %s, %d of them open, %s with %s and %s", console.CountOf(c.Agents, "agent"), console.CountOf(c.Messages, "message"), c.Unread, console.CountOf(c.Rooms, "room"), console.CountOf(c.Posts, "post"), console.CountOf(c.Members, "member"))
}

func printImport(w io.Writer, done move.Imported) {
	verb := "imported"
	if done.DryRun {
		verb = "would import"
	}
	for _, s := range done.Spaces {
		fmt.Fprintf(w, "space %s: %s %s\n", console.Inline(string(s.Space)), verb, countsInWords(s.New))
		for _, r := range s.Agents {
			fmt.Fprintf(w, "  agent %s is %s\n", console.Inline(r.Was), console.Inline(r.Is))
		}
		for _, r := range s.Rooms {
			fmt.Fprintf(w, "  room %s is %s: there is another %s here\n", console.Inline(r.Was), console.Inline(r.Is), console.Inline(r.Was))
		}
		if s.New.Files > 0 {
			fmt.Fprintf(w, "  %d files are listed only: their bytes stay where they were exported\n", s.New.Files)
		}
		if s.Numbers > 0 {
			fmt.Fprintf(w, "  %d messages have another number, because theirs was taken here\n", s.Numbers)
		}
		if s.Already > 0 {
			fmt.Fprintf(w, "  %d things were here already\n", s.Already)
		}
	}
	if !done.DryRun {
		fmt.Fprintln(w, "every message is there, and the books balance")
	}
}
