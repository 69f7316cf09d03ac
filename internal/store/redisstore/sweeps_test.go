package redisstore

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestASweepLooksAtAHundredQueuesInOneStep(t *testing.T) {
	t.Parallel()
	url := redistest.Start(t)
	s, err := Open(t.Context(), Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	space := c3po.Space("main")
	register := func(id c3po.AgentID, capabilities []string) {
		t.Helper()
		if _, err := s.Register(t.Context(), space, store.RegisterStep{Want: id, Explicit: true, Profile: store.Profile{Capabilities: capabilities}}); err != nil {
			t.Fatal(err)
		}
	}
	var many []string
	for n := range 2*queuePage + 1 {
		many = append(many, fmt.Sprintf("queue-%03d", n))
	}
	register("ana", many)
	register("bob", many[7:8])
	sweep := func() {
		t.Helper()
		if err := s.dropQueues(t.Context(), space); err != nil {
			t.Fatal(err)
		}
	}
	sweep() // from then on Redis knows the script
	register("ana", []string{})
	before := usage(t, url).scripts
	sweep()
	if steps := usage(t, url).scripts - before; steps != 3 {
		t.Errorf("%d queues took %d steps, want 3", len(many), steps)
	}
	left, err := s.Queues(t.Context(), space)
	if diff := cmp.Diff([]c3po.AgentID{"role/queue-007"}, left); err != nil || diff != "" {
		t.Errorf("queues that are left (-want +got):\n%s%v", diff, err)
	}
}
