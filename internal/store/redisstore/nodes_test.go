package redisstore_test

import (
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestANodeThatIsAwayHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	cluster := redistest.NewReplicated(t, "127.0.0.1", "--appendfsync", "always")
	open := func() *redisstore.Store {
		store, err := redisstore.Open(t.Context(), redisstore.Config{URL: cluster.URL()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(store.Close)
		return store
	}
	before := open()
	if got, err := before.Durability(t.Context()); err != nil || got != c3po.OnDisk {
		t.Fatalf("durability of the whole cluster = %q, %v", got, err)
	}
	after := open()
	cluster.Servers()[2].Kill()
	for range 30 { // any of them may be asked
		if _, err := after.Now(t.Context()); err != nil {
			t.Fatalf("the time, of two of three masters: %v", err)
		}
	}
	// Nobody has ever heard what the one that is away would say.
	if got, err := after.Durability(t.Context()); err != nil || got != c3po.InMemory {
		t.Errorf("durability, of two of three masters = %q, %v; want %q", got, err, c3po.InMemory)
	}
	for _, s := range cluster.Servers() {
		s.Kill()
	}
	if _, err := after.Now(t.Context()); err == nil {
		t.Error("no node is there, and one has said what time it is")
	}
}
