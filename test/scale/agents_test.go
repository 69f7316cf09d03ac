package scale_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func crowdedSpace(i int) c3po.Space { return c3po.Space(fmt.Sprintf("repo-%d", i)) }

func crowdedAgent(i int) c3po.AgentID {
	return c3po.AgentID(fmt.Sprintf("build-box-%d/api-%d", i%100, i))
}

func TestACrowdOfAgentsCostsASenderNothing(t *testing.T) {
	spaces, each := faultrig.Size(20, 1_000), faultrig.Size(100, 1_000)
	t.Run(fmt.Sprintf("%d agents", spaces*each), func(t *testing.T) { manyAgents(t, spaces, each) })
}

func manyAgents(t *testing.T, spaces, each int) {
	masters := forgetfulCluster(t)
	before := usedBy(t, masters)
	began := time.Now()
	register(t, "redis://"+strings.Join(masters, ","), spaces, each)
	took := time.Since(began)
	all := spaces * each
	bytes := float64(usedBy(t, masters)-before) / float64(all)
	t.Logf("%d agents in %d spaces: registered in %s, %.0f a second, %.0f bytes of Redis each", all, spaces, took.Round(time.Millisecond),
		float64(all)/took.Seconds(), bytes)
	if faultrig.Torture() { // of fewer, what a space costs is most
		faultrig.Hold(t, "bytes of Redis for each agent", int(bytes), 1500)
	}

	few := faultrig.Start(t, "redis://"+strings.Join(forgetfulCluster(t), ","))
	many := faultrig.Start(t, "redis://"+strings.Join(masters, ","))
	senders := map[string]*client.Client{
		"few":  agentOf(t, few.URL(), crowdedSpace(1), crowdedAgent(1)),
		"many": agentOf(t, many.URL(), crowdedSpace(1), crowdedAgent(1)),
	}
	agentOf(t, few.URL(), crowdedSpace(1), crowdedAgent(2))
	times := map[string][]time.Duration{}
	for n := range faultrig.Size(100, 2_000) {
		for among, svc := range senders {
			at := time.Now()
			if _, err := svc.SendMessage(t.Context(), c3po.SendInput{Target: string(crowdedAgent(2)), Message: strconv.Itoa(n)}); err != nil {
				t.Fatal(err)
			}
			times[among] = append(times[among], time.Since(at))
		}
	}
	for _, took := range times {
		slices.Sort(took)
	}
	half := len(times["few"]) / 2
	t.Logf("median send: among two agents %s, among %d %s", times["few"][half], all, times["many"][half])
	faultrig.Hold(t, "median send among all, as a multiple of one among two", float64(times["many"][half])/float64(times["few"][half]), 1.2)

	// A name that is nearly right is looked for among all of the space.
	at := time.Now()
	_, err := senders["many"].SendMessage(t.Context(), c3po.SendInput{Target: "build-box-3/apj-3", Message: "hello"})
	if c3po.AsError(err).Code != c3po.AgentNotFound {
		t.Errorf("a name that nobody has: %v", err)
	}
	faultrig.Hold(t, "a refusal with close names", time.Since(at), 50*time.Millisecond)
	faultrig.Verdict{
		Row: "S7", Holds: []faultrig.Invariant{faultrig.BooksBalance},
		Size: fmt.Sprintf("%d agents in %d spaces, %.0f bytes each, registered in %s", all, spaces, bytes, took.Round(time.Second)),
	}.Record(t)
}

// forgetfulCluster is three masters that write nothing to the disk, which is not
// what is measured.
func forgetfulCluster(t *testing.T) []string {
	t.Helper()
	masters := redistest.Cluster(t)
	for _, addr := range masters {
		if _, err := redistest.Do(addr, "CONFIG", "SET", "appendonly", "no", "cluster-node-timeout", fmt.Sprint(calm.Milliseconds())); err != nil {
			t.Fatal(err)
		}
	}
	return masters
}

// register is what coordinators do when agents come, without the way to them.
func register(t *testing.T, url string, spaces, each int) {
	t.Helper()
	redis, err := redisstore.Open(t.Context(), redisstore.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer redis.Close()
	const atOnce = 64
	work := make(chan int)
	var registering sync.WaitGroup
	for range atOnce {
		registering.Go(func() {
			for i := range work {
				step := store.RegisterStep{Want: crowdedAgent(i / spaces)}
				// A machine that is too busy is asked again.
				if !faultrig.Within(aWhile, func() bool {
					_, err := redis.Register(t.Context(), crowdedSpace(i%spaces), step)
					return err == nil
				}) {
					t.Errorf("%s was not registered", step.Want)
				}
			}
		})
	}
	for i := range spaces * each {
		work <- i
	}
	close(work)
	registering.Wait()
}

// usedBy is the memory of all of them.
func usedBy(t *testing.T, masters []string) int64 {
	t.Helper()
	total := int64(0)
	for _, addr := range masters {
		n, err := strconv.ParseInt(infoOf(t, addr, "memory", "used_memory"), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		total += n
	}
	return total
}
