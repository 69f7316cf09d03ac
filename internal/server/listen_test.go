package server

import (
	"bytes"
	"log/slog"
	"net"
	"strings"
	"testing"
)

func TestADefaultPortThatIsTakenIsNamedAndTheNextOneUsed(t *testing.T) {
	t.Parallel()
	// Somebody else may have it, which will do.
	if taken, err := net.Listen("tcp", DefaultListen); err == nil {
		defer taken.Close()
	}
	var log bytes.Buffer
	listener, err := listen(t.Context(), "", func(string) error { return nil }, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if at := listener.Addr().String(); at == DefaultListen || !strings.HasPrefix(at, "127.0.0.1:84") {
		t.Errorf("it listens on %s", at)
	}
	if !strings.Contains(log.String(), "port is taken") || !strings.Contains(log.String(), DefaultListen) {
		t.Errorf("the log does not name the taken port: %s", log.String())
	}
}
