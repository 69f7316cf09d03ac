package mcpserver_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/transport/mcpserver"
	"github.com/c3po-dev/c3po/test/conformance"
)

// What a coordinator offers is a small part of the protocol, so most scenarios
// find nothing there to try. This shows that the front door changes nothing of
// what passes through it: behind it stands the SDK's own server for the suite. The
// front door itself answers for two of its tools.
func TestTheFrontDoorKeepsAConformingServerConforming(t *testing.T) {
	t.Parallel()
	if os.Getenv(conformance.Folder) == "" {
		t.Skip(conformance.Folder + " is not set: make -C test conformance runs this")
	}
	behind := &url.URL{Scheme: "http", Host: startEverything(t)}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	proxy := &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(behind)
			r.Out.Host = r.In.Host // it is looked at
		},
	}
	s := mcpserver.New(mcpserver.Config{Service: always(&scripted{}), Version: "1.2.3"})
	front := httptest.NewServer(s.HandlerBefore(proxy, map[string]string{
		"test_simple_text": "ping", "test_error_handling": "get_agent_status", // of nobody
	}))
	t.Cleanup(front.Close)
	conformance.Run(t, front.URL, "everything")
}

// startEverything builds and starts the server that the SDK is tested with, and
// gives its address.
func startEverything(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "everything")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "github.com/modelcontextprotocol/go-sdk/conformance/everything-server")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	server := exec.Command(binary, "-http", address)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	for deadline := time.Now().Add(10 * time.Second); ; faultrig.Pass(t.Context(), 20*time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
			return address
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}
