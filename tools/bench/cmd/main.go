// Command cmd measures how fast this machine carries messages:
//
//	go run ./tools/bench/cmd [flags] [SCENARIO …]
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/c3po-dev/c3po/tools/bench"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	code := bench.Command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
