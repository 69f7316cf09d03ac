package operate

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/ops/bench"
)

func Bench(a *console.Console) *cobra.Command {
	var cfg bench.Config
	var seconds int
	var report string
	all := bench.Scenarios()
	use := "[" + strings.Join(all, "|") + "]"
	cmd := &cobra.Command{
		Use:   "bench " + use,
		Short: "Measure how fast this machine carries messages",
		Long: `Measure how fast this machine carries messages: straight into Redis with the
coordinator's own scripts, over REST and over MCP, in turns within one run.

  send      one message
  deliver   a message sent, waited for and acked
  exchange  a question, its answer and the ack
  wait      from a send to the wait it wakes, at 1000 messages a second
  rooms     from a post to each member
  waiters   as wait, among 1000 that sleep, and the memory each holds
  mixed     send, exchange, rooms and wait at once

Without a scenario all are measured, which takes two minutes.

It starts a Redis and coordinators in a temporary folder (TMPDIR) and removes them
afterwards. On your Redis (--redis) it uses separate spaces and removes them. Your
coordinator (--url) must limit no sends and ask for no token; its mail stays in
spaces called bench-… until it expires.`,
		Example: `  c3po bench
  c3po bench send --concurrency 256 --seconds 10 --json
  c3po bench waiters --concurrency 10000 --report waiters.md`,
		Args: console.Arguments(0, 1, use),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, given := range []struct {
				flag  string
				value int
			}{{"seconds", seconds}, {"concurrency", cfg.Concurrency}, {"size", cfg.Size}, {"rate", cfg.Rate}} {
				if given.value < 1 && cmd.Flags().Changed(given.flag) {
					return console.BadUsage(fmt.Sprintf("--%s %d is less than one", given.flag, given.value), "Give a number from 1.")
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
			if report != "" {
				if err := bench.Writable(report); err != nil {
					return err
				}
			}
			ctx, leave := untilLeft(cmd.Context())
			defer leave()
			var reports []bench.Report
			for _, scenario := range scenarios {
				one := cfg
				one.Scenario = scenario
				if len(args) == 0 && !bench.Paced(scenario) {
					one.Rate = 0
				}
				stop := a.Waiting("measuring " + scenario)
				measured, err := bench.Run(ctx, one)
				stop()
				if err != nil {
					return err
				}
				reports = append(reports, measured)
				if !a.JSON {
					printBench(a.Stdout, measured)
				}
			}
			if report != "" {
				file, err := bench.Write(report, reports)
				if err != nil {
					return err
				}
				fmt.Fprintf(a.Stderr, "The report is %s.\n", console.Inline(file))
			}
			if cfg.Profile != "" {
				fmt.Fprintf(a.Stderr, "The profiles are in %s; read one with: go tool pprof FILE\n", console.Inline(cfg.Profile))
			}
			return a.Show(reports, func(io.Writer) {})
		},
	}
	flags := cmd.Flags()
	console.SecondsFlag(flags, &seconds, "seconds", 5, "how long each of the three paths is measured, at most 60s")
	flags.IntVar(&cfg.Concurrency, "concurrency", 0, "operations under way at once; with wait and waiters the waits, with rooms the members (64; with waiters 1000)")
	flags.IntVar(&cfg.Size, "size", 1024, "characters of a message")
	flags.IntVar(&cfg.Rate, "rate", 0, "messages a second, for send, wait, waiters and mixed; with send as many as go, with wait and waiters 1000, with mixed 100, if it is not given")
	flags.StringVar(&report, "report", "", "also write tables and pictures: a Markdown file (.md), or a folder for a report.md")
	flags.StringVar(&cfg.Profile, "profile", "", "also write into this folder where the time goes: profiles of the coordinators, the commands Redis ran, and what perf sees of Redis if it is installed")
	// In place of the flag every command has: a coordinator that merely runs here,
	// or that a variable names, is not meant.
	flags.StringVar(&cfg.URL, "url", "", "measure your coordinator on that Redis, instead of a new one")
	flags.StringVar(&cfg.RedisURL, "redis", "", "measure your Redis on this machine, instead of a new one")
	return cmd
}

func printBench(w io.Writer, r bench.Report) {
	fmt.Fprintf(w, "%s: %s\n", r.Scenario, r.Headline())
	console.Table(w, func(row func(...string)) {
		for _, cells := range r.Table() {
			row(cells...)
		}
	})
	if len(r.Left) > 0 {
		fmt.Fprintf(w, "left in Redis: %s\n", console.Inline(joinSpaces(r.Left)))
	}
	fmt.Fprintln(w)
}

func joinSpaces(spaces []c3po.Space) string {
	names := make([]string, len(spaces))
	for i, space := range spaces {
		names[i] = string(space)
	}
	return strings.Join(names, ", ")
}
