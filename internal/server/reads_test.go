package server_test

import (
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestAThousandReadsCostAWriteASecondNotAWriteEach(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	c := start(t, config(redis.URL(), nil))
	c.must(t, "bob", "whoami", c3po.None{}, nil)
	c.must(t, "ana", "send_message", c3po.SendInput{Target: "bob", Message: "read me often"}, nil)

	const reads = 1000
	began, before := time.Now(), commandCount(t, redis.Addr(), "evalsha")
	for i := range reads {
		switch i % 4 {
		case 0, 1:
			c.must(t, "bob", "get_messages", c3po.GetMessagesInput{}, nil)
		case 2:
			c.must(t, "bob", "peek", c3po.GetMessagesInput{}, nil)
		default:
			c.must(t, "bob", "pending", c3po.PendingInput{}, nil)
		}
	}
	if !faultrig.Within(longEnough, func() bool { return commandCount(t, redis.Addr(), "evalsha") > before }) {
		t.Fatalf("of %d reads nothing was written down", reads)
	}
	writes := commandCount(t, redis.Addr(), "evalsha") - before
	seconds := int(time.Since(began)/time.Second) + 1
	t.Logf("%d writing scripts for %d reads in %d s", writes, reads, seconds)
	// One flush of what was served a second, and now and then one of who was seen, or of the
	// coordinator's own.
	if most := 2*seconds + 2; writes > most {
		t.Errorf("%d reads made %d writes in %d s, want at most %d", reads, writes, seconds, most)
	}
}
