package redisstore_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
	"github.com/c3po-dev/c3po/internal/store/storetest"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// Whatever comes and goes, what Redis holds after months is what it held before.
func TestNothingGrowsForEver(t *testing.T) {
	t.Parallel()
	const months = 12
	url := redistest.Start(t, "--appendonly", "no", "--save", "")
	limits := storetest.YearLimits()
	h := harness(url)(t, limits)
	imports := func(space c3po.Space, day int) {
		redis := h.Store.(*redisstore.Store)
		origin := func(what string) store.Origin { return store.Origin(fmt.Sprintf("%s %d", what, day)) }
		guest := c3po.AgentID(fmt.Sprintf("laptop/guest-%d", day))
		if _, err := redis.ImportAgent(t.Context(), space, origin("agent"), store.MovedAgent{ID: guest}); err != nil {
			t.Fatal(err)
		}
		if _, err := redis.ImportMessage(t.Context(), space, origin("mail"), store.MovedMessage{
			ID: c3po.NewMessageID("laptop/ana", guest, "00000000"), Kind: c3po.KindMessage, State: c3po.StateAcked, Life: 60, Thread: "t",
		}); err != nil {
			t.Fatal(err)
		}
	}
	// An import goes on for a month; then it can be told what is forgotten of it.
	var sizes []size
	storetest.Year(t, h, limits, months, func(space c3po.Space, day int) {
		if day < 30 {
			imports(space, day)
		}
	}, func(n int) {
		is := measure(t, strings.TrimPrefix(url, "redis://"))
		t.Logf("month %2d: %d keys, %d entries, %d bytes", n, is.keys, is.entries, is.bytes)
		sizes = append(sizes, is)
	})
	first, last := sizes[1], sizes[len(sizes)-1]
	for _, figure := range []struct {
		of          string
		first, last int64
	}{{"keys", first.keys, last.keys}, {"entries", first.entries, last.entries}, {"bytes", first.bytes, last.bytes}} {
		if figure.last > figure.first+figure.first/20 {
			t.Errorf("%d %s after %d months, %d after two", figure.last, figure.of, months, figure.first)
		}
	}
	if t.Failed() {
		for key, n := range last.of {
			if before := first.of[key]; n > before+before/20 {
				t.Logf("%s: %d entries, was %d", key, n, before)
			}
		}
	}
}

// A size is what a Redis holds.
type size struct {
	keys, entries, bytes int64
	of                   map[string]int64 // entries by the kind of their key
}

func measure(t *testing.T, addr string) size {
	t.Helper()
	do := func(args ...string) any {
		answer, err := redistest.Do(addr, args...)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	s := size{of: map[string]int64{}}
	lengths := map[string]string{"hash": "HLEN", "zset": "ZCARD", "set": "SCARD", "stream": "XLEN", "string": "STRLEN"}
	for _, key := range do("KEYS", "*").([]any) {
		name := key.(string)
		n := do(lengths[fmt.Sprint(do("TYPE", name))], name).(int64)
		bytes, _ := do("MEMORY", "USAGE", name, "SAMPLES", "0").(int64)
		_, kind, _ := strings.Cut(name, "}:")
		kind, _, _ = strings.Cut(kind, ":")
		s.keys, s.entries, s.bytes = s.keys+1, s.entries+n, s.bytes+bytes
		s.of[kind] += n
		s.of[kind+" keys"]++
	}
	return s
}
