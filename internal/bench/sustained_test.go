package bench

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/faultrig"
	"github.com/c3po-dev/c3po/internal/redisstore"
	"github.com/c3po-dev/c3po/internal/redistest"
)

// A countedSeat counts what was accepted.
type countedSeat struct {
	seat
	accepted *atomic.Int64
}

func (s countedSeat) send(ctx context.Context, to c3po.AgentID, text string) (c3po.MessageID, error) {
	id, err := s.seat.send(ctx, to, text)
	if err == nil {
		s.accepted.Add(1)
	}
	return id, err
}

// Claims: A14
func TestSendsThatReachTheDiskGoOnAtTheirRate(t *testing.T) {
	const atOnce, most = 64, 1500 // sends under way, and a second
	redis := redistest.New(t, "--appendfsync", "always")
	store, err := redisstore.Open(t.Context(), redisstore.Config{URL: redis.URL(), Limits: c3po.DefaultLimits().Unbudgeted()})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	coordinator := faultrig.Start(t, redis.URL())
	var accepted atomic.Int64
	// sendFor sends for a while in a space of its own, at a pace if there is one.
	sendFor := func(space c3po.Space, length time.Duration, rate int) sample {
		t.Helper()
		door := &web{address: strings.TrimPrefix(coordinator.URL(), "http://"), space: space}
		st := stage{cfg: Config{Scenario: Send, Size: 1024, Concurrency: atOnce, Rate: rate}}
		st.open = func(ctx context.Context, id c3po.AgentID) (seat, error) {
			s, err := door.open(ctx, id)
			return countedSeat{s, &accepted}, err
		}
		if err := (&rig{store: store}).register(t.Context(), space, scenarioOf(Send).cast(st)); err != nil {
			t.Fatal(err)
		}
		ctx, cut := context.WithCancel(t.Context())
		defer cut()
		loops, err := sendLoops(ctx, st)
		if err != nil {
			t.Fatal(err)
		}
		m := measurement{groups: []group{{Send, loops}}, length: length, most: mostBytes / 1024}
		s, err := m.measure(ctx, cut)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	turns := 0
	best := func(rate int, good func(sample) bool) (s sample) {
		for range tries() {
			turns++
			s = sendFor(c3po.Space(fmt.Sprintf("turn-%d", turns)), time.Duration(faultrig.Size(1, 60))*time.Second, rate)
			if good(s) {
				break
			}
		}
		return s
	}
	full := best(0, func(s sample) bool { return s.rate() >= most/slack() })
	atLeast(t, "sends of 1 KiB a second, each on disk before it is acknowledged", full.rate(), most)
	paced := best(500, func(s sample) bool {
		_, p99 := percentiles(s.took)
		return p99 <= 50*slack()
	})
	_, p99 := percentiles(paced.took)
	t.Logf("at 500 a second there were %.0f", paced.rate())
	atMost(t, "99th percentile of a send at 500 a second, ms", p99, 50)

	var stored int64
	for turn := range turns {
		counters, err := store.Counters(t.Context(), c3po.Space(fmt.Sprintf("turn-%d", turn+1)))
		if err != nil {
			t.Fatal(err)
		}
		stored += counters.Pending
	}
	// What was under way when it was cut off may have been stored unacknowledged.
	lost, doubled := max(0, accepted.Load()-stored), max(0, stored-accepted.Load()-int64(turns*atOnce))
	if lost > 0 || doubled > 0 {
		t.Errorf("%d sends were accepted, and %d are stored", accepted.Load(), stored)
	}
	faultrig.Verdict{
		Row: "F1", Holds: []faultrig.Invariant{faultrig.NothingStoredIsLost, faultrig.OneMessageAKey},
		Size:   fmt.Sprintf("%d sends: %.0f/s with 64 at once; p99 %.1f ms at 500/s", accepted.Load(), full.rate(), p99),
		Faults: "none: load", Lost: int(lost), Doubled: int(doubled),
	}.Record(t)
}
