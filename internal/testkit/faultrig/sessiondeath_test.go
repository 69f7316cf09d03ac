package faultrig_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// A coordinator elsewhere cannot see the processes of this host, so the session process
// itself has to say what became of its client.
func TestASessionProcessWhoseClientWasKilledReportsItsDeath(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	node := faultrig.Start(t, redis.URL())
	target, err := url.Parse(node.URL())
	if err != nil {
		t.Fatal(err)
	}
	reported := make(chan c3po.DeathInput, 1)
	forward := httputil.NewSingleHostReverseProxy(target)
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = target.Host
		if strings.HasSuffix(r.URL.Path, "/report_death") {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			var in c3po.DeathInput
			if err := json.Unmarshal(body, &in); err != nil {
				t.Errorf("report_death with %s: %v", body, err)
			}
			reported <- in
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(between.Close)

	bob := shellClient(t, between.URL, faultrig.Home(t))
	registered(t, node.URL())
	killed := time.Now()
	bob.kill()
	select {
	case death := <-reported:
		if run, ok := c3po.ParseProcessRun(death.Run); !ok || run.PID != bob.pid() {
			t.Errorf("the death of %q was reported, want that of process %d", death.Run, bob.pid())
		}
	case <-time.After(aWhile):
		t.Fatal("nothing was reported")
	}
	faultrig.Hold(t, "from the kill to the report", time.Since(killed), 5*time.Second)
	eventually(t, "bob is known to be dead", func() bool {
		bob, err := agent(t, node.URL(), "alice").GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: "bob"})
		return err == nil && bob.Alive != nil && !*bob.Alive
	})
}

// The coordinator is away when a session ends. When it is back it still counts the
// agent as online; the next session on that host knows better, and has its name.
func TestTheNextSessionProcessOnAHostReportsADeathThatNobodyCouldBeToldOf(t *testing.T) {
	t.Parallel()
	node := faultrig.Start(t, redistest.New(t).URL())
	target, err := url.Parse(node.URL())
	if err != nil {
		t.Fatal(err)
	}
	var away, killed atomic.Bool
	var deaf atomic.Int32 // so many reports are not taken, as by a coordinator whose store does not answer
	var told atomic.Bool
	reported := make(chan c3po.DeathInput, 8)
	forward := httputil.NewSingleHostReverseProxy(target)
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() {
			panic(http.ErrAbortHandler)
		}
		r.Host = target.Host
		if strings.HasSuffix(r.URL.Path, "/register_agent") && killed.Load() && !told.Load() {
			t.Error("it registers before the end of the other is told")
		}
		if strings.HasSuffix(r.URL.Path, "/report_death") {
			if deaf.Add(-1) >= 0 {
				w.WriteHeader(http.StatusGatewayTimeout)
				_ = json.NewEncoder(w).Encode(c3po.Errorf(c3po.Timeout, "nobody answers"))
				return
			}
			told.Store(true)
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			var in c3po.DeathInput
			if err := json.Unmarshal(body, &in); err != nil {
				t.Errorf("report_death with %s: %v", body, err)
			}
			reported <- in
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(between.Close)
	home := faultrig.Home(t)
	bob := shellClient(t, between.URL, home)
	registered(t, node.URL())
	away.Store(true)
	bob.kill()
	for bob.out.Scan() { // its session process goes on for a moment
	}
	folder := filepath.Join(home, ".local", "state", "c3po", "runs")
	deaf.Store(2)
	killed.Store(true)
	away.Store(false)
	shellClient(t, between.URL, home)
	select {
	case death := <-reported:
		if run, ok := c3po.ParseProcessRun(death.Run); !ok || run.PID != bob.pid() || death.AgentID != "bob" {
			t.Errorf("%+v was reported, want that of process %d", death, bob.pid())
		}
	case <-time.After(aWhile):
		t.Fatal("the next session process has reported nothing")
	}
	eventually(t, "its note is gone", func() bool {
		notes, _ := os.ReadDir(folder)
		return len(notes) == 1
	})
	registered(t, node.URL())
	if all, err := agent(t, node.URL(), "alice").ListAgents(t.Context(), c3po.ListAgentsInput{}); err != nil || len(all.Agents) != 2 {
		t.Errorf("there are %+v, want bob and who asks: %v", all.Agents, err)
	}
}

// registered waits until bob is online.
func registered(t *testing.T, url string) {
	t.Helper()
	eventually(t, "bob is registered", func() bool {
		bob, err := agent(t, url, "alice").GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: "bob"})
		return err == nil && bob.Status == c3po.Online && bob.State != ""
	})
}

// A shell is a client whose session process is registered as bob.
type shell struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func shellClient(t *testing.T, url, home string) *shell {
	t.Helper()
	// The last command keeps it from becoming the session process.
	s := &shell{t: t, cmd: exec.Command("sh", "-c", `"$0" mcp --as bob; :`, faultrig.Binary(t))}
	s.cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "C3PO_COORDINATOR_URL=" + url}
	in, err := s.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.in, s.out = in, bufio.NewScanner(out)
	t.Cleanup(func() { _, _, _ = s.cmd.Process.Kill(), in.Close(), out.Close() })
	call := func(id int, method, params string) {
		t.Helper()
		if _, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params); err != nil {
			t.Fatal(err)
		}
		for s.out.Scan() {
			if strings.Contains(s.out.Text(), fmt.Sprintf(`"id":%d`, id)) {
				return
			}
		}
		t.Fatalf("no answer to %s", method)
	}
	call(1, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"shell","version":"1"}}`)
	call(2, "tools/call", `{"name":"c3po_hook","arguments":{"hook_event_name":"SessionStart","session_id":"s1"}}`)
	return s
}

func (s *shell) pid() int { return s.cmd.Process.Pid }

// kill ends the client without a word to its session process, which finds its input closed.
func (s *shell) kill() {
	s.t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.cmd.Process.Wait(); err != nil {
		s.t.Fatal(err)
	}
	if err := s.in.Close(); err != nil {
		s.t.Fatal(err)
	}
}
