package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/bench"
)

func (a *app) bench() *cobra.Command {
	var cfg bench.Config
	var seconds int
	all := []string{bench.Send, bench.Exchange, bench.Wait}
	use := "[" + strings.Join(all, "|") + "]"
	cmd := &cobra.Command{
		Use:   "bench " + use,
		Short: "Measure how fast this machine carries messages",
		Long: `Measure how fast this machine carries messages: straight into Redis with the
coordinator's own scripts, over REST and over MCP, in turns within one run.

send is one message; exchange a question, its answer and the ack; wait the way
from a send to the wait it wakes, at 1000 messages a second. Without a scenario
all three are measured.

A Redis and coordinators are started for it in a temporary folder (TMPDIR) and
removed afterwards. On a Redis of yours it works in spaces of its own and removes
them, unless a coordinator of yours (--url) was measured on them: it must limit no
sends and ask for no token, and what was written stays, as mail of spaces called
bench-…, until it expires.`,
		Example: `  c3po bench
  c3po bench send --concurrency 256 --seconds 10 --json`,
		Args: arguments(0, 1, use),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, given := range []struct {
				flag  string
				value int
			}{{"seconds", seconds}, {"concurrency", cfg.Concurrency}, {"size", cfg.Size}} {
				if given.value < 1 {
					return &usageError{fmt.Sprintf("--%s %d is less than one", given.flag, given.value), "Give a number from 1."}
				}
			}
			program, err := os.Executable()
			if err != nil {
				return err
			}
			cfg.Program, cfg.Length = program, time.Duration(seconds)*time.Second
			scenarios := all
			if len(args) > 0 {
				scenarios = args
			}
			var reports []bench.Report
			for _, scenario := range scenarios {
				cfg.Scenario = scenario
				report, err := bench.Run(cmd.Context(), cfg)
				if err != nil {
					return err
				}
				reports = append(reports, report)
				if !a.json {
					printBench(a.Stdout, report)
				}
			}
			return a.show(reports, func(io.Writer) {})
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&seconds, "seconds", 5, "how long each of the three is measured, at most 60")
	flags.IntVar(&cfg.Concurrency, "concurrency", 64, "operations under way at once; with wait, the waits")
	flags.IntVar(&cfg.Size, "size", 1024, "characters of a message")
	// In place of the flag every command has: a coordinator that merely runs here,
	// or that a variable names, is not meant.
	flags.StringVar(&cfg.URL, "url", "", "a coordinator of yours on that Redis, instead of one for the measurement")
	flags.StringVar(&cfg.RedisURL, "redis", "", "a Redis of yours on this machine, instead of one for the measurement")
	return cmd
}

func printBench(w io.Writer, r bench.Report) {
	fmt.Fprintf(w, "%s: %d at once, %d characters, what is accepted is %s\n", r.Scenario, r.Concurrency, r.Size, worth(r.Durability))
	processes := []string{bench.ProcessBench, bench.ProcessCoordinator, bench.ProcessRedis}
	table(w, func(row func(...string)) {
		heads := []string{"", "A SECOND", "OF REDIS", "P50", "P99"}
		for _, process := range processes {
			heads = append(heads, "CPU "+strings.ToUpper(process))
		}
		row(heads...)
		for _, f := range r.Doors {
			cells := []string{f.Door, fmt.Sprintf("%.0f", f.Rate), fmt.Sprintf("%.2f", f.OfRedis), latency(f.P50), latency(f.P99)}
			for _, process := range processes {
				cell := "-"
				if used, known := f.CPU[process]; known {
					cell = fmt.Sprintf("%.0f µs", used)
				}
				cells = append(cells, cell)
			}
			row(cells...)
		}
	})
	if len(r.Left) > 0 {
		fmt.Fprintf(w, "left in Redis: %s\n", inline(joined(r.Left)))
	}
	fmt.Fprintln(w)
}

func latency(ms float64) string {
	return time.Duration(ms * float64(time.Millisecond)).Round(10 * time.Microsecond).String()
}

func joined(spaces []c3po.Space) string {
	names := make([]string, len(spaces))
	for i, space := range spaces {
		names[i] = string(space)
	}
	return strings.Join(names, ", ")
}
