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
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/faultrig"
	"github.com/c3po-dev/c3po/internal/redistest"
)

// A coordinator elsewhere cannot see the processes of this host, so the bridge
// itself has to say what became of its client.
//
// Claims: C3
func TestABridgeWhoseClientWasKilledReportsItsDeath(t *testing.T) {
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

	// A shell is the client; the last command keeps it from becoming the bridge.
	shell := exec.Command("sh", "-c", `"$0" mcp --as bob; :`, faultrig.Binary(t))
	shell.Env = []string{"HOME=" + faultrig.Home(t), "PATH=" + os.Getenv("PATH"), "C3PO_COORDINATOR_URL=" + between.URL}
	in, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	pid := shell.Process.Pid
	t.Cleanup(func() { _, _, _ = shell.Process.Kill(), in.Close(), out.Close() })
	lines := bufio.NewScanner(out)
	call := func(id int, method, params string) {
		t.Helper()
		if _, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			if strings.Contains(lines.Text(), fmt.Sprintf(`"id":%d`, id)) {
				return
			}
		}
		t.Fatalf("no answer to %s", method)
	}
	call(1, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"shell","version":"1"}}`)
	call(2, "tools/call", `{"name":"set_status","arguments":{"status":"busy"}}`)

	killed := time.Now()
	if err := shell.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := shell.Process.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case death := <-reported:
		if run, ok := c3po.ParseProcessRun(death.Run); !ok || run.PID != pid {
			t.Errorf("the death of %q was reported, want that of process %d", death.Run, pid)
		}
	case <-time.After(25 * time.Second):
		t.Fatal("nothing was reported")
	}
	faultrig.Hold(t, "from the kill to the report", time.Since(killed), 5*time.Second)
	eventually(t, "bob is known to be dead", func() bool {
		bob, err := agent(t, node.URL(), "alice").GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: "bob"})
		return err == nil && bob.Alive != nil && !*bob.Alive
	})
}
