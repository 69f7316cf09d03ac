package server_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// The commands of the first one's user would reach the second.
func TestASocketThatACoordinatorListensOnIsNotTakenFromIt(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "c3s") // short, for the socket in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	// What one left behind that was killed is replaced.
	if err := os.WriteFile(socket, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	first := start(t, server.Config{RedisURL: redistest.Start(t), Socket: socket})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	err = server.Run(ctx, server.Config{RedisURL: redistest.Start(t), Listen: "127.0.0.1:0", Auth: auth.None, Socket: socket}, func(string) {
		t.Error("a second one serves")
		stop()
	})
	if !errors.Is(err, c3po.InvalidRequest) || !strings.Contains(c3po.AsError(err).Suggestion, "XDG_RUNTIME_DIR") {
		t.Errorf("the second one ends with %v", err)
	}
	var info c3po.ServerInfo
	first.must(t, "ann", "server_info", c3po.None{}, &info)
	behind, err := client.New(client.Config{URL: first.url, Socket: socket}).ServerInfo(t.Context(), c3po.None{})
	if err != nil || behind.Node != info.Node {
		t.Errorf("behind the socket is %s, not %s: %v", behind.Node, info.Node, err)
	}
}
