// Package scale shows what several coordinators over a Redis Cluster do: behind
// a balancer, on hosts with cables that can be pulled, at sizes that one process
// cannot hold. The tests run one after the other: each needs the machine.
package scale_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// aWhile is long enough for what must happen, on any machine.
const aWhile = 2 * time.Minute

func TestMain(m *testing.M) { faultrig.Main(m) }

// A site is three coordinators on hosts of their own, behind a balancer, over a
// cluster of three masters with a replica each.
type site struct {
	cluster      *redistest.Replicated
	hosts        []*faultrig.Host
	coordinators []*faultrig.Coordinator
	balancer     *faultrig.Balancer
}

// newSite builds one. patience is how long a server may be silent before the
// others call it dead: long, where a busy machine must not bring a failover about.
func newSite(t *testing.T, patience time.Duration) *site {
	t.Helper()
	const nodes = 3
	network := faultrig.NewNetwork(t)
	s := &site{cluster: redistest.NewReplicated(t, network.Address(),
		"--appendfsync", "always", "--cluster-node-timeout", fmt.Sprint(patience.Milliseconds()))}
	var urls []string
	for range nodes {
		host := network.Host()
		coordinator := faultrig.StartOn(t, host, s.cluster.URL())
		s.hosts, s.coordinators, urls = append(s.hosts, host), append(s.coordinators, coordinator), append(urls, coordinator.URL())
	}
	s.balancer = faultrig.NewBalancer(t, urls...)
	return s
}

// spaces are three, the nth on the nth shard.
func (s *site) spaces() []c3po.Space {
	servers := s.cluster.Servers()
	found := make([]c3po.Space, len(servers)/2)
	for n, left := 0, len(found); left > 0; n++ {
		space := c3po.Space(fmt.Sprintf("team-%d", n))
		master, _ := s.cluster.Shard(tagOf(space))
		for i := range found {
			if servers[i] == master && found[i] == "" {
				found[i] = space
				left--
			}
		}
	}
	return found
}

// tagOf is any key of a space, as far as its slot goes.
func tagOf(space c3po.Space) string { return "{" + string(space) + "}" }

// alarms is how often the coordinators have noticed that the store went back.
func (s *site) alarms(t *testing.T) int {
	t.Helper()
	total := 0
	for _, c := range s.coordinators {
		total += metric(t, c.URL(), "c3po_store_rollback_total")
	}
	return total
}

// metric is one number of a coordinator's.
func metric(t *testing.T, url, name string) int {
	t.Helper()
	answer, err := http.Get(url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, name+" "); found {
			var n int
			if _, err := fmt.Sscan(value, &n); err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("%s has no %s", url, name)
	return 0
}

// must polls until something holds, or ends the test.
func must(t *testing.T, what string, holds func() bool) {
	t.Helper()
	if !faultrig.Within(aWhile, holds) {
		t.Fatalf("it never came to this: %s", what)
	}
}

// agentOf is a client of one agent, registered.
func agentOf(t *testing.T, url string, space c3po.Space, id c3po.AgentID) *client.Client {
	t.Helper()
	svc := client.New(client.Config{URL: url, Space: space, AgentID: id})
	must(t, fmt.Sprintf("%s is registered", id), func() bool {
		_, err := svc.RegisterAgent(t.Context(), c3po.RegisterInput{})
		return err == nil
	})
	return svc
}

// ended says whether an error is only that of the context.
func ended(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, context.Canceled)
}
