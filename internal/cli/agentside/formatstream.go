package agentside

import (
	"errors"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/runner/streamfmt"
)

// FormatStreamName is also what a link of this name to the program is.
const FormatStreamName = "format-stream"

func FormatStream(a *console.Console) *cobra.Command {
	var results bool
	cmd := &cobra.Command{
		Use:   FormatStreamName,
		Short: "Show what claude -p streams as lines for people",
		Long: `Read the stream-json of claude -p from stdin and show it as lines for people: what
was said, each tool on a line with the time it took and what it answered first, and
how it ended. With --results all that tools answered is shown. What is no record of
a stream is shown as it is.`,
		Example: `  claude -p "What changed?" --output-format stream-json --verbose | c3po format-stream
  cat run.jsonl | c3po format-stream`,
		Args:   console.Arguments(0, 0, "<STREAM"),
		Hidden: true,
		RunE: func(*cobra.Command, []string) error {
			_, err := streamfmt.Copy(a.Stdout, a.Stdin, streamfmt.Config{Colour: bool(a.Ink()), Results: results})
			if errors.Is(err, syscall.EPIPE) { // nobody reads on, as with `| head`
				return nil
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&results, "results", false, "show all that tools answered, not only the first line")
	return cmd
}
