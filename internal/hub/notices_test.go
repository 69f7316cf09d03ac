package hub_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/storetest"
)

// A crier notes what the person was told. Its channel "stuck" never comes to an
// end by itself, and "broken" fails as often as it is told to.
type crier struct {
	channels []string

	mu    sync.Mutex
	told  []string
	fails int
}

func (c *crier) Channels() []string { return c.channels }

func (c *crier) Notify(ctx context.Context, channel string, n c3po.Notification) error {
	if channel == "stuck" {
		<-ctx.Done()
		return ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if channel == "broken" && c.fails > 0 {
		c.fails--
		c.told = append(c.told, "broken: fails")
		return errors.New("nobody is there")
	}
	c.told = append(c.told, fmt.Sprintf("%s: %s of %s: %s", channel, n.Kind, n.FromAgent, n.Question))
	return nil
}

func (c *crier) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.told)
}

// town is a house whose person is told of questions, and a second one beside it.
func town(t *testing.T, c *crier) (first, second *house) {
	limits := c3po.DefaultLimits()
	model := storetest.NewModel(limits)
	store := &calls{Store: model, count: map[string]int{}, fail: map[string]error{}}
	first = run(t, &house{t: t, model: model, calls: store, tells: c}, limits, "node-1")
	second = run(t, &house{t: t, model: model, calls: store, tells: c}, limits, "node-2")
	return first, second
}

func TestAPersonIsToldOfAQuestionOnceWhoeverIsAsked(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := &crier{channels: []string{"ntfy", "webhook"}}
		first, second := town(t, c)
		asked := must(first.as("api").EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: "May I?"}))(t)
		pass(time.Second)
		said := c.all()
		slices.Sort(said)
		same(t, "told", said, []string{"ntfy: question of api: May I?", "webhook: question of api: May I?"})
		pass(10 * time.Minute)
		same(t, "told once", len(c.all()), 2)

		must(second.as("web").EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: "And I?"}))(t)
		pass(time.Second)
		same(t, "of the second one", len(c.all()), 4)
		// A message to the person that asks nothing can wait until they look.
		first.send("api", c3po.Human, "by the way")
		pass(time.Minute)
		same(t, "of a plain message", len(c.all()), 4)

		shown := must(first.asPerson().HumanShow(t.Context(), c3po.MessageInput{MessageID: asked.MessageID}))(t)
		same(t, "how they were told", len(shown.Told), 2)
		if shown.Told[0].Channel != "ntfy" || shown.Told[0].At.IsZero() || shown.Told[0].Tries != 1 {
			t.Errorf("told = %+v", shown.Told)
		}
	})
}

// A coordinator that has no way to reach the person leaves it to those that have.
func TestAQuestionAskedElsewhereIsToldOf(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := &crier{channels: []string{"ntfy"}}
		first, _ := town(t, c)
		mute := first.neighbour()
		must(mute.as("api").EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: "May I?"}))(t)
		pass(15 * time.Second)
		same(t, "told", c.all(), []string{"ntfy: question of api: May I?"})
	})
}

func TestADeadlineRemindsThePersonOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := &crier{channels: []string{"ntfy"}}
		first, _ := town(t, c)
		asked := must(first.as("api").EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: "May I?", Deadline: "10m"}))(t)
		done := must(first.as("web").EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: "Answered?", Deadline: "10m"}))(t)
		pass(time.Second)
		must(first.asPerson().HumanAnswer(t.Context(), c3po.AnswerInput{MessageID: done.MessageID, Response: "yes"}))(t)
		pass(9 * time.Minute)
		same(t, "before", len(c.all()), 2)
		pass(2 * time.Minute)
		same(t, "after", c.all()[2:], []string{"ntfy: overdue of api: May I?"})
		pass(time.Hour)
		same(t, "later", len(c.all()), 3)
		page, _ := first.log(c3po.LogInput{Kinds: []c3po.EventKind{c3po.EventTimedOut}})
		if len(page.Events) != 1 || page.Events[0].ID != asked.MessageID {
			t.Errorf("events = %+v", page.Events)
		}
		list := must(first.asPerson().HumanList(t.Context(), c3po.GetMessagesInput{}))(t)
		if !list.Messages[0].Deadline.Equal(asked.Deadline) || asked.Deadline.IsZero() {
			t.Errorf("deadline %v, the list says %v", asked.Deadline, list.Messages[0].Deadline)
		}
		same(t, "still waits", first.send("bob", "api", "there?").Reachability, c3po.ReachWaitingForHuman)
	})
}

func TestAFailedNoticeIsTriedAgainAndASlowChannelHoldsUpNobody(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := &crier{channels: []string{"stuck", "broken", "ntfy"}, fails: 2}
		first, _ := town(t, c)
		began := time.Now()
		must(first.as("api").EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: "May I?"}))(t)
		if took := time.Since(began); took > 0 {
			t.Errorf("asking took %v", took)
		}
		pass(time.Millisecond)
		same(t, "at once", len(c.all()), 2)
		pass(hub.NoticePause - time.Second)
		same(t, "before the pause is over", len(c.all()), 2)
		pass(time.Minute + hub.NoticePause)
		same(t, "in the end", c.all()[2:], []string{"broken: fails", "broken: question of api: May I?"})
		pass(time.Hour)
		same(t, "and no more", len(c.all()), 4)
	})
}
