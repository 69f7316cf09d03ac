package redisstore_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
	"github.com/c3po-dev/c3po/internal/store/storetest"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// A village is two coordinators over one Redis, with a clock that is moved.
type village struct {
	*testing.T
	ahead    atomic.Int64
	one, two *redisstore.Store
	hub      *hub.Hub // over one
	limits   c3po.Limits
	addr     string
}

func newVillage(t *testing.T) *village {
	v := &village{T: t, limits: storetest.YearLimits()}
	server := redistest.New(t, "--appendonly", "no")
	start := time.UnixMilli(1_800_000_000_000)
	now := func() time.Time { return start.Add(time.Duration(v.ahead.Load())) }
	v.one, v.two, v.addr = open(t, server.URL(), v.limits, now), open(t, server.URL(), v.limits, now), server.Addr()
	v.hub = hub.New(hub.Config{Store: v.one, Limits: v.limits})
	return v
}

func (v *village) register(s *redisstore.Store, id c3po.AgentID) {
	v.Helper()
	if _, err := s.Register(v.Context(), "camp", store.RegisterStep{Want: id}); err != nil {
		v.Fatal(err)
	}
}

// live lets days pass, and reaps.
func (v *village) live(d time.Duration) {
	v.Helper()
	for passed := time.Duration(0); passed < d; passed += v.limits.ReapEvery {
		v.ahead.Add(int64(min(v.limits.ReapEvery, d)))
		if err := v.hub.Reap(v.Context()); err != nil {
			v.Fatal(err)
		}
	}
}

func (v *village) isListed() bool {
	v.Helper()
	spaces, err := v.one.Spaces(v.Context())
	if err != nil {
		v.Fatal(err)
	}
	return slices.Contains(spaces, "camp")
}

func (v *village) sequence() store.Sequence {
	v.Helper()
	at, err := v.one.Sequence(v.Context(), "camp")
	if err != nil {
		v.Fatal(err)
	}
	return at
}

func TestASpaceThatIsUsedAgainAfterItWasForgottenGivesNoNumberTwice(t *testing.T) {
	t.Parallel()
	v := newVillage(t)
	v.register(v.one, "ana")
	before := v.sequence()
	v.live(14 * 24 * time.Hour)
	if keys, err := redistest.Do(v.addr, "KEYS", "c3po:1:{camp}:*"); err != nil || len(keys.([]any)) > 0 || v.isListed() {
		t.Fatalf("of a space that was left long ago there is %v (%v), listed %v", keys, err, v.isListed())
	}
	// Whoever watched it does not take it for one that has gone back.
	if at := v.sequence(); at.Last < before.Last || at.Epoch < before.Epoch {
		t.Errorf("a forgotten space stands at %+v, stood at %+v", at, before)
	}
	v.register(v.two, "ana")
	if at := v.sequence(); at.Last <= before.Last || !v.isListed() {
		t.Errorf("used again it stands at %+v, stood at %+v; listed %v", at, before, v.isListed())
	}
}

// Another coordinator takes a space for listed that has just left the list.
func TestASpaceThatIsUsedWhileItIsForgottenStays(t *testing.T) {
	t.Parallel()
	v := newVillage(t)
	v.register(v.one, "ana")
	for day := 0; v.isListed(); day++ {
		if day > 30 {
			t.Fatal("a space that was left never leaves the list")
		}
		// The other one has looked a moment ago.
		v.live(12 * time.Hour)
	}
	redisstore.Known(v.two, "camp")
	v.register(v.two, "bob")
	v.live(24 * time.Hour)
	agents, err := v.one.Agents(t.Context(), "camp", []c3po.AgentID{"bob"})
	if err != nil || len(agents) != 1 || !v.isListed() {
		t.Errorf("agents %v (%v), listed %v: want the one that came", agents, err, v.isListed())
	}
}

// Facts that are damaged keep nobody's life from ending.
func TestMailWithDamagedFactsExpiresToo(t *testing.T) {
	t.Parallel()
	v := newVillage(t)
	for _, id := range []c3po.AgentID{"ana", "bob"} {
		v.register(v.one, id)
	}
	for _, text := range []string{"damaged", "gone"} {
		stored, err := v.one.Send(t.Context(), "camp", store.SendStep{
			Draft: store.Draft{From: "ana", To: "bob", Kind: c3po.KindMessage, Text: text}, Durability: c3po.InMemory,
		})
		if err != nil {
			t.Fatal(err)
		}
		_, _, hex := stored.Message.ID.Split()
		command := []string{"HSET", "c3po:1:{camp}:fact:bob", hex, "{"}
		if text == "gone" {
			command = []string{"HDEL", "c3po:1:{camp}:fact:bob", hex}
		}
		if _, err := redistest.Do(v.addr, command...); err != nil {
			t.Fatal(err)
		}
	}
	v.live(2 * v.limits.MessageLife)
	if left, err := redistest.Do(v.addr, "ZCARD", "c3po:1:{camp}:expire"); err != nil || left != int64(0) {
		t.Errorf("%v messages still wait for their end (%v)", left, err)
	}
	letters, err := v.one.DeadLetters(t.Context(), "camp", 0, 10)
	if err != nil || len(letters) != 2 || letters[0].Entry.Reason != c3po.ReasonCorrupt {
		t.Errorf("dead letters %+v (%v), want both, as corrupt", letters, err)
	}
}
