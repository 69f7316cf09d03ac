package bench

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// A breaking is something that is driven until it refuses, and the knob for it.
type breaking struct {
	what     string
	knob     string // of c3po.yaml
	at       int    // what the knob is set to
	code     c3po.Code
	senders  int
	inboxes  int
	expected int // messages that fit
}

// What is full refuses, with a code of its own; what was accepted before is all
// there, and with the knob turned the next message fits.
func TestWhatIsDrivenToBreakRefusesAndItsKnobHelps(t *testing.T) {
	const size = 1024
	inbox := faultrig.Size(200, c3po.DefaultLimits().InboxMessages)
	// A message counts with what Redis holds for it.
	const holds = size + 1_446
	bytes := faultrig.Size(200, 20_000) * holds
	for _, b := range []breaking{
		{"one sender's share of an inbox", "inbox_messages", inbox, c3po.InboxFull, 1, 1, inbox / c3po.DefaultLimits().SenderShare},
		{"an inbox", "inbox_messages", inbox, c3po.InboxFull, 8, 1, inbox},
		{"the bytes of an inbox", "inbox_bytes", bytes, c3po.InboxFull, 8, 1, bytes / holds},
		{"the unread mail of a space", "space_bytes", bytes, c3po.StoreFull, 8, 50, bytes / holds},
	} {
		t.Run(b.what, func(t *testing.T) {
			t.Parallel()
			redis := redistest.New(t, "--appendfsync", "no")
			settings := func(value int) string {
				text := fmt.Sprintf("limits:\n  %s: %d\n", b.knob, value)
				if b.knob == "inbox_bytes" {
					text += "  inbox_messages: 1000000\n"
				}
				return text
			}
			tight := faultrig.StartWith(t, redis.URL(), settings(b.at))
			fits, err := drive(t, tight.URL(), b.senders, b.inboxes, size, b.expected+b.senders)
			if !errors.Is(err, b.code) {
				t.Fatalf("after %d messages it was answered %v, and should be %s", fits, err, b.code)
			}
			// Several senders may have one under way each when it is full.
			if fits > b.expected || fits < b.expected-b.expected/10 {
				t.Errorf("%d messages were accepted, about %d fit", fits, b.expected)
			}
			t.Logf("%s of %d: refused with %s after %d messages", b.knob, b.at, b.code, fits)
			roomy := faultrig.StartWith(t, redis.URL(), settings(2*b.at))
			if more, err := drive(t, roomy.URL(), b.senders, b.inboxes, size, 1); more != 1 || err != nil {
				t.Errorf("with %s doubled: %v", b.knob, err)
			}
		})
	}
}

// Reading and acking make room again, so a full Redis can be drained.
func TestAFullRedisRefusesSendsAndIsDrained(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t, "--appendfsync", "no", "--maxmemory-policy", "noeviction")
	coordinator := faultrig.Start(t, redis.URL())
	if _, err := drive(t, coordinator.URL(), 4, 4, 1024, faultrig.Size(50, 5_000)); err != nil {
		t.Fatal(err)
	}
	used := growing{&sending{redis: redis, coordinator: coordinator}}.stand(t)["used_memory"]
	if _, err := redistest.Do(redis.Addr(), "CONFIG", "SET", "maxmemory", strconv.Itoa(int(used)+100<<10)); err != nil {
		t.Fatal(err)
	}
	fits, err := drive(t, coordinator.URL(), 4, 4, 1024, 10_000)
	if !errors.Is(err, c3po.StoreFull) {
		t.Fatalf("after %d messages it was answered %v", fits, err)
	}
	t.Logf("with 100 KiB left Redis refused after %d messages", fits)
	opened, err := (&web{address: strings.TrimPrefix(coordinator.URL(), "http://"), space: "main"}).open(t.Context(), "helper-0")
	if err != nil {
		t.Fatal(err)
	}
	for range 10 { // each sender has written more than that before it was full
		id, err := opened.next(t.Context())
		if err != nil {
			t.Fatalf("mail cannot be read: %v", err)
		}
		if err := opened.ack(t.Context(), id); err != nil {
			t.Fatalf("mail cannot be acked: %v", err)
		}
	}
}

// drive sends until it is refused, or so many were sent, and gives how many were
// accepted.
func drive(t *testing.T, url string, senders, inboxes, size, most int) (accepted int, err error) {
	t.Helper()
	door := &web{address: strings.TrimPrefix(url, "http://"), space: "main"}
	for _, id := range names("helper", inboxes) {
		if _, err := door.open(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	seats, err := stage{open: door.open}.seats(t.Context(), names("asker", senders))
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]int, senders)
	text := strings.Repeat("x", size)
	err = inParallel(senders, senders, func(i int) error {
		for n := i; n < most; n += senders {
			if _, err := seats[i].send(t.Context(), c3po.AgentID(fmt.Sprintf("helper-%d", n%inboxes)), text); err != nil {
				return err
			}
			counts[i]++
		}
		return nil
	})
	for _, n := range counts {
		accepted += n
	}
	return accepted, err
}
