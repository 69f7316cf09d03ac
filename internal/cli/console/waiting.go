package console

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Waiting shows a person that a command lives: a line on the terminal with what it
// waits for and for how long, which is gone when it ends. Nothing is written
// elsewhere.
func (a *Console) Waiting(what string) (stop func()) {
	if a.JSON || !IsTerminal(a.Stderr) || a.Getenv("TERM") == "dumb" {
		return func() {}
	}
	return showWaiting(a.Stderr, what, time.Now(), time.NewTicker(time.Second))
}

func showWaiting(w io.Writer, what string, began time.Time, tick *time.Ticker) (stop func()) {
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		defer tick.Stop()
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
