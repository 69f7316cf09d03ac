package mail

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
)

func TestALifeIsToldInItsOrder(t *testing.T) {
	t.Parallel()
	at := func(second int) time.Time { return time.Date(2026, 1, 2, 3, 4, second, 0, time.Local) }
	trace := c3po.Trace{
		ID: "a::b::00000001", Kind: c3po.KindMessage, Priority: c3po.Urgent, Thread: "t", Bytes: 9, State: c3po.StateAcked, ExpectsReply: true,
		Accepted: c3po.Fact{At: at(1), Durability: c3po.InMemory},
		Served:   []c3po.Fact{{At: at(3), Session: "s\x1b", Route: "mcp", Times: 2}},
		Notified: []c3po.Fact{{At: at(2), Route: "rest"}},
		Received: &c3po.Fact{At: at(4)},
		Answered: []c3po.Answered{{ID: "b::a::00000002", At: at(5)}},
		Ended:    &c3po.Fact{At: at(5)},
	}
	var out bytes.Buffer
	printTrace(&out, trace)
	want := `a::b::00000001, message, urgent, 9 bytes in Redis, expects an answer
thread t
2026-01-02 03:04:01.000  accepted from a, in memory only: a power cut would lose it
2026-01-02 03:04:02.000  b was told that there is mail (over rest)
2026-01-02 03:04:03.000  served to b (session s\x1b, over mcp), 2 times
2026-01-02 03:04:04.000  received by b
2026-01-02 03:04:05.000  answered with b::a::00000002
2026-01-02 03:04:05.000  acked
now acked
cost unknown
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestATraceSaysWhatIsKnownOfItsCostAndNoMore(t *testing.T) {
	t.Parallel()
	answered := []c3po.Answered{{ID: "b::a::00000002"}}
	tokens := func(n, micro int64) c3po.Usage {
		return c3po.Usage{InputTokens: n - 4, OutputTokens: 1, CacheReadTokens: 1, CacheWriteTokens: 2, MicroUSD: micro}
	}
	for want, trace := range map[string]c3po.Trace{
		"":               {ID: "a::b::00000001"},
		"cost unknown\n": {ID: "a::b::00000001", Answered: answered},
		"cost unknown\nthe whole conversation 1,234,567 tokens, $12.30, from 2 answers\n": {
			ID: "a::b::00000001", Answered: answered, ChainCost: &c3po.Cost{Usage: tokens(1_234_567, 12_300_000), Messages: 2},
		},
		"cost 999 tokens, as reported by codex\n": {
			ID: "a::b::00000001", Answered: answered, Cost: &c3po.Cost{Usage: tokens(999, 0), Clients: []string{"codex"}}, ChainCost: &c3po.Cost{Usage: tokens(999, 0), Messages: 1},
		},
		"cost about 4,210 tokens, $0.0070, as reported by a\\x1b and b\n": {
			ID: "a::b::00000001", Cost: &c3po.Cost{Usage: tokens(4_210, 7_000), Clients: []string{"a\x1b", "b"}, Shared: true},
		},
	} {
		var out bytes.Buffer
		printCost(&out, trace)
		if got := out.String(); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}
