package cli

import (
	"bytes"
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/cli/console"
)

func TestTheTabKeyWaitsOnlySoLongForASilentCoordinator(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // it accepts, and nobody reads
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	home := t.TempDir()
	variables := map[string]string{"HOME": home, "C3PO_COORDINATOR_URL": "http://" + silent.Addr().String()}
	var out bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	code := Main(ctx, console.Process{
		Args: []string{"__complete", "send", "b"}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &bytes.Buffer{},
		Getenv: func(name string) string { return variables[name] }, TabTimeout: 10 * time.Millisecond,
	})
	if code != 0 || out.String() != ":4\n" || ctx.Err() != nil {
		t.Errorf("it ends with %d, %v, and offers %q", code, ctx.Err(), out.String())
	}
}
