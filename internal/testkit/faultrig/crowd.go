package faultrig

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// What makes the test binary a process of waiters: the coordinator, the space, how
// many, and how many of them come in a second.
const (
	crowdAt    = "FAULTRIG_CROWD_AT"
	crowdSpace = "FAULTRIG_CROWD_SPACE"
	crowdCount = "FAULTRIG_CROWD_COUNT"
	crowdPace  = "FAULTRIG_CROWD_PACE"
)

// A Crowd is a process of many agents that wait, each again and again. It needs Main.
type Crowd struct {
	reader sync.WaitGroup

	mu       sync.Mutex
	wakes    []Wake
	busy     int
	failures []string
}

// A Wake is a message that one of a crowd got.
type Wake struct {
	Agent c3po.AgentID
	Due   time.Time     // the moment that is its text, in nanoseconds; else none
	Took  time.Duration // since then
}

// CrowdID is one of a crowd.
func CrowdID(i int) c3po.AgentID { return c3po.AgentID(fmt.Sprintf("w-%d", i)) }

// SendWhenDue sends messages to waiters of a crowd at random, so many a second, each
// due at its time whatever the ones before took. Its text is when that was.
func SendWhenDue(t testing.TB, senders []c3po.Service, waiters, rate, all int) {
	t.Helper()
	due := make(chan time.Time, all)
	var sending sync.WaitGroup
	for _, svc := range senders {
		sending.Go(func() {
			for at := range due {
				in := c3po.SendInput{Target: string(CrowdID(rand.N(waiters))), Message: strconv.FormatInt(at.UnixNano(), 10)}
				if _, err := svc.SendMessage(t.Context(), in); err != nil {
					t.Error(err)
				}
			}
		})
	}
	began := time.Now()
	for n := range all {
		at := began.Add(time.Duration(n) * time.Second / time.Duration(rate))
		Pass(t.Context(), time.Until(at))
		due <- at
	}
	close(due)
	sending.Wait()
}

// StartCrowd starts one, of which so many come in a second.
func StartCrowd(t testing.TB, url string, space c3po.Space, count, aSecond int) *Crowd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), crowdAt+"="+url, crowdSpace+"="+string(space), crowdCount+"="+strconv.Itoa(count), crowdPace+"="+strconv.Itoa(aSecond))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	said, says, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer says.Close()
	cmd.ExtraFiles = []*os.File{says}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &Crowd{}
	c.reader.Go(func() {
		defer said.Close()
		for s := bufio.NewScanner(said); s.Scan(); {
			c.takeLine(s.Text())
		}
	})
	t.Cleanup(func() {
		_ = stdin.Close()
		c.reader.Wait()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the process of waiters: %v", err)
		}
	})
	return c
}

func (c *Crowd) takeLine(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var w Wake
	var due int64
	if _, err := fmt.Sscanf(line, "woken %s %d %d", &w.Agent, &due, &w.Took); err == nil {
		if due > 0 {
			w.Due = time.Unix(0, due)
		}
		c.wakes = append(c.wakes, w)
	} else if line == "busy" {
		c.busy++
	} else {
		c.failures = append(c.failures, line)
	}
}

// Wakes are the messages that came, in their order.
func (c *Crowd) Wakes() []Wake {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.wakes)
}

// Failures are the waits that ended otherwise than with mail, or a coordinator that
// was too busy; busy is how often that was.
func (c *Crowd) Failures() (failures []string, busy int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.failures), c.busy
}

// crowded is the process, if this is one. It ends with its input.
func crowded() (bool, error) {
	url, space := os.Getenv(crowdAt), os.Getenv(crowdSpace)
	if url == "" {
		return false, nil
	}
	count, err := strconv.Atoi(os.Getenv(crowdCount))
	if err != nil {
		return true, err
	}
	aSecond, err := strconv.Atoi(os.Getenv(crowdPace))
	if err != nil {
		return true, err
	}
	// Its own collector, which goes through a stack for each of them, would be taken
	// for a coordinator that is slow.
	debug.SetGCPercent(-1)
	said := make(chan string, count)
	go func() {
		// Clients come one after the other.
		pace := time.NewTicker(time.Second / time.Duration(aSecond))
		defer pace.Stop()
		for i := range count {
			<-pace.C
			go waitAlways(url, space, CrowdID(i), said)
		}
	}()
	go func() {
		out := os.NewFile(3, "what is said")
		for line := range said {
			fmt.Fprintln(out, line)
		}
	}()
	_, err = io.Copy(io.Discard, os.Stdin)
	return true, err
}

// waitAlways waits as one agent. A coordinator that is too busy is asked again a
// little later, as clients do.
func waitAlways(url, space string, id c3po.AgentID, said chan<- string) {
	for after := int64(0); ; Pass(context.Background(), rand.N(time.Second)) {
		status, err := waitOn(url, space, id, &after, said)
		if status == http.StatusServiceUnavailable || status == http.StatusBadGateway {
			said <- "busy"
		} else {
			said <- fmt.Sprintf("failed %s: status %d, %v", id, status, err)
		}
	}
}

// waitOn waits over one connection until that ends. It is spelt out, to cost this
// process little.
func waitOn(url, space string, id c3po.AgentID, after *int64, said chan<- string) (status int, err error) {
	scheme, address, _ := strings.Cut(url, "://")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if scheme == "https" {
		// #nosec G402 -- whether the coordinator is the right one is not what is measured
		conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
	}
	answers := bufio.NewReaderSize(conn, 512)
	for {
		query := "timeout=3600"
		if *after > 0 {
			query += fmt.Sprintf("&after=%d", *after)
		}
		if _, err := fmt.Fprintf(conn, "GET /api/wait?%s HTTP/1.1\r\nHost: %s\r\nX-Agent-ID: %s\r\nX-C3PO-Space: %s\r\n\r\n", query, address, id, space); err != nil {
			return 0, err
		}
		answer, err := http.ReadResponse(answers, nil)
		if err != nil {
			return 0, err
		}
		var pending c3po.Pending
		err = json.NewDecoder(answer.Body).Decode(&pending)
		_, _ = io.Copy(io.Discard, answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			return answer.StatusCode, err
		}
		*after = pending.Seq
		for _, m := range pending.Messages {
			took := time.Duration(0)
			due, err := strconv.ParseInt(m.Message, 10, 64)
			if err == nil {
				took = time.Since(time.Unix(0, due))
			}
			said <- fmt.Sprintf("woken %s %d %d", id, due, took)
		}
	}
}
