package hub_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// A month of two coordinators, of which the short form has three days: what depends on time happens when it is due, to
// the interval at which somebody looks, and nothing is left over in the end.
func TestAMonthIsLivedExactly(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		days := faultrig.Size(3, 30)
		relaxed := func(l *c3po.Limits) { l.CompareEvery = time.Minute }
		h := build(t, relaxed)
		far := h.neighbour(relaxed)
		h.enter("alice", "bob", "carl")
		began := time.Now()

		type given struct {
			text string
			at   time.Duration
		}
		read := make(chan given, 1)
		waiter := start(func() (c3po.None, error) {
			for {
				got, err := far.as("bob").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 1800})
				if err != nil || got.Outcome != nil && got.Outcome.Status == c3po.WaitRetry {
					return c3po.None{}, err
				}
				if got.Outcome != nil {
					continue // nothing within half an hour
				}
				read <- given{got.Text(), time.Since(began)}
				if _, err := far.as("bob").AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{got.ID}}); err != nil {
					return c3po.None{}, err
				}
			}
		})

		letters, slept := 0, 0
		var expiring c3po.MessageID
		for n := range days {
			if expiring != "" {
				same(t, "after a day unread", h.trace(expiring).State, c3po.StateDead)
				letters++
			}
			must(h.as("carl").WhoAmI(t.Context(), c3po.None{}))(t) // alive, and reads nothing
			expiring = h.send("alice", "carl", fmt.Sprintf("day %d", n)).ID

			// Every third piece of news is lost on the way to the other coordinator.
			if n%3 == 2 {
				h.model.DropWakes(1)
			}
			sent := time.Since(began)
			h.send("alice", "bob", fmt.Sprint(n))
			got := <-read
			same(t, "read", got.text, fmt.Sprint(n))
			switch late := got.at - sent; {
			case n%3 != 2 && late != 0:
				t.Errorf("message %d came %s late", n, late)
			case late > time.Minute:
				t.Errorf("message %d, whose news was lost, came %s late", n, late)
			case late > 0:
				slept++
			}
			pass(23*time.Hour + 55*time.Minute)
			same(t, "a little less than a day", h.trace(expiring).State, c3po.StatePending)
			pass(10 * time.Minute)
		}
		if letters != days-1 || slept == 0 {
			t.Errorf("%d messages expired, %d came late", letters, slept)
		}
		h.balanced()
		faultrig.Verdict{
			Row: "A2", Size: fmt.Sprintf("%d simulated days", days), Faults: "every third wake is lost",
			Holds: []faultrig.Invariant{faultrig.NothingStoredIsLost, faultrig.BooksBalance, faultrig.NoWakeIsLost},
		}.Record(t)
		far.stop()
		waiter.atOnce(t)
	})
}
