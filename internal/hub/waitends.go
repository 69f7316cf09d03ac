package hub

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// nothingCame is the end of a wait without mail. It is a result.
func nothingCame(timeout time.Duration, unacked int) *c3po.WaitOutcome {
	outcome := &c3po.WaitOutcome{
		Status: c3po.WaitTimeout, Code: c3po.Timeout,
		Message:    fmt.Sprintf("No message received within %d seconds", timeout/time.Second),
		Suggestion: "No messages are pending. You can continue with other work.",
	}
	if unacked > 0 {
		outcome.Suggestion = fmt.Sprintf("Nothing new came; %d earlier messages are not acked yet, get_messages shows them.", unacked)
	}
	return outcome
}

// callAgain is the end of a wait on a coordinator that stops.
func callAgain(id c3po.MessageID) *c3po.WaitOutcome {
	return &c3po.WaitOutcome{
		Status: c3po.WaitRetry, Code: c3po.Timeout, MessageID: id,
		Message:      "The coordinator is restarting",
		Suggestion:   "Call again; nothing is lost.",
		RetryAfterMS: retryAfter(),
	}
}

// retryAfter spreads those who were sent away, so that all are back within two
// seconds.
func retryAfter() int { return 200 + rand.IntN(1501) } // #nosec G404 -- spreads callers, hides nothing
