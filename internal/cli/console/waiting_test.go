package console

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestACommandThatWaitsShowsForHowLongAndLeavesNoLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var screen bytes.Buffer
		stop := showWaiting(&screen, "waiting for the answer", time.Now(), time.NewTicker(time.Second))
		<-time.After(65 * time.Second)
		synctest.Wait()
		if said := screen.String(); !strings.HasSuffix(said, "\r\x1b[Kwaiting for the answer, 1m5s") {
			t.Errorf("after 65 s the line is %q", said[max(0, len(said)-60):])
		}
		stop()
		stop() // an error on the way may end it a second time
		if said := screen.String(); !strings.HasSuffix(said, "\r\x1b[K") {
			t.Errorf("it leaves %q", said[max(0, len(said)-60):])
		}
	})
}

func TestNothingIsShownOfAWaitWhereNobodyWatches(t *testing.T) {
	t.Parallel()
	var errs bytes.Buffer
	a := &Console{Process: Process{Stderr: &errs, Getenv: func(string) string { return "" }}}
	a.Waiting("waiting")()
	if errs.Len() > 0 {
		t.Errorf("it writes %q", errs.String())
	}
}
