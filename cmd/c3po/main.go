// Command c3po lets coding agents ask each other for help.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/c3po-dev/c3po/internal/cli"
)

// Set by the linker.
var version, commit string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, cli.Process{
		Name: os.Args[0], Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Version: version, Commit: commit,
	})
	stop()
	os.Exit(code)
}
