package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// A listener of another user may take the port of a coordinator that has ended.
func TestWhoeverTakesTheCoordinatorsPortIsSentNothing(t *testing.T) {
	t.Parallel()
	home, err := os.MkdirTemp("", "c3h") // its name leaves room for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	run := func(ctx context.Context, url string, args ...string) string {
		read, write := io.Pipe()
		said := make(chan string, 1)
		go func() {
			text, _ := io.ReadAll(read)
			said <- string(text)
		}()
		Main(ctx, Process{Args: args, Stdin: strings.NewReader(""), Stdout: write, Stderr: write, Getenv: func(name string) string {
			switch name {
			case "HOME":
				return home
			case "C3PO_COORDINATOR_URL":
				return url
			}
			return ""
		}})
		_ = write.Close()
		return <-said
	}
	url := serveOnce(t, home)
	config := filepath.Join(home, ".config", "c3po")
	mine, err := paths.ReadCredentials(config)
	if err != nil || mine == nil || !mine.For(url) {
		t.Fatalf("the credentials are %v, %v", mine, err)
	}

	var mu sync.Mutex
	var seen bytes.Buffer
	listener, err := net.Listen("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	impostor := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_ = r.Write(&seen)
		_, _ = w.Write([]byte("{}"))
	})}
	go func() { _ = impostor.Serve(listener) }()
	defer impostor.Close()

	forget := func(change func(*paths.Credentials, *paths.Person)) {
		t.Helper()
		person, err := paths.ReadPerson(config)
		if err != nil {
			t.Fatal(err)
		}
		change(mine, person)
		if err := mine.Write(config); err != nil {
			t.Fatal(err)
		}
		if err := person.Write(config); err != nil {
			t.Fatal(err)
		}
	}
	all := func(known string) {
		for _, told := range []string{"", url} {
			for _, command := range []string{"inbox --as bob", "send ann hello --as bob", "wait --as bob --timeout 1", "agents", "human list", "token list", "top --once", "mcp", "open --print"} {
				run(t.Context(), told, strings.Fields(command)...)
				mu.Lock()
				if text := seen.String(); strings.Contains(text, "c3po_") || strings.Contains(text, "hello") {
					t.Errorf("%s, C3PO_COORDINATOR_URL %q: c3po %s sends whoever listens\n%s", known, told, command, text)
				}
				seen.Reset()
				mu.Unlock()
			}
		}
	}
	all("with its socket known")
	forget(func(c *paths.Credentials, p *paths.Person) { c.Sockets, p.Sockets = nil, nil })
	all("with files of an older version")
}

// serveOnce is the address of a coordinator that has run and ended.
func serveOnce(t *testing.T, home string) string {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	read, write := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- Main(ctx, Process{
			Args: []string{"serve", "--json", "--listen", "127.0.0.1:0", "--redis", redistest.Start(t)}, Stdin: strings.NewReader(""), Stdout: write, Stderr: io.Discard,
			Getenv: func(name string) string {
				if name == "HOME" {
					return home
				}
				return ""
			},
		})
		_ = write.Close()
	}()
	var at struct {
		URL string `json:"url"`
	}
	if err := json.NewDecoder(read).Decode(&at); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, read) }()
	stop()
	if code := <-ended; code != exitOK {
		t.Fatalf("serve ends with %d", code)
	}
	return at.URL
}
