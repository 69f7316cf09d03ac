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

	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/engine"
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
		Main(ctx, console.Process{Args: args, Stdin: strings.NewReader(""), Stdout: write, Stderr: write, Getenv: func(name string) string {
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
		ended <- Main(ctx, console.Process{
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
	if code := <-ended; code != console.ExitOK {
		t.Fatalf("serve ends with %d", code)
	}
	return at.URL
}

// An agent may end the coordinator and listen on its socket.
func TestWhoeverTakesTheCoordinatorsSocketIsSentNothing(t *testing.T) {
	t.Parallel()
	if !auth.KnowsPeers {
		t.Skip("nobody can tell who listens")
	}
	home, err := os.MkdirTemp("", "c3h") // its name leaves room for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
	folders := paths.Folders{Getenv: getenv}
	socket, err := folders.Socket("coordinator.sock")
	if err != nil {
		t.Fatal(err)
	}
	const url = "http://127.0.0.1:9"
	config := filepath.Join(home, ".config", "c3po")
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := (paths.Person{URL: url, Human: "c3po_human_secret", Admin: "c3po_admin_secret", Sockets: map[string]string{url: socket}}).Write(config); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var seen bytes.Buffer
	impostor := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_ = r.Write(&seen)
		_, _ = w.Write([]byte("[]"))
	})}
	go func() { _ = impostor.Serve(listener) }()
	defer impostor.Close()
	told := func(note *paths.Coordinator) string {
		t.Helper()
		if note != nil {
			if err := note.Write(filepath.Dir(socket)); err != nil {
				t.Fatal(err)
			}
		}
		mu.Lock()
		seen.Reset()
		mu.Unlock()
		var all sync.WaitGroup
		for _, command := range []string{"human list", "token list", "inbox --as bob"} {
			all.Go(func() {
				Main(t.Context(), console.Process{Args: strings.Fields(command), Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Getenv: func(name string) string {
					if name == "C3PO_COORDINATOR_URL" {
						return url
					}
					return getenv(name)
				}})
			})
		}
		all.Wait()
		mu.Lock()
		defer mu.Unlock()
		return seen.String()
	}
	me := paths.Coordinator{URL: url, Socket: socket, PID: os.Getpid(), Started: engine.Started(os.Getpid())}
	if text := told(&me); !strings.Contains(text, "c3po_human_secret") {
		t.Fatalf("the coordinator is sent %s", text)
	}
	other := me
	other.PID, other.Started = os.Getppid(), engine.Started(os.Getppid())
	if text := told(&other); text != "" {
		t.Errorf("who listens in the place of another process is sent %s", text)
	}
	earlier := me
	earlier.Started--
	if text := told(&earlier); text != "" {
		t.Errorf("who has the number of a process that has ended is sent %s", text)
	}
	if err := other.Remove(filepath.Dir(socket)); err != nil {
		t.Fatal(err)
	}
	if err := earlier.Remove(filepath.Dir(socket)); err != nil {
		t.Fatal(err)
	}
	if text := told(nil); text != "" {
		t.Errorf("who listens where no coordinator runs is sent %s", text)
	}
}
