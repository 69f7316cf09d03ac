package scale_test

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
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// What makes the test binary a process of waiters: the coordinator, the space,
// and how many.
const (
	waitersAt    = "SCALE_WAITERS_AT"
	waitersSpace = "SCALE_WAITERS_SPACE"
	waitersCount = "SCALE_WAITERS"
)

// holdWaits is such a process: it holds so many waits, again and again, and says
// how long after its text each message came. It ends with its input.
func holdWaits(in io.Reader, out io.Writer) error {
	count, err := strconv.Atoi(os.Getenv(waitersCount))
	if err != nil {
		return err
	}
	said := make(chan string, count)
	go func() {
		// Clients come one after the other: each registers, which is several writes, and
		// a handshake takes its time on both sides. If more come than two processors
		// register, those who are told to come again are most of the load.
		aSecond := 400
		if strings.HasPrefix(os.Getenv(waitersAt), "https") {
			aSecond = 150
		}
		pace := time.NewTicker(time.Second / time.Duration(aSecond))
		defer pace.Stop()
		for i := range count {
			<-pace.C
			go waitAlways(os.Getenv(waitersAt), os.Getenv(waitersSpace), waiter(i), said)
		}
	}()
	go func() {
		for line := range said {
			fmt.Fprintln(out, line)
		}
	}()
	_, err = io.Copy(io.Discard, in)
	return err
}

func waiter(i int) c3po.AgentID { return c3po.AgentID(fmt.Sprintf("w-%d", i)) }

// waitAlways waits as one agent. A coordinator that is too busy is asked again a
// little later, as clients do.
func waitAlways(url, space string, id c3po.AgentID, said chan<- string) {
	after := int64(0)
	for {
		err := waitOn(url, space, id, &after, said)
		if err != nil {
			said <- fmt.Sprintf("again %s: %v", id, err)
		}
		faultrig.Pass(context.Background(), rand.N(time.Second))
	}
}

// waitOn is spelt out on a bare connection: it is to cost this process little.
func waitOn(url, space string, id c3po.AgentID, after *int64, said chan<- string) error {
	scheme, address, _ := strings.Cut(url, "://")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
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
			return err
		}
		answer, err := http.ReadResponse(answers, nil)
		if err != nil {
			return err
		}
		var pending c3po.Pending
		err = json.NewDecoder(answer.Body).Decode(&pending)
		_, _ = io.Copy(io.Discard, answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d, %w", answer.StatusCode, err)
		}
		*after = pending.Seq
		for _, m := range pending.Messages {
			due, err := strconv.ParseInt(m.Message, 10, 64)
			if err != nil {
				return err
			}
			said <- fmt.Sprintf("woken %d", time.Since(time.Unix(0, due)))
		}
	}
}

// A crowd is a process of waiters.
type crowd struct {
	reader sync.WaitGroup

	mu    sync.Mutex
	again int
	wakes []time.Duration
}

// startCrowd starts one.
func startCrowd(t *testing.T, url string, space c3po.Space, count int) *crowd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), waitersAt+"="+url, waitersSpace+"="+string(space), waitersCount+"="+strconv.Itoa(count))
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
	c := &crowd{}
	c.reader.Go(func() {
		for s := bufio.NewScanner(stdout); s.Scan(); {
			c.heard(s.Text())
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

func (c *crowd) heard(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	took, woken := strings.CutPrefix(line, "woken ")
	if !woken {
		c.again++
		return
	}
	n, err := strconv.ParseInt(took, 10, 64)
	if err == nil {
		c.wakes = append(c.wakes, time.Duration(n))
	}
}

// woken is how many messages have come, and how many waits had to be asked again.
func (c *crowd) woken() (wakes []time.Duration, again int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.wakes), c.again
}

// Claims: A11, A14
func TestACrowdWaitsInTheClear(t *testing.T) { crowdWaits(t, false, 28<<10) }

// Claims: A11, A14
func TestACrowdWaitsOverTLS(t *testing.T) { crowdWaits(t, true, 60<<10) }

func crowdWaits(t *testing.T, encrypted bool, most int64) {
	const nodes = 3
	each := faultrig.Size(600, 16_667)
	t.Run(fmt.Sprintf("%d waits", nodes*each), func(t *testing.T) { manyWait(t, encrypted, nodes, each, most) })
}

func manyWait(t *testing.T, encrypted bool, nodes, each int, most int64) {
	rate, seconds := faultrig.Size(200, 1_000), faultrig.Size(2, 10)
	network := faultrig.NewNetwork(t)
	cluster := redistest.NewReplicated(t, network.Address(), "--cluster-node-timeout", fmt.Sprint(calm.Milliseconds()))
	s := &site{cluster: cluster}
	spaces := s.spaces()
	var crowds []*crowd
	var before []int64
	for i := range nodes {
		c := startOne(t, network, cluster.URL(), encrypted)
		s.coordinators = append(s.coordinators, c)
		before = append(before, resident(t, c.PID()))
		crowds = append(crowds, startCrowd(t, c.URL(), spaces[i], each))
	}
	began := time.Now()
	for i, space := range spaces {
		master, _ := cluster.Shard(tagOf(space))
		if !faultrig.Within(5*aWhile, func() bool {
			held, err := redistest.Do(master.Addr(), "ZCARD", "c3po:1:"+tagOf(space)+":attached")
			return err == nil && held == int64(each)
		}) {
			t.Fatalf("coordinator %d never held %d waits", i, each)
		}
	}
	t.Logf("%d waits stand after %s", nodes*each, time.Since(began).Round(time.Millisecond))
	heaviest := int64(0)
	for i, rss := range lowest(t, s.coordinators, time.Duration(faultrig.Size(1, 20))*time.Second) {
		heaviest = max(heaviest, (rss-before[i])/int64(each))
	}
	p99 := s.wakeSome(t, s.coordinators[0].URL(), spaces[0], crowds[0], each, rate, seconds)
	if faultrig.Torture() { // of fewer, what a process costs anyway is most
		faultrig.Hold(t, "bytes of resident memory for each wait", heaviest, most)
		faultrig.Hold(t, fmt.Sprintf("p99 from due to woken, %d waits on the node, %d messages a second", each, rate), p99, 25*time.Millisecond)
	}
	for i, c := range crowds {
		if _, again := c.woken(); again > 0 {
			t.Logf("crowd %d had to ask again %d times", i, again)
		}
	}
	faultrig.Verdict{
		Row: "S6", Holds: []faultrig.Invariant{faultrig.NoWakeIsLost},
		Size:     fmt.Sprintf("%d waits on 3 coordinators, TLS %t, %d bytes each; %d messages at %d a second", nodes*each, encrypted, heaviest, rate*seconds, rate),
		Recovery: p99,
	}.Record(t)
}

// startOne starts a coordinator on a host of its own, or, as it would not let
// everybody in there who comes encrypted, with TLS on this one.
func startOne(t *testing.T, network *faultrig.Network, redis string, encrypted bool) *faultrig.Coordinator {
	t.Helper()
	if encrypted {
		return faultrig.Start(t, redis, "--tls", "on", "--log-level", "warn")
	}
	return faultrig.StartOn(t, network.Host(), redis, "--log-level", "warn")
}

// wakeSome sends messages to waiters at random, each due at its time whatever
// the ones before took, and says how long the hundredth part at least had to wait.
func (s *site) wakeSome(t *testing.T, url string, space c3po.Space, c *crowd, waiters, rate, seconds int) time.Duration {
	t.Helper()
	const senders = 32
	all := rate * seconds
	due := make(chan time.Time, all)
	var sending sync.WaitGroup
	for n := range senders {
		svc := insecureAgent(t, url, space, c3po.AgentID(fmt.Sprintf("sender-%d", n)))
		sending.Go(func() {
			for at := range due {
				in := c3po.SendInput{Target: string(waiter(rand.N(waiters))), Message: strconv.FormatInt(at.UnixNano(), 10)}
				if _, err := svc.SendMessage(t.Context(), in); err != nil {
					t.Error(err)
				}
			}
		})
	}
	began := time.Now()
	for n := range all {
		at := began.Add(time.Duration(n) * time.Second / time.Duration(rate))
		faultrig.Pass(t.Context(), time.Until(at))
		due <- at
	}
	close(due)
	sending.Wait()
	must(t, "every message has woken its waiter", func() bool {
		wakes, _ := c.woken()
		return len(wakes) >= all || t.Failed()
	})
	wakes, _ := c.woken()
	slices.Sort(wakes)
	t.Logf("%d messages at %d a second: p50 %s, slowest %s", len(wakes), rate, wakes[len(wakes)/2], wakes[len(wakes)-1])
	return wakes[len(wakes)*99/100]
}
