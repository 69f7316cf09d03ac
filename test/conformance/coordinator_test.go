package conformance_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
	"github.com/c3po-dev/c3po/test/conformance"
)

func TestACoordinatorConforms(t *testing.T) {
	t.Parallel()
	if os.Getenv(conformance.Folder) == "" {
		t.Skip(conformance.Folder + " is not set: make -C test conformance runs this")
	}
	ctx, stop := context.WithCancel(context.Background())
	address, ended := make(chan string, 1), make(chan error, 1)
	// The suite cannot send a token.
	config := server.Config{Listen: "127.0.0.1:0", RedisURL: redistest.New(t).URL(), Version: "1.2.3", Auth: auth.None}
	go func() { ended <- server.Run(ctx, config, func(addr string) { address <- addr }) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case addr := <-address:
		conformance.Run(t, "http://"+addr+"/mcp", "coordinator")
	case <-time.After(30 * time.Second):
		t.Fatal("the coordinator did not start")
	}
}
