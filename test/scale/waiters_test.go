package scale_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
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

func TestACrowdWaitsInTheClear(t *testing.T) { crowdWaits(t, false, 48<<10) }

func TestACrowdWaitsOverTLS(t *testing.T) { crowdWaits(t, true, 76<<10) }

func crowdWaits(t *testing.T, encrypted bool, most int64) {
	const nodes = 3
	each := faultrig.Size(600, 16_667)
	t.Run(fmt.Sprintf("%d waits", nodes*each), func(t *testing.T) { manyWait(t, encrypted, nodes, each, most) })
}

// soon is what 99 of 100 wakes may take. docs/dev/scale.md tells why they take longer
// where everything shares two processors.
const soon = 25 * time.Millisecond

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
	for _, space := range spaces {
		s.standing(t, space, each)
	}
	t.Logf("%d waits stand after %s", nodes*each, time.Since(began).Round(time.Millisecond))
	heaviest := int64(0)
	// What they needed to begin is given back while they sleep.
	for i, rss := range faultrig.LowestResident(t, time.Duration(faultrig.Size(1, 40))*time.Second, pids...) {
		heaviest = max(heaviest, (rss-before[i])/int64(each))
	}
	woken := s.wakeSome(t, s.coordinators[0], spaces[0], crowds[0], each, rate, seconds)
	if faultrig.Torture() { // of fewer, what a process costs anyway is most
		faultrig.Hold(t, "bytes of resident memory for each wait", heaviest, most)
		few := s.wakeFew(t, startOne(t, network, cluster.URL(), encrypted), rate, seconds, comeAt(encrypted))
		faultrig.Hold(t, fmt.Sprintf("processor time of a wake, %d waits on the node, as a multiple of that among a few", each), float64(woken.cost)/float64(few.cost), 1.5)
		faultrig.Hold(t, fmt.Sprintf("p99 from due to woken while the machine ran at its pace, a few waits, %d messages a second", rate), few.steady, soon)
		if faultrig.Exact() { // on two processors that carry everything else too, it says more of them
			faultrig.Hold(t, fmt.Sprintf("the same, %d waits on the node", each), woken.steady, soon)
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
		Recovery: woken.p99,
	}.Record(t)
}

// standing waits until so many agents of a space are known to wait.
func (s *site) standing(t *testing.T, space c3po.Space, waits int) {
	t.Helper()
	master, _ := s.cluster.Shard(tagOf(space))
	if !faultrig.Within(5*aWhile, func() bool {
		held, err := redistest.Do(master.Addr(), "ZCARD", "c3po:1:"+tagOf(space)+":attached")
		return err == nil && held == int64(waits)
	}) {
		t.Fatalf("%d waits of %s never stood", waits, space)
	}
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

// wakes are what a load of wakes took: half of them, and the hundredth part at least, also
// of those that were due while the machine ran at its pace; and the coordinator's processor
// time for each.
type wakes struct{ p50, p99, steady, cost time.Duration }

// wakeFew wakes as many as wakeSome among few who wait, at a coordinator of their own.
func (s *site) wakeFew(t *testing.T, c *faultrig.Coordinator, rate, seconds, aSecond int) wakes {
	t.Helper()
	const few, space = 600, "few"
	crowd := faultrig.StartCrowd(t, c.URL(), space, few, aSecond)
	s.standing(t, space, few)
	return s.wakeSome(t, c, space, crowd, few, rate, seconds)
}

// wakeSome sends messages to waiters at random, each due at its time whatever
// the ones before took.
func (s *site) wakeSome(t *testing.T, at *faultrig.Coordinator, space c3po.Space, c *faultrig.Crowd, waiters, rate, seconds int) wakes {
	t.Helper()
	const senders = 32
	all := rate * seconds
	services := make([]c3po.Service, senders)
	for n := range services {
		services[n] = insecureAgent(t, at.URL(), space, c3po.AgentID(fmt.Sprintf("sender-%d", n)))
	}
	before, paced := spent(t, at.PID()), faultrig.WatchPace(t)
	faultrig.SendWhenDue(t, services, waiters, rate, all)
	must(t, "every message has woken its waiter", func() bool {
		return len(c.Wakes()) >= all || t.Failed()
	})
	cost, isSteady := (spent(t, at.PID())-before)/time.Duration(all), paced().Steady(soon)
	var took, steady []time.Duration
	for _, wake := range c.Wakes() {
		took = append(took, wake.Took)
		if isSteady(wake.Due) {
			steady = append(steady, wake.Took)
		}
	}
	slices.Sort(took)
	slices.Sort(steady)
	if len(steady) < 100 {
		t.Logf("this machine was never at its pace")
		steady = took
	}
	w := wakes{p50: took[len(took)/2], p99: took[len(took)*99/100], steady: steady[len(steady)*99/100], cost: cost}
	t.Logf("%d messages at %d a second among %d waits: p50 %s, p99 %s, slowest %s; of %d while the machine ran at its pace p99 %s, slowest %s; %s of the coordinator each",
		len(took), rate, waiters, w.p50, w.p99, took[len(took)-1], len(steady), w.steady, steady[len(steady)-1], cost)
	return w
}
