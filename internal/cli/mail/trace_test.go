package mail

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po"
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
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
