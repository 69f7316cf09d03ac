package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestAFullSpaceWarnsThenRefusesAndIsDrainedOverHTTP(t *testing.T) {
	t.Parallel()
	limits := c3po.DefaultLimits()
	limits.SpaceBytes = 5 * store.Draft{From: "ann", To: "bob", Text: strings.Repeat("a", 800), ExpectsReply: true}.Bytes()
	c := start(t, server.Config{RedisURL: redistest.Start(t), Limits: limits})
	c.must(t, "bob", "ping", c3po.None{}, nil)
	var ids []c3po.MessageID
	send := func(text string) (int, c3po.Receipt, c3po.Error) {
		t.Helper()
		var answer struct {
			c3po.Receipt
			c3po.Error
		}
		status, err := c.op(t.Context(), "ann", "send_message", c3po.SendInput{Target: "bob", Message: text}, &answer)
		if err != nil {
			t.Fatal(err)
		}
		return status, answer.Receipt, answer.Error
	}
	for n := range 5 {
		status, receipt, _ := send(strings.Repeat(string(rune('a'+n)), 800))
		if warned := receipt.Warning != ""; status != http.StatusOK || warned != (n >= 3) {
			t.Errorf("message %d: %d, warning %q", n, status, receipt.Warning)
		}
		ids = append(ids, receipt.ID)
	}
	status, _, refusal := send("no room")
	if status != http.StatusServiceUnavailable || refusal.Code != c3po.StoreFull || refusal.Suggestion == "" {
		t.Errorf("a full space answers %d %+v", status, refusal)
	}
	samples := c.scrape(t)
	for _, want := range []sample{
		{"c3po_space_bytes", "", float64(limits.SpaceBytes)},
		{"c3po_space_bytes_limit", "", float64(limits.SpaceBytes)},
		{"c3po_quota_warnings_total", `of="space"`, 2},
		{"c3po_quota_warnings_total", `of="memory"`, 0},
		{"c3po_store_memory_limit_bytes", "", 0},
		{"c3po_messages_rejected_total", `reason="STORE_FULL"`, 1},
	} {
		if got := valueOf(samples, want.name, want.labels); got != want.value {
			t.Errorf("%s{%s} is %v, want %v", want.name, want.labels, got, want.value)
		}
	}
	var mail []c3po.Message
	c.must(t, "bob", "get_messages", c3po.GetMessagesInput{}, &mail)
	if len(mail) != len(ids) {
		t.Errorf("a full space shows %d messages, want %d", len(mail), len(ids))
	}
	c.must(t, "bob", "reply", c3po.ReplyInput{MessageID: ids[0], Response: "an answer makes room"}, nil)
	c.must(t, "bob", "ack_messages", c3po.AckInput{MessageIDs: ids[1:]}, nil)
	if status, receipt, _ := send("room again"); status != http.StatusOK || receipt.Warning != "" {
		t.Errorf("after the drain: %d, warning %q", status, receipt.Warning)
	}
}

func TestAReceiptWarnsWhenTheMemoryOfRedisIsNearlyFull(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t, "--maxmemory", "25mb")
	if _, err := redistest.Do(redis.Addr(), "SETRANGE", "ballast", "19900000", "x"); err != nil {
		t.Fatal(err)
	}
	c := start(t, server.Config{RedisURL: redis.URL()})
	c.must(t, "bob", "ping", c3po.None{}, nil)
	var receipt c3po.Receipt
	c.must(t, "ann", "send_message", c3po.SendInput{Target: "bob", Message: "hello"}, &receipt)
	if !strings.Contains(receipt.Warning, "the memory of Redis is 8") {
		t.Errorf("the warning is %q", receipt.Warning)
	}
	samples := c.scrape(t)
	if used, most := valueOf(samples, "c3po_store_memory_bytes", ""), valueOf(samples, "c3po_store_memory_limit_bytes", ""); most != 25<<20 || used < most*.8 {
		t.Errorf("Redis is said to use %v of %v bytes", used, most)
	}
	if got := valueOf(samples, "c3po_quota_warnings_total", `of="memory"`); got != 1 {
		t.Errorf("%v warnings were counted, want 1", got)
	}
}
