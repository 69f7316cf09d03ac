package session

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/resident"
)

func TestMailThatATurnLeftUnreadIsToldAgainThreeTimes(t *testing.T) {
	t.Parallel()
	var c conversation
	c.begin("s1")
	c.add(resident.View{Seq: 2, Mail: []hook.Letter{{ID: "question", From: "web", Seq: 1, ExpectsReply: true}, {ID: "news", From: "web", Seq: 2}}})
	wake := func(now time.Time) (told []c3po.MessageID) {
		var d hook.Decision
		d, c.memory = hook.Wake(c.memory, c.letters(), now)
		clear(c.arrived)
		c.remembers(now)
		return d.News
	}
	now := time.Now()
	wake(now)
	var after []time.Duration
	for range 2 * 60 {
		now = now.Add(30 * time.Second)
		c.remind(now)
		if len(c.arrived) > 0 {
			if told := wake(now); len(told) != 2 {
				t.Errorf("it is told again of %v", told)
			}
			after = append(after, 0)
		}
		if len(after) > 0 {
			after[len(after)-1] += 30 * time.Second
		}
	}
	if len(after) != 3 {
		t.Errorf("it is told again %d times: %v", len(after), after)
	}
	if diff := cmp.Diff([]c3po.MessageID{"question"}, c.silent); diff != "" {
		t.Errorf("what is reported as left (-want +got):\n%s", diff)
	}
}

func TestNothingIsToldAgainThatWasReadOrIsGone(t *testing.T) {
	t.Parallel()
	var c conversation
	c.begin("s1")
	c.add(resident.View{Seq: 3, Mail: []hook.Letter{{ID: "read", From: "web", Seq: 1}, {ID: "gone", From: "web", Seq: 2}, {ID: "new", From: "web", Seq: 3}}})
	now := time.Now()
	_, c.memory = hook.Wake(c.memory, c.letters()[:2], now)
	clear(c.arrived)
	c.remembers(now)
	c.memory = c.memory.Read("read")
	c.drop([]c3po.MessageID{"gone"})
	c.remind(now.Add(time.Hour))
	if diff := cmp.Diff(map[c3po.MessageID]bool{}, c.arrived, cmpopts.EquateEmpty()); diff != "" || len(c.reminders) != 0 {
		t.Errorf("%v, %v", c.arrived, c.reminders)
	}
}
