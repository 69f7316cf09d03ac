package cli_test

import (
	"archive/zip"
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// The commands that scripts have besides the standard ones.

// exits CODE PROGRAM ARGS... runs a program that must end with that exit code, or
// with one of several (0,1) where what it finds is not the same on every machine.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		code = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	if !slices.Contains(strings.Split(args[0], ","), strconv.Itoa(code)) {
		ts.Fatalf("the exit code is %d, not %s:\n%s%s", code, args[0], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// field VAR FILE KEY... sets a variable to a value in a JSON file; a key that is
// a number picks from an array. FILE may be stdout, or note for the
// coordinator's.
func field(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: field VAR FILE KEY...")
	}
	name := args[1]
	if name == "note" {
		name = filepath.Join(stateFolder(ts.Getenv("HOME")), "coordinator.json")
	}
	var value any
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(name)))
	d.UseNumber()
	ts.Check(d.Decode(&value))
	for _, key := range args[2:] {
		switch v := value.(type) {
		case map[string]any:
			value = v[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(v) {
				ts.Fatalf("there is no %s among %d", key, len(v))
			}
			value = v[i]
		default:
			ts.Fatalf("there is no %s in %v", key, value)
		}
	}
	if value == nil {
		ts.Fatalf("%s has no %s", args[1], strings.Join(args[2:], " "))
	}
	ts.Setenv(args[0], fmt.Sprint(value))
}

// killpid PID ends a process as a crash would, and waits until it is gone.
func killPID(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: killpid PID")
	}
	pid, err := strconv.Atoi(args[0])
	if err != nil || pid < 2 {
		ts.Fatalf("%q is no process", args[0])
	}
	process, err := os.FindProcess(pid)
	ts.Check(err)
	ts.Check(process.Kill())
	eventually(ts, "the process ends", func() bool { return engine.Started(pid) == 0 })
}

// redises N [VAR] says how many Redis servers use the data of this home, and sets a
// variable to the process number of the only one.
func redises(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: redises N [VAR]")
	}
	if runtime.GOOS != "linux" {
		return
	}
	found := redisProcesses(ts.Getenv("HOME"))
	if strconv.Itoa(len(found)) != args[0] {
		ts.Fatalf("%d Redis servers run, not %s: %s", len(found), args[0], found)
	}
	if len(args) == 2 {
		ts.Setenv(args[1], filepath.Base(found[0]))
	}
}

// await PROGRAM ARGS... runs a program again and again until it succeeds, or
// with ! until it fails.
func await(ts *testscript.TestScript, neg bool, args []string) {
	eventually(ts, strings.Join(args, " "), func() bool { return (ts.Exec(args[0], args[1:]...) == nil) != neg })
}

// line VAR FILE EXPRESSION waits for a line of a file and sets a variable to the
// first group of the expression.
func line(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: line VAR FILE EXPRESSION")
	}
	expression, err := regexp.Compile(args[2])
	ts.Check(err)
	eventually(ts, args[2], func() bool {
		data, _ := os.ReadFile(ts.MkAbs(args[1]))
		groups := expression.FindSubmatch(data)
		if groups != nil {
			ts.Setenv(args[0], string(groups[1]))
		}
		return groups != nil
	})
}

// op AGENT NAME ARGUMENTS makes a call that no command of ours makes; its
// answer is what stdout then is.
func op(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: op AGENT NAME ARGUMENTS, or op AGENT /PATH BODY")
	}
	field(ts, false, []string{"opurl", "note", "url"})
	at := args[1]
	if !strings.HasPrefix(at, "/") {
		at = "/api/op/" + at
	}
	q, err := http.NewRequest(http.MethodPost, ts.Getenv("opurl")+at, strings.NewReader(args[2]))
	ts.Check(err)
	q.Header.Set("X-Agent-ID", args[0])
	mine, err := paths.ReadCredentials(filepath.Join(ts.Getenv("HOME"), ".config", "c3po"))
	ts.Check(err)
	q.Header.Set("Authorization", "Bearer "+mine.Token)
	q.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(q)
	ts.Check(err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	ts.Check(err)
	if answer.StatusCode != http.StatusOK {
		ts.Fatalf("%s: %s %s", args[1], answer.Status, body)
	}
	_, err = ts.Stdout().Write(body)
	ts.Check(err)
}

// agent-run NAME makes this process, which has started the script's programs, the
// run of an agent.
func agentRun(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: agent-run NAME")
	}
	field(ts, false, []string{"opurl", "note", "url"})
	mine, err := paths.ReadCredentials(filepath.Join(ts.Getenv("HOME"), ".config", "c3po"))
	ts.Check(err)
	host, err := os.Hostname()
	ts.Check(err)
	agent := client.New(client.Config{
		URL: ts.Getenv("opurl"), Socket: mine.SocketOf(ts.Getenv("opurl")), AgentID: c3po.AgentID(args[0]),
		Run: fmt.Sprintf("%s:%d:%d", host, os.Getpid(), engine.Started(os.Getpid())),
	})
	_, err = agent.Ping(context.Background(), c3po.None{})
	ts.Check(err)
}

// hangup VAR starts a coordinator that reads requests and never answers them.
func hangUp(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hangup VAR")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if q, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				_, _ = io.Copy(io.Discard, q.Body)
			}
			conn.Close()
		}
	}()
	ts.Setenv(args[0], "http://"+listener.Addr().String())
}

// up-cut-short kills a `c3po up` as soon as what it started is alive.
func upCutShort(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: up-cut-short")
	}
	up := exec.Command(filepath.Join(ts.Getenv("BIN"), "c3po"), "up")
	for _, name := range []string{"HOME", "PATH", "TMPDIR", "C3PO_LISTEN", "GORACE", topVariable} {
		up.Env = append(up.Env, name+"="+ts.Getenv(name))
	}
	ts.Check(up.Start())
	lock := filepath.Join(stateFolder(ts.Getenv("HOME")), "coordinator.lock")
	eventually(ts, "the coordinator is being started", func() bool {
		if _, err := os.Stat(lock); err != nil {
			return false
		}
		held, err := paths.TryLock(lock)
		if err == nil && held != nil {
			err = held.Release()
		}
		ts.Check(err)
		return held == nil
	})
	ts.Check(up.Process.Kill())
	_ = up.Wait() // it was killed, or was already done
}

func eventually(ts *testscript.TestScript, what string, done func() bool) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(2 * time.Minute)
	for !done() {
		select {
		case <-tick.C:
		case <-limit:
			ts.Fatalf("it did not happen within two minutes: %s", what)
		}
	}
}

// inzip FILE TEXT... wants each text to be in a file of the archive, or the name
// of one; with ! none of them.
func inZip(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: [!] inzip FILE TEXT...")
	}
	archive, err := zip.OpenReader(ts.MkAbs(args[0]))
	ts.Check(err)
	defer archive.Close()
	var all strings.Builder
	for _, file := range archive.File {
		open, err := file.Open()
		ts.Check(err)
		fmt.Fprintf(&all, "\n%s:\n", file.Name)
		_, err = io.Copy(&all, open) // #nosec G110 -- written by the command under test
		ts.Check(err)
		ts.Check(open.Close())
	}
	for _, text := range args[1:] {
		if strings.Contains(all.String(), text) == neg {
			ts.Fatalf("%q is in %s: %t", text, args[0], neg)
		}
	}
}
