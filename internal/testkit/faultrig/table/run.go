package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig/matrix"
)

// A runner runs each test in its own process, so that none is measured by what
// another has left behind. Tests run one after the other, and so do commands beside
// them: most of either is waiting. What measures runs alone, when the rest has ended.
type runner struct {
	results *matrix.Results
	journal *matrix.Journal
	most    time.Duration
	folder  string // of the programs that the tests of a package are built into
}

// run returns an error only if it could not run; what failed is in the results. What
// has passed before, by the journal, is not run again.
func (r runner) run(ctx context.Context, entries []matrix.Entry) (err error) {
	if r.folder, err = os.MkdirTemp("", "c3po-torture-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.folder)
	var tests, commands, alone []matrix.Entry
	for _, e := range r.missing(entries) {
		switch {
		case e.Alone:
			alone = append(alone, e)
		case e.Command != "":
			commands = append(commands, e)
		default:
			tests = append(tests, e)
		}
	}
	if err := r.build(ctx, append(tests, alone...)); err != nil {
		return err
	}
	if err := r.atOnce(ctx, tests, commands); err != nil {
		return err
	}
	return r.each(ctx, alone)
}

// missing are the entries that have not passed, each test and command once, alone if
// one of its rows says so.
func (r runner) missing(entries []matrix.Entry) []matrix.Entry {
	var missing []matrix.Entry
	places := map[string]int{}
	for _, e := range entries {
		if r.results.Of(e).End == matrix.Passed {
			continue
		}
		key := e.Package + " " + e.Name()
		place, known := places[key]
		if !known {
			places[key] = len(missing)
			missing = append(missing, e)
			continue
		}
		missing[place].Alone = missing[place].Alone || e.Alone
	}
	return missing
}

// build makes one program of the tests of each package, before anything is measured.
func (r runner) build(ctx context.Context, tests []matrix.Entry) error {
	built := map[string]bool{}
	for _, e := range tests {
		if e.Command != "" || built[e.Package] {
			continue
		}
		built[e.Package] = true
		cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", r.program(e), e.Package)
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("build the tests of %s: %w", e.Package, err)
		}
	}
	return nil
}

func (r runner) program(e matrix.Entry) string {
	return filepath.Join(r.folder, strings.ReplaceAll(strings.TrimPrefix(e.Package, "./"), "/", "-")+".test")
}

// atOnce runs several lists beside each other. Once one of them cannot run, all end.
func (r runner) atOnce(ctx context.Context, lists ...[]matrix.Entry) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ends := make(chan error)
	for _, list := range lists {
		go func() { ends <- r.each(ctx, list) }()
	}
	for range lists {
		if end := <-ends; end != nil {
			stop()
			err = errors.Join(err, end)
		}
	}
	return err
}

func (r runner) each(ctx context.Context, entries []matrix.Entry) error {
	for _, e := range entries {
		run := r.test
		if e.Command != "" {
			run = r.command
		}
		if err := run(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

func (r runner) test(ctx context.Context, e matrix.Entry) error {
	cmd := exec.CommandContext(ctx, "go", "tool", "test2json", "-t", "-p", matrix.ImportPath(e.Package),
		r.program(e), "-test.v=test2json", "-test.timeout="+r.most.String(), "-test.run=^"+e.Test+"$")
	cmd.Dir = e.Package
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		test, ended, unkept := r.journal.Add(line)
		if unkept != nil {
			return unkept
		}
		if ended != nil {
			fmt.Printf("%s %s %s: %s, %.1f s\n%s", time.Now().Format(time.TimeOnly), e.Row, test, ended.End, ended.Took.Seconds(), strings.Join(ended.Output, ""))
		}
		if err != nil {
			break
		}
	}
	return couldRun(ctx, cmd.Wait())
}

// command shows what a command says once it has ended, for tests say theirs meanwhile.
func (r runner) command(ctx context.Context, e matrix.Entry) error {
	var said bytes.Buffer
	began := time.Now()
	cmd := exec.CommandContext(ctx, "bash", "-c", e.Command)
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	took := time.Since(began)
	end := matrix.Passed
	if err != nil {
		end = matrix.Failed
	}
	fmt.Printf("%s %s %s: %s, %.1f s\n%s", time.Now().Format(time.TimeOnly), e.Row, e.Command, end, took.Seconds(), said.String())
	if err := couldRun(ctx, err); err != nil {
		return err // it says nothing about the command
	}
	return r.journal.AddCommand(e.Command, err != nil, took)
}

// couldRun leaves what a program says by its exit status to the results.
func couldRun(ctx context.Context, err error) error {
	if _, said := errors.AsType[*exec.ExitError](err); said && ctx.Err() == nil {
		return nil
	}
	return err
}
