package server_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// A socketCoordinator is a coordinator with a socket, and the credentials of its user.
type socketCoordinator struct {
	t      *testing.T
	folder string
	socket string
	url    string
	person paths.Person
}

func newSocketCoordinator(t *testing.T) socketCoordinator {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the parents of processes are read on Linux")
	}
	dir := shortFolder(t)
	h := socketCoordinator{t: t, folder: dir, socket: filepath.Join(dir, "s")}
	c := start(t, server.Config{RedisURL: redistest.Start(t), Socket: h.socket, Config: dir, Auth: auth.Tokens, Started: engine.Started, Lineage: engine.Lineage, Personal: engine.Personal})
	person, err := paths.ReadPerson(dir)
	if err != nil || person == nil {
		t.Fatalf("the person has %v, %v", person, err)
	}
	h.url, h.person = c.url, *person
	return h
}

// curl calls an operation over the socket, from a process of its own, with these
// headers and no other, and returns the answer.
func (h socketCoordinator) curl(op string, headers ...string) string {
	h.t.Helper()
	args := []string{"-s", "--unix-socket", h.socket, "-H", "Content-Type: application/json", "-d", "{}"}
	for _, header := range headers {
		args = append(args, "-H", header)
	}
	out, err := exec.CommandContext(h.t.Context(), "curl", append(args, "http://localhost/api/op/"+op)...).Output()
	if err != nil {
		h.t.Fatal(err)
	}
	return string(out)
}

func runOf(t *testing.T, pid int) string {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return c3po.ProcessRun{Host: host, PID: pid, Start: engine.Started(pid)}.String()
}

// The program that asks may leave out any header, so the kernel is asked.
func TestWhatAnAgentStartedIsNoPersonWhateverItSays(t *testing.T) {
	t.Parallel()
	h := newSocketCoordinator(t)
	token := "Authorization: Bearer " + h.person.Human
	if answer := h.curl("human_list", token); strings.Contains(answer, `"code"`) {
		t.Fatalf("the person's own program is answered %s", answer)
	}
	h.curl("ping", "X-Agent-ID: api", "X-C3PO-Run: "+runOf(t, os.Getpid()))
	for name, headers := range map[string][]string{
		"no word of what started it": {token},
		"a lie about it":             {token, "X-C3PO-Ancestors: box:2:3"},
	} {
		if answer := h.curl("human_list", headers...); !strings.Contains(answer, string(c3po.Forbidden)) {
			t.Errorf("%s: below an agent, a person's token is answered %s", name, answer)
		}
	}
}

func TestNobodyClaimsTheProcessOfAnother(t *testing.T) {
	t.Parallel()
	h := newSocketCoordinator(t)
	shell := exec.CommandContext(t.Context(), "cat") // stands for the person's shell
	in, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	if answer := h.curl("ping", "X-Agent-ID: api", "X-C3PO-Run: "+runOf(t, shell.Process.Pid)); !strings.Contains(answer, string(c3po.Forbidden)) {
		t.Errorf("the run of process %s is given to another: %s", strconv.Itoa(shell.Process.Pid), answer)
	}
	for name, run := range map[string]string{"its own parent": runOf(t, os.Getpid()), "a process elsewhere": "box:7:99", "no process": "a-word"} {
		if answer := h.curl("ping", "X-Agent-ID: api", "X-C3PO-Run: "+run); strings.Contains(answer, string(c3po.Forbidden)) {
			t.Errorf("%s: answered %s", name, answer)
		}
	}
}

// shortFolder is a folder whose name leaves room for that of a socket.
func shortFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "c3s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
