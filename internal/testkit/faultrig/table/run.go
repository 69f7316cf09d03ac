package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig/matrix"
)

// A runner runs entries one package after the other: two of them at once would
// take each other's time.
type runner struct {
	results *matrix.Results
	journal *matrix.Journal
	most    time.Duration
}

// run returns an error only if it could not run; what failed is in the results. What
// has passed before, by the journal, is not run again.
func (r runner) run(ctx context.Context, entries []matrix.Entry) error {
	var folders, commands []string
	tests := map[string][]string{}
	for _, e := range entries {
		switch {
		case r.results.Of(e).End == matrix.Passed:
		case e.Command != "" && !slices.Contains(commands, e.Command):
			commands = append(commands, e.Command)
		case e.Command == "" && len(tests[e.Package]) == 0:
			folders = append(folders, e.Package)
			fallthrough
		case e.Command == "" && !slices.Contains(tests[e.Package], e.Test):
			tests[e.Package] = append(tests[e.Package], e.Test)
		}
	}
	for _, folder := range folders {
		if err := r.tests(ctx, folder, tests[folder]); err != nil {
			return err
		}
	}
	for _, command := range commands {
		if err := r.command(ctx, command); err != nil {
			return err
		}
	}
	return nil
}

func (r runner) tests(ctx context.Context, folder string, names []string) error {
	fmt.Printf("%s: %d tests\n", folder, len(names))
	cmd := exec.CommandContext(ctx, "go", "test", "-json", "-count=1", "-timeout", r.most.String(),
		"-run", "^("+strings.Join(names, "|")+")$", folder)
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
			fmt.Printf("  %s: %s, %.1f s\n", test, ended.End, ended.Took.Seconds())
			for _, said := range ended.Output {
				fmt.Print("    ", said)
			}
		} else if strings.Contains(line, `"Action":"build-output"`) {
			fmt.Print("  ", line)
		}
		if err != nil {
			break
		}
	}
	return couldRun(ctx, cmd.Wait())
}

func (r runner) command(ctx context.Context, command string) error {
	fmt.Printf("%s\n", command)
	began := time.Now()
	cmd := exec.CommandContext(ctx, "bash", "-c", command)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err := cmd.Run()
	if err := couldRun(ctx, err); err != nil {
		return err // it says nothing about the command
	}
	return r.journal.AddCommand(command, err != nil, time.Since(began))
}

// couldRun leaves what a program says by its exit status to the results.
func couldRun(ctx context.Context, err error) error {
	if _, said := errors.AsType[*exec.ExitError](err); said && ctx.Err() == nil {
		return nil
	}
	return err
}
