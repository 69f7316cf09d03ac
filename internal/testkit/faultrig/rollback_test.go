package faultrig_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestAnOlderLogUnderARunningCoordinatorRaisesTheAlarm(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	coordinator := faultrig.Start(t, redis.URL())
	reader, sender := agent(t, coordinator.URL(), "reader"), agent(t, coordinator.URL(), "sender")
	send := func(text string) error {
		_, err := sender.SendMessage(t.Context(), c3po.SendInput{Target: "reader", Message: text})
		return err
	}
	for n := range 5 {
		if err := send(fmt.Sprintf("kept %d", n)); err != nil {
			t.Fatal(err)
		}
	}
	epoch := epochOf(t, redis.Addr())
	live := filepath.Join(redis.Dir(), "appendonlydir")
	older := filepath.Join(t.TempDir(), "older")
	if err := os.CopyFS(older, os.DirFS(live)); err != nil {
		t.Fatal(err)
	}
	for n := range 20 {
		if err := send(fmt.Sprintf("lost %d", n)); err != nil {
			t.Fatal(err)
		}
	}

	redis.Kill()
	if err := os.RemoveAll(live); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(live, os.DirFS(older)); err != nil {
		t.Fatal(err)
	}
	redis.Restart()
	began := time.Now()
	eventually(t, "the epoch of the space is raised, and an event says why", func() bool {
		return epochOf(t, redis.Addr()) > epoch && logHas(t, redis.Addr(), "rollback")
	})
	// The numbers are compared every 5 s; what a comparison takes comes on top.
	faultrig.Hold(t, "time until the alarm", time.Since(began), 5250*time.Millisecond)
	if !strings.Contains(coordinator.Log(), `"level":"ERROR"`) {
		t.Error("no error is in the log of the coordinator")
	}

	// It keeps serving, and no number is given twice.
	if err := send("after all"); err != nil {
		t.Fatal(err)
	}
	list, err := reader.GetMessages(t.Context(), c3po.GetMessagesInput{})
	if err != nil || list.Count != 6 {
		t.Fatalf("%d messages are left (%v), want the 5 of the older log and a new one", list.Count, err)
	}
	if last := list.Messages[5]; last.Text() != "after all" || last.Seq < 25 {
		t.Errorf("%q has number %d, which was given before", last.Text(), last.Seq)
	}
	balanced(t, reader)
}

func epochOf(t *testing.T, addr string) string {
	t.Helper()
	value, err := redistest.Do(addr, "HGET", "c3po:1:{main}:meta", "epoch")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := value.(string)
	return fmt.Sprintf("%10s", text)
}

// logHas says whether the event log of the space has an event of the kind.
func logHas(t *testing.T, addr, kind string) bool {
	t.Helper()
	entries, err := redistest.Do(addr, "XRANGE", "c3po:1:{main}:events", "-", "+")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(fmt.Sprint(entries), "k "+kind+" ")
}
