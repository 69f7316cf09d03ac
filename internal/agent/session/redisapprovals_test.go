package session_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// allowsWithin says that the person's verdict is taken so soon.
func (r *testSession) allowsWithin(limit time.Duration, id c3po.MessageID) bool {
	ctx, cancel := context.WithTimeout(r.t.Context(), limit)
	defer cancel()
	_, err := r.as("").HumanAnswer(ctx, c3po.AnswerInput{MessageID: id, Choice: c3po.AllowOnce})
	return err == nil
}

// Redis is killed between a question and its verdict, between the verdict and its session, and
// while a dialog is decided at the terminal.
func TestApprovalsSurviveARedisThatIsKilled(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	c := faultrig.Start(t, redis.URL())
	r := approving(t, c.URL())
	granting, stale := 0, 0
	rounds := faultrig.Size(3, 20)
	for i := range rounds {
		file := fmt.Sprint("x", i)
		d := r.opens(file)
		id := r.asked(file)
		r.awaits()
		redis.Kill()
		if r.allowsWithin(500*time.Millisecond, id) {
			t.Errorf("round %d: a verdict was taken without Redis", i)
		}
		select {
		case said := <-d.answer:
			t.Fatalf("round %d: the hook ended without a verdict: %s", i, said)
		default:
		}
		redis.Restart()
		eventually(t, "the person's verdict is taken", func() bool { return r.allow(id) == nil })
		if said := d.says(t); said != granted {
			t.Errorf("round %d: the hook says %s", i, said)
		}
		granting++

		late := r.opens(file)
		again := r.asked(file)
		redis.Kill()
		late.kill() // decided at the terminal while nothing can be stored
		late.says(t)
		redis.Restart()
		eventually(t, "the question is withdrawn", func() bool { return r.questions() == 0 })
		if err := r.allow(again); err == nil {
			stale++
		}
	}
	t.Logf("%d kills of Redis: %d grants of open requests, %d stale grants, no hook that hangs", 2*rounds, granting, stale)
	if stale > 0 {
		t.Errorf("%d stale requests were allowed", stale)
	}
}
