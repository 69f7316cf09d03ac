package console

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/settings"
)

// Waiting shows a person that a command lives: a line on the terminal with what it
// waits for and for how long, which is gone when it ends. Nothing is written
// elsewhere.
func (a *Console) Waiting(what string) (stop func()) {
	if a.JSON || !a.animates() {
		return func() {}
	}
	return showWaiting(a.Stderr, what, time.Now(), time.NewTicker(time.Second))
}

// AwaitingReply is Waiting for a wait that somebody else ends: a log or a pipe has a
// line about it too, because it may take long.
func (a *Console) AwaitingReply(from c3po.AgentID, most int) (stop func()) {
	answer := "a reply from " + Name(from)
	if from == c3po.Human {
		answer = "an answer"
	}
	what := fmt.Sprintf("waiting up to %s for %s", settings.DurationText(time.Duration(most)*time.Second), answer)
	if !a.JSON && !a.animates() {
		fmt.Fprintln(a.Stderr, what)
	}
	return a.Waiting(what)
}

func (a *Console) animates() bool { return IsTerminal(a.Stderr) && a.Getenv("TERM") != "dumb" }

func showWaiting(w io.Writer, what string, began time.Time, tick *time.Ticker) (stop func()) {
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		defer tick.Stop()
		// A line that breaks cannot be taken back.
		if columns := columnsOf(w); columns > len(", 10m10s")+1 {
			what = shorten(what, columns-len(", 10m10s")-1)
		}
		fmt.Fprintf(w, "\r\x1b[K%s", what)
		for {
			select {
			case now := <-tick.C:
				fmt.Fprintf(w, "\r\x1b[K%s, %s", what, now.Sub(began).Round(time.Second))
			case <-done:
				fmt.Fprint(w, "\r\x1b[K")
				return
			}
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		ended.Wait()
	})
}
