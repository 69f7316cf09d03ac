package clients_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/clientrig"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/llm"
)

// A limitedModel refuses its client for a while, beginning when it is told to.
type limitedModel struct {
	begin chan struct{} // closed when it is to refuse
	lasts time.Duration

	mu    sync.Mutex
	holds bool      // requests wait for the begin
	until time.Time // zero before it refuses
	asked []time.Time
}

func (l *limitedModel) hold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holds = true
}

func (l *limitedModel) held() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.holds
}

// refusal is llm.Model.Limited.
func (l *limitedModel) refusal() *llm.RateLimit {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.holds {
		return nil
	}
	<-l.begin
	now := time.Now()
	if l.until.IsZero() {
		l.until = now.Add(l.lasts).Truncate(time.Second).Add(time.Second)
	}
	l.asked = append(l.asked, now)
	if now.After(l.until) {
		return nil
	}
	return &llm.RateLimit{Message: "You have reached your usage limit until " + l.until.UTC().Format(time.RFC3339)}
}

func (l *limitedModel) seen() (until time.Time, asked []time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until, append([]time.Time(nil), l.asked...)
}

// welcomed is a Claude Code whose first questions to a person are answered.
func welcomed(a *clientrig.Agent) {
	a.T.Helper()
	answers, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true, "lastOnboardingVersion": "99.0.0", "theme": "dark",
		"projects":              map[string]any{a.Folder: map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
		"customApiKeyResponses": map[string]any{"approved": []string{clientrig.Key[len(clientrig.Key)-20:]}, "rejected": []string{}},
	})
	if err != nil {
		a.T.Fatal(err)
	}
	a.Write(".claude/.claude.json", string(answers))
}

// Claude Code holds a queue's ticket when its quota runs out for 30 s: OpenCode answers it.
// What was written to Claude Code itself wakes it when its quota is back, and nothing
// before.
//
// Claims: C13
func TestAQueueMovesOnAndDirectMailWaitsWhenClaudeCodeIsOutOfQuota(t *testing.T) {
	t.Parallel()
	c := clientrig.Start(t)
	joins := llm.On("join the reviewers", llm.Call("register_agent", map[string]any{"capabilities": []string{"review"}}))
	limit := &limitedModel{begin: make(chan struct{}), lasts: 30 * time.Second}
	api := c.Machine("").Agent("claude", "api", llm.Following(joins,
		llm.When(llm.ToAnswer.String(), func(r llm.Request, match []string) llm.Step {
			if strings.Contains(match[1], "::role/review::") {
				limit.hold()
				return llm.Call("list_agents", nil) // some work
			}
			return llm.Call("reply", map[string]any{"message_id": match[1], "response": "port 8080"})
		}),
		llm.When(llm.Unread.String(), func(llm.Request, []string) llm.Step {
			if !limit.held() {
				return llm.Call("wait_for_message", map[string]any{"timeout": 5}) // which claims it
			}
			return llm.Call("get_messages", nil)
		}), llm.Else(done)))
	api.Model.Limited = limit.refusal
	plugin, err := filepath.Abs("../../plugin")
	if err != nil {
		t.Fatal(err)
	}
	api.Plugin = plugin
	welcomed(api)
	docs := c.Machine("").Agent("opencode", "docs", llm.Following(joins, llm.Answers("looks good"), llm.Else(done)))
	install(docs)
	claude, opencode := api.Open(), docs.Open()
	join := func(term *clientrig.Terminal) {
		term.Enter("join the reviewers")
		term.See("ALL-DONE")
		term.Rest()
	}
	join(claude)
	c.Online("api")
	c.Reached("api", "idle", c3po.ReachNow)

	task := c.Send("web", "role:review", "Please look at #12")
	clientrig.Eventually(t, 30*time.Second, "Claude Code holds the ticket", func() bool {
		trace, err := c.As("web").Trace(t.Context(), c3po.MessageInput{MessageID: task.ID})
		return err == nil && trace.Claimed != nil && trace.Claimed.By == "api"
	})
	before := c.Send("web", "api", "Which port?")
	join(opencode)
	c.Online("docs")
	c.Reached("docs", "idle", c3po.ReachNow)

	close(limit.begin)
	var agent c3po.Agent
	clientrig.Eventually(t, 10*time.Second, "Claude Code is said to be out of quota", func() bool {
		agent = c.Agent("api")
		return agent.OutOfQuota != nil
	})
	said := time.Now()
	until, refused := limit.seen()
	if !agent.OutOfQuota.Exact || !agent.OutOfQuota.Until.Round(time.Second).Equal(until) || !strings.Contains(agent.OutOfQuota.Evidence, "usage limit until") {
		t.Errorf("it is said to be %+v, want until %s", agent.OutOfQuota, until)
	}
	faultrig.Hold(t, "from the refusal until others see it", said.Sub(refused[0]), 10*time.Second)
	after := c.Send("web", "api", "And which host?")
	if after.Reachability != c3po.ReachQuota || !strings.Contains(after.Notice, "out of quota until") {
		t.Errorf("the receipt says %s, %q", after.Reachability, after.Notice)
	}
	c.Answered("web", task, "looks good", 10)
	faultrig.Hold(t, "from the refusal until the other agent's answer", time.Since(refused[0]), 10*time.Second)

	c.Answered("web", before, "port 8080", 60)
	c.Answered("web", after, "port 8080", 30)
	_, asked := limit.seen()
	asked = asked[len(refused):]
	if len(asked) == 0 {
		t.Fatal("its model was not asked again")
	}
	off := asked[0].Sub(until)
	t.Logf("its model was refused %d times, and was asked again %s after the quota was back", len(refused), off.Round(10*time.Millisecond))
	if off < -2*time.Second || off > 2*time.Second {
		t.Errorf("its model was asked again %s after the quota was back, want within 2 s", off)
	}
	clientrig.Eventually(t, 10*time.Second, "it is no longer said to be out of quota", func() bool { return c.Agent("api").OutOfQuota == nil })

	trace, err := c.As("web").Trace(t.Context(), c3po.MessageInput{MessageID: task.ID})
	if err != nil || len(trace.Answered) != 1 || trace.Claimed.By != "docs" {
		t.Errorf("the ticket was answered %+v, held by %+v, %v", trace.Answered, trace.Claimed, err)
	}
	notices := 0
	for _, m := range c.Unacked("web") {
		if strings.Contains(m.Text(), "is out of quota") {
			notices++
		}
	}
	if notices != 1 {
		t.Errorf("the asker was told %d times, want once: %s", notices, fmt.Sprint(c.Unacked("web")))
	}
}
