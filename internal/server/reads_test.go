package server_test

import (
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestAThousandReadsCostAWriteASecondNotAWriteEach(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	c := start(t, config(redis.URL(), nil))
	c.must(t, "bob", "whoami", c3po.None{}, nil)
	c.must(t, "ana", "send_message", c3po.SendInput{Target: "bob", Message: "read me often"}, nil)

	began, before := time.Now(), commandCount(t, redis.Addr(), "evalsha")
	reads := 0
	// Until some were written down, nothing is known of what they cost.
	for i := 0; i < 1000 || commandCount(t, redis.Addr(), "evalsha") == before; i++ {
		if time.Since(began) > longEnough {
			t.Fatalf("of %d reads nothing was written down", i)
		}
		reads++
		switch i % 4 {
		case 0, 1:
			c.must(t, "bob", "get_messages", c3po.GetMessagesInput{}, nil)
		case 2:
			c.must(t, "bob", "peek", c3po.GetMessagesInput{}, nil)
		default:
			c.must(t, "bob", "pending", c3po.PendingInput{}, nil)
		}
	}
	seconds := int(time.Since(began)/time.Second) + 1
	writes := commandCount(t, redis.Addr(), "evalsha") - before
	t.Logf("%d writing scripts for %d reads in %d s", writes, reads, seconds)
	// One flush of what was served a second, and one of who was seen in 30.
	if most := seconds + 1 + seconds/30 + 1; writes > most {
		t.Errorf("%d reads made %d writes in %d s, want at most %d", reads, writes, seconds, most)
	}
}
