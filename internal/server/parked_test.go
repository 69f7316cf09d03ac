package server_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
	"github.com/c3po-dev/c3po/internal/transport/a2a"
)

// getOver makes a request over a connection that goes on after it.
func getOver(t *testing.T, conn net.Conn, path string) string {
	t.Helper()
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nX-Agent-ID: bob\r\n\r\n", path); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s is answered with %d %s %v", path, answer.StatusCode, body, err)
	}
	return string(body)
}

func TestAConnectionIsStillEncryptedAfterItsWaitWasParked(t *testing.T) {
	t.Parallel()
	c := start(t, server.Config{RedisURL: redistest.Start(t), TLS: server.TLSOn, Config: t.TempDir()})
	_, address, _ := strings.Cut(c.url, "://")
	// #nosec G402 -- not what is tried
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	card := getOver(t, conn, a2a.WellKnown)
	if !strings.Contains(card, `"https://localhost`) {
		t.Fatalf("the card names no encrypted address: %s", card)
	}
	for range 2 {
		getOver(t, conn, "/api/wait?timeout=1")
		if again := getOver(t, conn, a2a.WellKnown); again != card {
			t.Errorf("after a parked wait the card is %s, before it was %s", again, card)
		}
	}
}

func TestWhoIsAtTheOtherEndIsStillKnownAfterItsWaitWasParked(t *testing.T) {
	t.Parallel()
	if !auth.KnowsPeers {
		t.Skip("this system does not say who is at the other end of a socket")
	}
	socket := filepath.Join(t.TempDir(), "s")
	start(t, server.Config{RedisURL: redistest.Start(t), Socket: socket, Auth: auth.Tokens, Started: engine.Started, Lineage: engine.Lineage})
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// No token is shown, so each answer is one that the peer got for being who it is.
	for range 3 {
		getOver(t, conn, "/api/wait?timeout=1")
		if agents := getOver(t, conn, "/api/agents"); !strings.Contains(agents, `"bob"`) {
			t.Errorf("the agents are %s", agents)
		}
	}
}
