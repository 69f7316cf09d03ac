package claude_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// The model cannot be asked for 20 s. Turns fail 0, 5 and 20 s after the mail has come,
// each after two requests; the next is a minute later at the most.
func TestMailIsAnsweredAfterAnOutageOfTheModel(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	a := w.host("pi").agent("api", following(reading(always("port 8080"))...))
	var mu sync.Mutex
	var overloaded bool
	var refused []time.Time
	a.model.Refuses = func() int {
		mu.Lock()
		defer mu.Unlock()
		if !overloaded {
			return http.StatusOK
		}
		refused = append(refused, time.Now())
		return 529
	}
	term := a.open()
	term.idle()
	w.awaitOnline("api")
	w.reached("idle", c3po.ReachNow)
	overload := func(is bool) {
		mu.Lock()
		defer mu.Unlock()
		overloaded = is
	}
	overload(true)
	question := w.send("web", "api", "Which port?")
	w.reached("its turn failed", c3po.ReachRetry)
	faultrig.Within(20*time.Second, func() bool {
		agent, err := w.as("").GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: "api"})
		mu.Lock()
		quiet := time.Since(refused[len(refused)-1])
		mu.Unlock()
		if err == nil && agent.State != c3po.SessionFailed && quiet > 3*time.Second && quiet < 4500*time.Millisecond {
			t.Errorf("%s after its turn failed it is said to be %s", quiet, agent.State)
		}
		return t.Failed()
	})
	overload(false)
	recovered := time.Now()
	got, err := w.as("web").WaitForMessage(t.Context(), c3po.WaitInput{MessageID: question.ID, Timeout: 90})
	if err != nil || got.Response != "port 8080" {
		t.Fatalf("the answer is %q, %v\n%s", got.Response, err, term.screen())
	}
	took := time.Since(recovered)
	t.Logf("%d requests were refused; answered %s after the model was back", len(refused), took.Round(100*time.Millisecond))
	if len(refused) > 6 {
		t.Errorf("the model was asked %d times in 20 s, want 6 at the most: %v", len(refused), refused)
	}
	if took > 70*time.Second {
		t.Errorf("answered %s after the model was back, want a minute and 10 s at the most", took)
	}
}
