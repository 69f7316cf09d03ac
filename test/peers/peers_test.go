// Package peers measures other systems beside c3po, doing the same work in the
// same run: a message of 1 KB is stored, waited for by who it is for, and acked.
package peers

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/tools/bench"
)

const startTimeout = 20 * time.Second

// What tells the test binary to be a peer, and where it may write.
const (
	peerName   = "C3PO_PEER"
	peerFolder = "C3PO_PEER_FOLDER"
)

func TestMain(m *testing.M) {
	serve := map[string]func(folder string) error{syncedNATS: serveNATS, defaultNATS: serveNATS, "mcp": serveMCP}[os.Getenv(peerName)]
	if serve == nil {
		os.Exit(m.Run())
	}
	if err := serve(os.Getenv(peerFolder)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A process is a peer that runs by itself, so that its time can be told.
type process struct {
	cmd     *exec.Cmd
	stdin   io.Closer
	folder  string
	address string
}

func startProcess(name string) (*process, error) {
	folder, err := os.MkdirTemp("", "c3po-peer-")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), peerName+"="+name, peerFolder+"="+folder)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, stdin: stdin, folder: folder}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("%s did not start: %w", name, err)
	}
	p.address = strings.TrimSpace(line)
	return p, nil
}

// PID is whose processor time is told.
func (p *process) PID() int { return p.cmd.Process.Pid }

// Close ends it and forgets what it wrote.
func (p *process) Close() error {
	_ = p.stdin.Close()
	err := p.cmd.Wait()
	if cause := os.RemoveAll(p.folder); err == nil {
		err = cause
	}
	return err
}

// TestSideBySide prints; it compares nothing, because what a peer does is not
// ours to hold. All of them must have done the work.
func TestSideBySide(t *testing.T) {
	program := filepath.Join(t.TempDir(), "c3po")
	build := exec.Command("go", "build", "-o", program, "./cmd/c3po")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	length := time.Duration(faultrig.Size(300, 15_000)) * time.Millisecond
	var reports []bench.Report
	for _, concurrency := range []int{1, faultrig.Size(8, 64), faultrig.Size(16, 256)} {
		report, err := bench.Run(t.Context(), bench.Config{
			Scenario: bench.Deliver, Length: length, Concurrency: concurrency, Program: program,
			Peers: []bench.Peer{peerNATS(syncedNATS), peerNATS(defaultNATS), {Name: "plain-mcp", Start: startMCP}},
		})
		if err != nil {
			t.Fatal(err)
		}
		reports = append(reports, report)
		t.Logf("%s: %s", report.Scenario, report.Headline())
		for _, row := range report.Table() {
			t.Log(strings.Join(row, "\t"))
		}
		for _, f := range report.Doors {
			if f.Operations == 0 {
				t.Errorf("%s carried nothing, %d at once", f.Door, concurrency)
			}
		}
	}
}
