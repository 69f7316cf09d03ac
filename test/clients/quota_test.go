package clients_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/clientrig"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/llm"
)

// A limitedModel refuses its client for a while, beginning with the first request after
// it was armed, which it holds back until it is told to begin.
type limitedModel struct {
	begin chan struct{} // closed when it is to refuse
	lasts time.Duration
	how   func(until time.Time) llm.RateLimit

	mu    sync.Mutex
	armed bool
	until time.Time // zero before it refuses
	asked []time.Time
}

func (l *limitedModel) arm() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armed = true
}

func (l *limitedModel) isArmed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.armed
}

// refusal is llm.Model.Limited.
func (l *limitedModel) refusal() *llm.RateLimit {
	if !l.isArmed() {
		return nil
	}
	<-l.begin
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.until.IsZero() {
		l.until = now.Add(l.lasts).Truncate(time.Second).Add(time.Second)
	}
	l.asked = append(l.asked, now)
	if !now.Before(l.until) {
		return nil
	}
	limit := l.how(l.until)
	return &limit
}

// requests are when the model was asked, before its quota was back and after.
func (l *limitedModel) requests() (until time.Time, before, after []time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, at := range l.asked {
		if at.Before(l.until) {
			before = append(before, at)
		} else {
			after = append(after, at)
		}
	}
	return l.until, before, after
}

// inWords is a refusal that names its end in words, as Anthropic's do.
func inWords(until time.Time) llm.RateLimit {
	return llm.RateLimit{Message: "You have reached your usage limit until " + until.UTC().Format(time.RFC3339)}
}

// joins is a model that becomes a reviewer when it is asked to.
var joins = llm.On("join the reviewers", llm.Call("register_agent", map[string]any{"capabilities": []string{"review"}}))

// holding is a model that claims a reviewer's ticket, runs into its limit with it, and
// answers each of its own questions.
func holding(limit *limitedModel) llm.Script {
	var mu sync.Mutex
	answered := map[string]bool{}
	direct := func(r llm.Request) (llm.Step, bool) {
		mu.Lock()
		defer mu.Unlock()
		// Several come with one prompt, of which only the first is still new after its answer.
		for _, found := range llm.ToAnswer.FindAllStringSubmatch(r.All(), -1) {
			if id := found[1]; !answered[id] && !strings.Contains(id, "::role/review::") {
				answered[id] = true
				return llm.Call("reply", map[string]any{"message_id": id, "response": "port 8080"}), true
			}
		}
		return llm.Step{}, false
	}
	return llm.Following(joins, direct,
		llm.When(`\S+::role/review::\S+`, func(llm.Request, []string) llm.Step {
			limit.arm()
			return llm.Call("list_agents", nil) // some work
		}),
		llm.When(llm.Unread.String(), func(llm.Request, []string) llm.Step {
			if !limit.isArmed() {
				return llm.Call("wait_for_message", map[string]any{"timeout": 5}) // which claims it
			}
			return llm.Call("get_messages", nil)
		}), llm.Else(done))
}

// Claude Code holds a queue's ticket when its quota runs out: OpenCode answers it. What was
// written to Claude Code itself wakes it when its quota is back, and nothing before.
func TestAQueueMovesOnAndDirectMailWaitsWhenClaudeCodeIsOutOfQuota(t *testing.T) {
	t.Parallel()
	c := clientrig.Start(t)
	limit := &limitedModel{begin: make(chan struct{}), lasts: time.Duration(faultrig.Size(12, 30)) * time.Second, how: inWords}
	api := c.Machine("").Agent("claude", "api", holding(limit))
	api.Model.Limited = limit.refusal
	welcomed(api)
	docs := c.Machine("").Agent("opencode", "docs", llm.Following(joins, llm.Answers("looks good"), llm.Else(done)))
	install(docs)
	claude, opencode := api.Open(), docs.Open()
	said(claude, "join the reviewers")
	c.Online("api")
	c.Reached("api", "idle", c3po.ReachNow)

	task := c.Send("web", "role:review", "Please look at #12")
	clientrig.Eventually(t, 30*time.Second, "Claude Code holds the ticket", func() bool {
		trace, err := c.As("web").Trace(t.Context(), c3po.MessageInput{MessageID: task.ID})
		return err == nil && trace.Claimed != nil && trace.Claimed.By == "api" && limit.isArmed()
	})
	said(opencode, "join the reviewers")
	c.Online("docs")
	c.Reached("docs", "idle", c3po.ReachNow)
	before := c.Send("web", "api", "Which port?")

	close(limit.begin)
	var agent c3po.Agent
	clientrig.Eventually(t, 50*time.Second, "Claude Code is said to be out of quota", func() bool {
		agent = c.Agent("api")
		return agent.OutOfQuota != nil
	})
	known := time.Now()
	until, refused, _ := limit.requests()
	faultrig.Hold(t, "from the refusal until others see it", known.Sub(refused[0]), 3*time.Second)
	if q := agent.OutOfQuota; !q.Exact || !q.Until.Round(time.Second).Equal(until) || !strings.Contains(q.Evidence, "usage limit until") {
		t.Errorf("it is said to be %+v, want until %s", q, until)
	}
	after := c.Send("web", "api", "And which host?")
	if after.Reachability != c3po.ReachQuota || !strings.Contains(after.Notice, "out of quota until") {
		t.Errorf("the receipt says %s, %q", after.Reachability, after.Notice)
	}
	c.Answered("web", task, "looks good", 50)
	faultrig.Hold(t, "from the refusal until the other agent's answer", time.Since(refused[0]), 10*time.Second)

	c.Answered("web", before, "port 8080", 90)
	c.Answered("web", after, "port 8080", 60)
	_, early, again := limit.requests()
	if len(early) != len(refused) {
		t.Errorf("its model was asked %d times before its quota was back, after it was said to be out of it", len(early)-len(refused))
	}
	faultrig.Hold(t, "from the end of its limit until its model is asked", again[0].Sub(until), 2*time.Second)
	clientrig.Eventually(t, 10*time.Second, "it is no longer said to be out of quota", func() bool { return c.Agent("api").OutOfQuota == nil })

	trace, err := c.As("web").Trace(t.Context(), c3po.MessageInput{MessageID: task.ID})
	if err != nil || len(trace.Answered) != 1 || trace.Claimed.By != "docs" {
		t.Errorf("the ticket was answered %+v, held by %+v, %v", trace.Answered, trace.Claimed, err)
	}
	if told := notices(c, "is out of quota"); told != 1 {
		t.Errorf("the asker was told %d times, want once", told)
	}
}

// Each says in its own way that its model is refused to it. What it says is what senders
// see, until its model answers.
func TestARefusalThatAClientTellsOfMakesItOutOfQuota(t *testing.T) {
	t.Parallel()
	waits := func(time.Time) llm.RateLimit {
		return llm.RateLimit{RetryAfter: 12 * time.Second, Message: "Rate limit reached"}
	}
	for name, how := range map[string]func(time.Time) llm.RateLimit{
		"opencode": waits, "kimi": waits,
		"copilot": func(until time.Time) llm.RateLimit {
			return llm.RateLimit{RetryAfter: 12 * time.Second, Message: "Rate limit reached until " + until.UTC().Format(time.RFC3339)}
		},
		"codex": func(until time.Time) llm.RateLimit {
			return llm.RateLimit{Body: fmt.Sprintf(`{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"plus","resets_at":%d}}`, until.Add(20*time.Minute).Unix())}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := &limitedModel{begin: make(chan struct{}), lasts: 10 * time.Second, how: how}
			close(limit.begin)
			r := newTestAgent(t, name, done)
			r.Model.Limited = limit.refusal
			term := r.at()
			term.Rest()
			limit.arm()
			term.Enter("work some more")
			var agent c3po.Agent
			clientrig.Eventually(t, 50*time.Second, "it is said to be out of quota", func() bool {
				agent = r.c.Agent("api")
				return agent.OutOfQuota != nil
			})
			_, refused, _ := limit.requests()
			faultrig.Hold(t, "from the refusal of "+name+" until others see it", time.Since(refused[0]), 5*time.Second)
			t.Logf("%s: %+v", name, *agent.OutOfQuota)
			if name == "codex" { // it has given up, and its limit is a long one
				if left := time.Until(agent.OutOfQuota.Until); !agent.OutOfQuota.Exact || left < 18*time.Minute || left > 22*time.Minute {
					t.Errorf("it is out of quota for %s: %+v", left, agent.OutOfQuota)
				}
				return
			}
			clientrig.Eventually(t, 90*time.Second, "its model answers again", func() bool {
				_, _, after := limit.requests()
				return len(after) > 0 && r.c.Agent("api").OutOfQuota == nil
			})
		})
	}
}
