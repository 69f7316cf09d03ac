package faultrig_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// What tells the test binary to be a process of clients, and how many.
const (
	waitersOf    = "FAULTRIG_WAITERS_OF"
	waitersCount = "FAULTRIG_WAITERS"
)

// manyWaits is the other process: it holds so many plain REST waits and says
// which of them were answered. It ends with its standard input.
func manyWaits(url string) error {
	count, err := strconv.Atoi(os.Getenv(waitersCount))
	if err != nil {
		return err
	}
	said := make(chan string)
	go func() {
		// Clients come one after the other, a thousand in half a second.
		pace := time.NewTicker(time.Second / 2000)
		defer pace.Stop()
		for i := range count {
			<-pace.C
			go func() { said <- oneWait(url, waiterID(i)) }()
		}
	}()
	go func() {
		for line := range said {
			fmt.Println(line)
		}
	}()
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// oneWait waits until it is answered with mail. A coordinator that is too busy
// is asked again a little later, as clients do.
func oneWait(url string, id c3po.AgentID) string {
	for {
		status, err := getWait(url, id)
		switch {
		case err != nil:
			return fmt.Sprintf("failed %s: %v", id, err)
		case status == http.StatusOK:
			return fmt.Sprintf("answered %s", id)
		case status != http.StatusServiceUnavailable && status != http.StatusBadGateway:
			return fmt.Sprintf("failed %s: status %d", id, status)
		}
		faultrig.Pass(context.Background(), rand.N(time.Second))
	}
}

// getWait is spelt out on a bare connection: it is to cost this process little.
func getWait(url string, id c3po.AgentID) (status int, err error) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "GET /api/wait?timeout=3600 HTTP/1.1\r\nHost: localhost\r\nX-Agent-ID: %s\r\n\r\n", id); err != nil {
		return 0, err
	}
	answer, err := http.ReadResponse(bufio.NewReaderSize(conn, 512), nil)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, err
}

func waiterID(i int) c3po.AgentID { return c3po.AgentID(fmt.Sprintf("w-%d", i)) }

// startWaiters starts the other process and returns when the coordinator holds
// all of its waits. The channel gives what it says.
func startWaiters(t *testing.T, redis, url string, count int) <-chan string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), waitersOf+"="+url, waitersCount+"="+strconv.Itoa(count))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, count)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(stdout); s.Scan(); {
			lines <- s.Text()
		}
	}()
	t.Cleanup(func() {
		_ = stdin.Close()
		for range lines {
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the process of waiters: %v", err)
		}
	})
	eventuallyWithin(t, 3*time.Minute, fmt.Sprintf("%d waits are held", count), func() bool {
		select {
		case line := <-lines:
			t.Fatalf("before all waits were held: %s", line)
		default:
		}
		held, err := redistest.Do(redis, "ZCARD", "c3po:1:{main}:attached")
		return err == nil && held == int64(count)
	})
	return lines
}

// Claims: A11, A14
func TestManyWaitsCostLittleMemoryAndAHandfulOfConnections(t *testing.T) {
	waits := faultrig.Size(1_000, 10_000)
	redis := redistest.New(t)
	coordinator := faultrig.Start(t, redis.URL())
	sender := agent(t, coordinator.URL(), "sender")
	before := resident(t, coordinator.PID())
	began := time.Now()
	lines := startWaiters(t, redis.URL(), coordinator.URL(), waits)
	t.Logf("%d waits stand after %s", waits, time.Since(began).Round(time.Millisecond))

	each := (lowestResident(t, coordinator.PID(), 3*time.Second) - before) / int64(waits)
	most := int64(28 << 10)
	if !faultrig.Torture() {
		most = 56 << 10 // of few, what a process takes anyway is much
	}
	faultrig.Hold(t, "bytes of resident memory for each wait", each, most)
	// One connection is ours: it asks.
	if connections := info(t, redis.Addr(), "clients", "connected_clients") - 1; connections > 10 {
		t.Errorf("%d connections to Redis", connections)
	} else {
		t.Logf("connections to Redis: %d, limit 10", connections)
	}

	wake(t, sender, lines, waits, 50)
}

// wake sends a message to some of the waiters, and returns when they have it.
func wake(t *testing.T, sender *client.Client, lines <-chan string, waits, woken int) {
	t.Helper()
	want := map[string]bool{}
	for n := range woken {
		id := waiterID(n * waits / woken)
		want["answered "+string(id)] = true
		if _, err := sender.SendMessage(t.Context(), c3po.SendInput{Target: string(id), Message: "wake up"}); err != nil {
			t.Fatal(err)
		}
	}
	timeout := time.After(aWhile)
	for len(want) > 0 {
		select {
		case line := <-lines:
			if !want[line] {
				t.Fatalf("%q, which nobody asked for", line)
			}
			delete(want, line)
		case <-timeout:
			t.Fatalf("%d waits of %d were not answered", len(want), woken)
		}
	}
}

// Claims: A5
func TestAttachedIdleAgentsCostHardlyAWrite(t *testing.T) {
	t.Parallel()
	const agents = 100
	redis := redistest.New(t)
	coordinator := faultrig.Start(t, redis.URL())
	for i := range agents {
		svc := client.New(client.Config{URL: coordinator.URL(), AgentID: waiterID(i)})
		go func() { _, _ = svc.WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 600}) }()
	}
	eventually(t, "all are attached", func() bool {
		held, err := redistest.Do(redis.Addr(), "ZCARD", "c3po:1:{main}:attached")
		return err == nil && held == int64(agents)
	})
	// What the arrival itself costs is written down within a second or two.
	written, since := 0, time.Now()
	eventually(t, "nothing more is written about their arrival", func() bool {
		if n := len(writes(t, redis.Dir())); n != written {
			written, since = n, time.Now()
		}
		return time.Since(since) > 2*time.Second
	})
	before := writes(t, redis.Dir())
	idle := time.Duration(faultrig.Size(20, 60)) * time.Second
	faultrig.Pass(t.Context(), idle)
	after := writes(t, redis.Dir())
	t.Logf("%d attached agents, %s idle: %d writes, limit 4", agents, idle, len(after)-len(before))
	if len(after)-len(before) > 4 {
		t.Errorf("%d writes: %q", len(after)-len(before), after[len(before):])
	}
}

// writes lists what Redis has written to its log, a transaction as one.
func writes(t *testing.T, dir string) []string {
	t.Helper()
	file, err := os.Open(dir + "/appendonlydir/appendonly.aof.1.incr.aof")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []string
	inside := false
	for r := bufio.NewReader(file); ; {
		command, err := logged(r)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return all
		case err != nil:
			t.Fatal(err)
		case command[0] == "SELECT":
		case command[0] == "MULTI":
			inside = true
			all = append(all, "")
		case command[0] == "EXEC":
			inside = false
		case inside:
			all[len(all)-1] += strings.Join(command, " ") + "; "
		default:
			all = append(all, strings.Join(command, " "))
		}
	}
}

// logged reads one command: *2, $3, GET, $1, k.
func logged(r *bufio.Reader) ([]string, error) {
	count, err := prefixed(r, '*')
	if err != nil {
		return nil, err
	}
	words := make([]string, count)
	for i := range words {
		length, err := prefixed(r, '$')
		if err != nil {
			return nil, err
		}
		word := make([]byte, length+2)
		if _, err := io.ReadFull(r, word); err != nil {
			return nil, err
		}
		words[i] = string(word[:length])
	}
	return words, nil
}

func prefixed(r *bufio.Reader, mark byte) (int, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return 0, err
	}
	if line[0] != mark {
		return 0, fmt.Errorf("%q where %c was expected", line, mark)
	}
	return strconv.Atoi(strings.TrimSpace(line[1:]))
}

// info is one number of Redis's INFO.
func info(t *testing.T, addr, section, name string) int {
	t.Helper()
	text, err := redistest.Do(addr, "INFO", section)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text.(string)) {
		if value, found := strings.CutPrefix(line, name+":"); found {
			n, err := strconv.Atoi(strings.TrimSpace(value))
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("INFO %s has no %s", section, name)
	return 0
}

// resident is how much memory a process really has.
func resident(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("this system does not tell how much memory a process has")
	}
	var total, pages int64
	if _, scan := fmt.Sscan(string(text), &total, &pages); err != nil || scan != nil {
		t.Fatal(err, scan)
	}
	return pages * int64(os.Getpagesize())
}

// lowestResident looks for a while: what a burst has left is collected in time.
func lowestResident(t *testing.T, pid int, most time.Duration) int64 {
	t.Helper()
	lowest := resident(t, pid)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(most); time.Now().Before(end); <-tick.C {
		lowest = min(lowest, resident(t, pid))
	}
	return lowest
}
