package scale_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// comeAt is how many of a crowd come in a second: each registers, which is several
// writes, and a handshake takes its time on both sides. If more come than two
// processors register, those who are told to come again are most of the load.
func comeAt(encrypted bool) int {
	if encrypted {
		return 150
	}
	return 400
}

// Claims: A11, A14
func TestACrowdWaitsInTheClear(t *testing.T) { crowdWaits(t, false, 24<<10) }

// Claims: A11, A14
func TestACrowdWaitsOverTLS(t *testing.T) { crowdWaits(t, true, 48<<10) }

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
	var crowds []*faultrig.Crowd
	var before []int64
	var pids []int
	for i := range nodes {
		c := startOne(t, network, cluster.URL(), encrypted)
		s.coordinators = append(s.coordinators, c)
		pids = append(pids, c.PID())
		before = append(before, faultrig.Resident(t, c.PID()))
		crowds = append(crowds, faultrig.StartCrowd(t, c.URL(), spaces[i], each, comeAt(encrypted)))
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
	// After ten seconds they are parked, and what they needed before is given back.
	for i, rss := range faultrig.LowestResident(t, time.Duration(faultrig.Size(1, 40))*time.Second, pids...) {
		heaviest = max(heaviest, (rss-before[i])/int64(each))
	}
	p50, p99 := s.wakeSome(t, s.coordinators[0].URL(), spaces[0], crowds[0], each, rate, seconds)
	if faultrig.Torture() { // of fewer, what a process costs anyway is most
		faultrig.Hold(t, "bytes of resident memory for each wait", heaviest, most)
		const soon = 25 * time.Millisecond
		if p50 > soon {
			t.Logf("this machine does not carry %d messages a second: half of them took %s or more, which says nothing of stalls", rate, p50)
		} else {
			faultrig.Hold(t, fmt.Sprintf("p99 from due to woken, %d waits on the node, %d messages a second", each, rate), p99, soon)
		}
	}
	for i, c := range crowds {
		if failures, busy := c.Failures(); len(failures)+busy > 0 {
			t.Logf("crowd %d had to ask again %d times", i, len(failures)+busy)
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
// the ones before took, and says how long half of them, and the hundredth part, at least
// had to wait.
func (s *site) wakeSome(t *testing.T, url string, space c3po.Space, c *faultrig.Crowd, waiters, rate, seconds int) (p50, p99 time.Duration) {
	t.Helper()
	const senders = 32
	all := rate * seconds
	services := make([]c3po.Service, senders)
	for n := range services {
		services[n] = insecureAgent(t, url, space, c3po.AgentID(fmt.Sprintf("sender-%d", n)))
	}
	faultrig.SendWhenDue(t, services, waiters, rate, all)
	must(t, "every message has woken its waiter", func() bool {
		return len(c.Wakes()) >= all || t.Failed()
	})
	var wakes []time.Duration
	for _, wake := range c.Wakes() {
		wakes = append(wakes, wake.Took)
	}
	slices.Sort(wakes)
	p50, p99 = wakes[len(wakes)/2], wakes[len(wakes)*99/100]
	t.Logf("%d messages at %d a second: p50 %s, slowest %s", len(wakes), rate, p50, wakes[len(wakes)-1])
	return p50, p99
}
