package hub_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/store/storetest"
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
	word := fmt.Sprintf("%s: %s of %s: %s", channel, n.Kind, n.FromAgent, n.Question)
	if n.Count > 1 {
		word = fmt.Sprintf("%s: %d of kind %s, the first of %s: %s", channel, n.Count, n.Kind, n.FromAgent, n.Question)
	}
	c.told = append(c.told, word)
	return nil
}

func (c *crier) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.told)
}

// town is a house whose person is told of questions, and a second one beside it.
func town(t *testing.T, c *crier, change ...func(*testHub)) (first, second *testHub) {
	limits := c3po.DefaultLimits()
	model := storetest.NewModel(limits)
	store := &calls{Store: model, count: map[string]int{}, fail: map[string]error{}}
	build := func(node string) *testHub {
		h := &testHub{t: t, model: model, calls: store, tells: c}
		for _, f := range change {
			f(h)
		}
		return run(t, h, limits, node)
	}
	return build("node-1"), build("node-2")
}

func TestAPersonIsToldOfAQuestionOnceWhoeverIsAsked(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := &crier{channels: []string{"ntfy", "webhook"}}
		first, second := town(t, c)
		asked := must(first.as("api").EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: "May I?"}))(t)
		pass(3 * time.Second)
		said := c.all()
		slices.Sort(said)
		same(t, "told", said, []string{"ntfy: question of api: May I?", "webhook: question of api: May I?"})
		pass(10 * time.Minute)
		same(t, "told once", len(c.all()), 2)

		must(second.as("web").EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: "And I?"}))(t)
		pass(3 * time.Second)
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

// An agent that asks without end must not ring without end.
func TestQuestionsThatComeTogetherAreToldOfInOneNotice(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := &crier{channels: []string{"ntfy"}}
		limits := c3po.DefaultLimits()
		model := storetest.NewModel(limits)
		h := run(t, &testHub{t: t, model: model, calls: &calls{Store: model, count: map[string]int{}, fail: map[string]error{}}, tells: c}, limits, "node-1")
		var ids []c3po.MessageID
		ask := func(n int) {
			asked := must(h.as(c3po.AgentID(fmt.Sprintf("api%d", n))).EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: fmt.Sprint("May I? ", n), Deadline: "10m"}))(t)
			ids = append(ids, asked.MessageID)
		}
		pass(9 * time.Second) // the regular look falls into the flood
		for n := range 400 {
			ask(n)
			pass(4 * time.Millisecond) // 400 in less than two seconds
		}
		pass(5 * time.Second)
		same(t, "told", c.all(), []string{"ntfy: 400 of kind question, the first of api0: "})
		shown := must(h.asPerson().HumanShow(t.Context(), c3po.MessageInput{MessageID: ids[399]}))(t)
		if len(shown.Told) != 1 || shown.Told[0].At.IsZero() {
			t.Errorf("of the last question they were told %+v", shown.Told)
		}
		// It goes on, and rings twice a minute.
		for n := range 60 {
			ask(400 + n)
			pass(time.Second)
		}
		pass(40 * time.Second)
		if rings := len(c.all()); rings < 3 || rings > 5 {
			t.Errorf("a minute of questions more makes %d notices: %q", rings, c.all())
		}
		pass(10 * time.Minute)
		if last := c.all()[len(c.all())-1]; !strings.Contains(last, "of kind overdue") {
			t.Errorf("the last notice is %q", last)
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
		pass(3 * time.Second)
		must(first.asPerson().HumanAnswer(t.Context(), c3po.AnswerInput{MessageID: done.MessageID, Response: "yes"}))(t)
		pass(9 * time.Minute)
		same(t, "before", len(c.all()), 1) // both were asked at once
		pass(2 * time.Minute)
		same(t, "after", c.all()[1:], []string{"ntfy: overdue of api: May I?"})
		pass(time.Hour)
		same(t, "later", len(c.all()), 2)
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
		pass(2 * time.Second)
		same(t, "at once", len(c.all()), 2)
		pass(store.NoticePause - time.Second)
		same(t, "before the pause is over", len(c.all()), 2)
		pass(time.Minute + store.NoticePause)
		same(t, "in the end", c.all()[2:], []string{"broken: fails", "broken: question of api: May I?"})
		pass(time.Hour)
		same(t, "and no more", len(c.all()), 4)
	})
}
