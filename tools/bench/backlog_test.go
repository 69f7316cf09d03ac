package bench

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

func TestAHugeBacklogIsReadInPagesAsQuickAsASmallOne(t *testing.T) {
	unread := faultrig.Size(4_000, 100_000)
	s := newUnlimited(t)
	s.register(t, "main", []c3po.AgentID{"reader"})
	s.fill(t, "main", []c3po.AgentID{"reader"}, unread)

	door := &web{address: strings.TrimPrefix(s.coordinator.URL(), "http://"), space: "main"}
	opened, err := door.open(t.Context(), "reader")
	if err != nil {
		t.Fatal(err)
	}
	reader := opened.(*webSeat)
	page, largest := timed(t, reader, "get_messages", c3po.GetMessagesInput{})
	faultrig.Hold(t, fmt.Sprintf("99th percentile of a page of an inbox of %d", unread), page, 50*time.Millisecond)
	check, size := timed(t, reader, "pending", c3po.PendingInput{})
	faultrig.Hold(t, "99th percentile of what a hook asks", check, 30*time.Millisecond)
	everything, err := reader.call(t.Context(), "get_messages", c3po.GetMessagesInput{Limit: c3po.DefaultLimits().MaxPageItems})
	if err != nil {
		t.Fatal(err)
	}
	whole := len(everything)
	// PageBytes counts what was written; the answer has ids and times besides.
	if most := 2 * c3po.DefaultLimits().PageBytes; largest > most || size > most || whole > most {
		t.Errorf("a page of %d bytes, a hook's answer of %d, all at once %d: no answer may be larger than %d", largest, size, whole, most)
	}

	svc := client.New(client.Config{URL: s.coordinator.URL(), AgentID: "reader"})
	seen := map[c3po.MessageID]int{}
	for cursor := ""; ; {
		var page c3po.MessageList
		// A Redis that a busy machine holds up is asked again.
		if !faultrig.Within(30*time.Second, func() bool {
			page, err = svc.GetMessages(t.Context(), c3po.GetMessagesInput{Cursor: cursor, Limit: c3po.DefaultLimits().MaxPageItems})
			return err == nil || c3po.AsError(err).Code.Retry() == c3po.RetryNo
		}) || err != nil {
			t.Fatal(err)
		}
		for _, m := range page.Messages {
			seen[m.ID]++
		}
		if page.Next == "" {
			break
		}
		cursor = page.Next
	}
	doubled := 0
	for _, times := range seen {
		doubled += times - 1
	}
	if lost := unread - len(seen); lost != 0 || doubled != 0 {
		t.Errorf("of %d messages the pages show %d, and %d of them twice", unread, len(seen), doubled)
	}
	faultrig.Verdict{
		Row: "F3", Holds: []faultrig.Invariant{faultrig.NothingStoredIsLost, faultrig.HooksNeverBlock},
		Size:   fmt.Sprintf("%d unread in one inbox: p99 of a page %v, of a hook %v, at most %d KiB an answer", unread, page.Round(100*time.Microsecond), check.Round(100*time.Microsecond), max(largest, size, whole)>>10),
		Faults: "none: size", Lost: unread - len(seen), Doubled: doubled,
	}.Record(t)
}

// timed makes a call again and again and gives the 99th percentile of its time, as the
// median of several turns, and the size of the largest answer.
func timed(t *testing.T, s *webSeat, operation string, arguments any) (usual time.Duration, largest int) {
	t.Helper()
	var turns []float64
	for range 5 {
		var took []time.Duration
		for range faultrig.Size(50, 200) {
			began := time.Now()
			answer, err := s.call(t.Context(), operation, arguments)
			if err != nil {
				t.Fatal(err)
			}
			took, largest = append(took, time.Since(began)), max(largest, len(answer))
		}
		turns = append(turns, milliseconds(faultrig.P99(took)))
	}
	return inMilliseconds(median(turns)), largest
}
