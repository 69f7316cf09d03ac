package bench

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
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

func TestSendsThatReachTheDiskGoOnAtTheirRate(t *testing.T) {
	faultrig.NeedQuiet(t)
	const atOnce, least = 64, 1500 // sends under way, and a second
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
		if err := (&setup{store: store}).register(t.Context(), space, scenarioOf(Send).cast(st)); err != nil {
			t.Fatal(err)
		}
		ctx, cut := context.WithCancel(t.Context())
		defer cut()
		loops, err := sendLoops(ctx, st)
		if err != nil {
			t.Fatal(err)
		}
		m := measurement{groups: []group{{Send, loops}}, length: length, most: maxRoundBytes / 1024}
		s, err := m.measure(ctx, cut)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	turns := 0
	// usual gives the medians of several turns.
	usual := func(pace int) (rate float64, took time.Duration) {
		var rates, slowest []float64
		for range faultrig.Size(5, 1) {
			turns++
			s := sendFor(c3po.Space(fmt.Sprintf("turn-%d", turns)), time.Duration(faultrig.Size(1, 60))*time.Second, pace)
			rates, slowest = append(rates, s.rate()), append(slowest, milliseconds(faultrig.P99(s.took)))
		}
		return median(rates), inMilliseconds(median(slowest))
	}
	full, _ := usual(0)
	t.Logf("%.0f sends of 1 KiB a second, each on disk before it is acknowledged; %d are wanted", full, least)
	faultrig.Hold(t, "what one of them took", time.Duration(float64(time.Second)/full), time.Second/least)
	// A machine that is busy with other things has the same share of what it can do.
	pace := min(500, int(full/3))
	paced, took := usual(pace)
	t.Logf("at %d a second there were %.0f", pace, paced)
	faultrig.Hold(t, fmt.Sprintf("99th percentile of a send at %d a second", pace), took, 50*time.Millisecond)

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
		Size:   fmt.Sprintf("%d sends: %.0f/s with 64 at once; p99 %v at %d/s", accepted.Load(), full, took.Round(100*time.Microsecond), pace),
		Faults: "none: load", Lost: int(lost), Doubled: int(doubled),
	}.Record(t)
}
