package redisstore_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
	"github.com/c3po-dev/c3po/internal/store/storetest"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

var _ store.Store = (*redisstore.Store)(nil)

func TestMain(m *testing.M) { redistest.Main(m) }

func open(t *testing.T, url string, limits c3po.Limits, now func() time.Time) *redisstore.Store {
	t.Helper()
	s, err := redisstore.Open(t.Context(), redisstore.Config{URL: url, Limits: limits, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// harness opens a store whose clock the suite moves.
func harness(url string, change ...func(*redisstore.Store)) func(*testing.T, c3po.Limits) storetest.Harness {
	return func(t *testing.T, limits c3po.Limits) storetest.Harness {
		var ahead atomic.Int64
		start := time.UnixMilli(1_800_000_000_000)
		s := open(t, url, limits, func() time.Time { return start.Add(time.Duration(ahead.Load())) })
		for _, c := range change {
			c(s)
		}
		return storetest.Harness{
			Store: s, Advance: func(d time.Duration) { ahead.Add(int64(d)) },
			Holds: func(space c3po.Space) map[string][]string { return redisstore.Holds(t, s, space) },
			Drop:  func(space c3po.Space) { redisstore.Drop(t, s, space) },
		}
	}
}

func TestRedisKeepsThePromises(t *testing.T) {
	t.Parallel()
	storetest.Run(t, harness(redistest.Start(t, "--appendfsync", "always")))
}

// Whatever is damaged in whichever key of a step, of another type or with another
// value: if the step fails, nothing has changed. Unless the store is tried whole, one call in
// eight is damaged.
func TestAnErrorMeansNothingChanged(t *testing.T) {
	t.Parallel()
	url := redistest.Start(t, "--appendonly", "no")
	s := open(t, url, c3po.DefaultLimits(), nil)
	var calls redisstore.Calls
	calls.Take(t, s) // first: of calls that change the same keys one is kept
	t.Run("promises", func(t *testing.T) { storetest.Run(t, harness(url, calls.Watch)) })
	calls.Damage(t, s)
}

func TestAClusterKeepsThePromises(t *testing.T) {
	t.Parallel()
	if !redisstore.Whole() {
		t.Skip("the store has not changed: C3PO_WHOLE=1 runs this")
	}
	storetest.Run(t, harness("redis://"+strings.Join(redistest.Cluster(t), ",")))
}

// It keeps nothing on a disk: what is compared is what it answers, and a disk that
// is busy for two seconds makes a step's outcome unknown, which is no divergence.
func TestRedisNeverDivergesFromTheModel(t *testing.T) {
	t.Parallel()
	storetest.Compare(t, harness(redistest.Start(t, "--appendonly", "no")))
}

func TestStepsThatLookAtFewMessagesFindTheSame(t *testing.T) {
	t.Parallel()
	few := harness(redistest.Start(t, "--appendfsync", "always"), (*redisstore.Store).LookAtFew)
	if redisstore.Whole() {
		storetest.Run(t, few)
	}
	storetest.Compare(t, few)
}

func TestARedisThatIsAwayIsNamed(t *testing.T) {
	t.Parallel()
	_, err := redisstore.Open(t.Context(), redisstore.Config{URL: "redis://127.0.0.1:1"})
	if got := c3po.AsError(err).Code; got != c3po.RedisUnavailable {
		t.Errorf("Open = %v (%s), want %s", err, got, c3po.RedisUnavailable)
	}
}

func TestAPasswordInABadURLIsNotRepeated(t *testing.T) {
	t.Parallel()
	_, err := redisstore.Open(t.Context(), redisstore.Config{URL: "redis://user:hunter2@[bad"})
	if err == nil || strings.Contains(fmt.Sprint(err, c3po.AsError(err)), "hunter2") {
		t.Errorf("Open = %v, want an error without the password", err)
	}
}

func TestTheReceiptFollowsTheRunningEngine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fsync string
		want  c3po.Durability
	}{{"always", c3po.OnDisk}, {"everysec", c3po.InMemory}, {"no", c3po.InMemory}} {
		s := open(t, redistest.Start(t, "--appendfsync", test.fsync), c3po.DefaultLimits(), nil)
		if got, err := s.Durability(t.Context()); err != nil || got != test.want {
			t.Errorf("appendfsync %s: Durability = %q, %v, want %q", test.fsync, got, err, test.want)
		}
	}
}
