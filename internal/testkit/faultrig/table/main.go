// Command table runs the tests of testdata/matrix.txt and ends with one table of
// what was done, what was broken meanwhile, and what came of it:
//
//	go run ./internal/testkit/faultrig/table [-rows B1,B2] [-timeout 3h] [-journal FILE] [LOG…]
//
// What has passed stands in the journal: whoever is interrupted starts it again, and
// only the rest runs. It is of one commit. With logs of `go test -json` it reads these and runs nothing. It ends with 1 if
// something failed, was skipped, or did not run.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig/matrix"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	holds, err := table(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(2)
	}
	if !holds {
		os.Exit(1)
	}
}

func table(ctx context.Context) (holds bool, err error) {
	file := flag.String("matrix", "testdata/matrix.txt", "the `file` that names the tests of each row")
	rows := flag.String("rows", "", "run these `rows` only: B1,B2, or B for all that begin so")
	most := flag.Duration("timeout", 3*time.Hour, "how long one test may take")
	journal := flag.String("journal", "bin/torture.jsonl", "the `file` that keeps what has passed of this commit")
	flag.Parse()

	text, err := os.ReadFile(*file)
	if err != nil {
		return false, err
	}
	entries, err := matrix.Parse(string(text))
	if err != nil {
		return false, fmt.Errorf("%s: %w", *file, err)
	}
	entries = chosen(entries, *rows)
	if flag.NArg() > 0 { // logs of tests have no commands in them
		entries = slices.DeleteFunc(entries, func(e matrix.Entry) bool { return e.Command != "" })
	}
	var results matrix.Results
	if flag.NArg() == 0 {
		if err := run(ctx, entries, &results, *journal, *most); err != nil {
			return false, err
		}
	}
	for _, log := range flag.Args() {
		err = errors.Join(err, read(log, &results))
	}
	if err != nil {
		return false, err
	}
	printed, holds := matrix.Table(entries, &results)
	fmt.Print("\n", printed)
	return holds, nil
}

func run(ctx context.Context, entries []matrix.Entry, results *matrix.Results, name string, most time.Duration) (err error) {
	// In a container the checkout often is somebody else's.
	said, err := exec.CommandContext(ctx, "git", "-c", "safe.directory=*", "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty").Output()
	if err != nil {
		return fmt.Errorf("which commit is this: %w", err)
	}
	commit := strings.TrimSpace(string(said))
	if strings.HasSuffix(commit, "-dirty") { // two of these are not the same
		commit = fmt.Sprintf("%s-%d", commit, os.Getpid())
	}
	switch {
	case faultrig.Night():
		commit += ", for a night"
	case faultrig.Torture():
		commit += ", at full size"
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	began := time.Now()
	journal, err := matrix.Open(name, commit, began, results)
	if err != nil {
		return err
	}
	defer func() {
		fmt.Printf("\n%s; this piece took %s\n", journal, time.Since(began).Round(time.Second))
		err = errors.Join(err, journal.Close())
	}()
	return runner{results: results, journal: journal, most: most}.run(ctx, entries)
}

// chosen are the entries of the rows that are asked for.
func chosen(all []matrix.Entry, rows string) []matrix.Entry {
	if rows == "" {
		return all
	}
	wanted := strings.Split(rows, ",")
	return slices.DeleteFunc(all, func(e matrix.Entry) bool {
		return !slices.ContainsFunc(wanted, func(row string) bool {
			return row == e.Row || len(row) == 1 && strings.HasPrefix(e.Row, row)
		})
	})
}

func read(name string, results *matrix.Results) error {
	log, err := os.Open(name)
	if err != nil {
		return err
	}
	defer log.Close()
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		results.Add(lines.Text())
	}
	return lines.Err()
}
