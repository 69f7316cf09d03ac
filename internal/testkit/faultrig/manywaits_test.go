package faultrig_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// startWaiters starts many waits and returns when the coordinator holds them all.
func startWaiters(t *testing.T, redis, url string, count int) *faultrig.Crowd {
	t.Helper()
	crowd := faultrig.StartCrowd(t, url, c3po.DefaultSpace, count, 2000)
	eventuallyWithin(t, 3*time.Minute, fmt.Sprintf("%d waits are held", count), func() bool {
		if failures, _ := crowd.Failures(); len(failures)+len(crowd.Wakes()) > 0 {
			t.Fatalf("before all waits were held: %v %v", failures, crowd.Wakes())
		}
		held, err := redistest.Do(redis, "ZCARD", "c3po:1:{main}:attached")
		return err == nil && held == int64(count)
	})
	return crowd
}

func TestManyWaitsCostLittleMemoryAndAHandfulOfConnections(t *testing.T) {
	waits := faultrig.Size(1_000, 10_000)
	redis := redistest.New(t)
	coordinator := faultrig.Start(t, redis.URL())
	sender := agent(t, coordinator.URL(), "sender")
	before := faultrig.Resident(t, coordinator.PID())
	began := time.Now()
	crowd := startWaiters(t, redis.URL(), coordinator.URL(), waits)
	t.Logf("%d waits stand after %s", waits, time.Since(began).Round(time.Millisecond))

	// What they needed to begin is given back while they sleep.
	rest := time.Duration(faultrig.Size(3, 40)) * time.Second
	each := (faultrig.LowestResident(t, rest, coordinator.PID())[0] - before) / int64(waits)
	most := int64(48 << 10) // docs/dev/scale.md says what it is made of
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

	wake(t, sender, crowd, waits, 50)
}

// wake sends a message to some of the waiters, and returns when they have it.
func wake(t *testing.T, sender *client.Client, crowd *faultrig.Crowd, waits, woken int) {
	t.Helper()
	want, before := map[c3po.AgentID]bool{}, len(crowd.Wakes())
	for n := range woken {
		id := faultrig.CrowdID(n * waits / woken)
		want[id] = true
		if _, err := sender.SendMessage(t.Context(), c3po.SendInput{Target: string(id), Message: "wake up"}); err != nil {
			t.Fatal(err)
		}
	}
	eventuallyWithin(t, aWhile, fmt.Sprintf("all %d have their message", woken), func() bool { return len(crowd.Wakes())-before >= woken })
	for _, wake := range crowd.Wakes()[before:] {
		if !want[wake.Agent] {
			t.Errorf("%s has mail, which nobody sent", wake.Agent)
		}
		delete(want, wake.Agent)
	}
	if failures, _ := crowd.Failures(); len(want)+len(failures) > 0 {
		t.Fatalf("%d waits of %d were not answered: %v", len(want), woken, failures)
	}
}

func TestAttachedIdleAgentsCostHardlyAWrite(t *testing.T) {
	t.Parallel()
	const agents = 100
	redis := redistest.New(t)
	coordinator := faultrig.Start(t, redis.URL())
	for i := range agents {
		svc := client.New(client.Config{URL: coordinator.URL(), AgentID: faultrig.CrowdID(i)})
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
