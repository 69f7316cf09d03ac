package bench

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// commandVariable makes a process of this test run Command.
const commandVariable = "C3PO_BENCH_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(commandVariable) == "" {
		faultrig.Main(m)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer stop()
	os.Exit(Command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// size is the short form of a measurement's size, or with exact bars the whole.
func size(short, whole int) int {
	if faultrig.Exact() {
		return whole
	}
	return short
}

// inMilliseconds is a percentile as a time.
func inMilliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
