package bench

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// The exit codes of Command.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// Command measures the scenarios that its arguments name, or all, prints what it measured, and returns the exit code.
func Command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var cfg Config
	var asJSON bool
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintf(stderr, "usage: bench [flags] [%s …]\n", strings.Join(Scenarios(), "|"))
		flags.PrintDefaults()
	}
	seconds := flags.Int("seconds", 5, "how long each of the three paths is measured, at most 60")
	flags.IntVar(&cfg.Concurrency, "concurrency", 0, "operations under way at once; with wait and waiters the waits, with rooms the members (64; with waiters 1000)")
	flags.IntVar(&cfg.Size, "size", 0, "characters of a message (1024)")
	flags.IntVar(&cfg.Rate, "rate", 0, "messages a second, for send, wait, waiters and mixed; without it send as many as go, wait and waiters 1000, mixed 100")
	flags.StringVar(&cfg.RedisURL, "redis", "", "measure this Redis, instead of a new one")
	flags.StringVar(&cfg.Profile, "profile", "", "also write into this folder where the time goes: profiles of the coordinators, the commands Redis ran, and what perf sees of Redis if it is installed")
	flags.StringVar(&cfg.Program, "program", "bin/c3po", "the c3po that is measured")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	if err := flags.Parse(args); err != nil {
		return exitUsage
	}
	cfg.Length = time.Duration(*seconds) * time.Second
	scenarios := flags.Args()
	if len(scenarios) == 0 {
		scenarios = Scenarios()
	}
	var reports []Report
	for _, scenario := range scenarios {
		one := cfg
		if one.Scenario = scenario; flags.NArg() == 0 && !Paced(scenario) {
			one.Rate = 0
		}
		measured, err := Run(ctx, one)
		if err != nil {
			fmt.Fprintf(stderr, "%s: %v\n", scenario, err)
			if refusal, ok := errors.AsType[*c3po.Error](err); ok && refusal.Suggestion != "" {
				fmt.Fprintln(stderr, refusal.Suggestion)
			}
			if ctx.Err() != nil {
				return exitInterrupted
			}
			return exitFailed
		}
		if reports = append(reports, measured); !asJSON {
			measured.print(stdout)
		}
	}
	if asJSON {
		if err := json.NewEncoder(stdout).Encode(reports); err != nil {
			return exitFailed
		}
	}
	return 0
}

func (r Report) print(w io.Writer) {
	fmt.Fprintf(w, "%s: %s\n", r.Scenario, r.Headline())
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range r.Table() {
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	_ = table.Flush()
	fmt.Fprintln(w)
}
