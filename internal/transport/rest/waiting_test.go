package rest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store/storetest"
)

// begin makes a request and returns before it is answered. The answer is held
// against the document like any other.
func (s *testServer) begin(t *testing.T, ctx context.Context, q question) *asked {
	t.Helper()
	a := &asked{request: q.request(ctx), recorder: httptest.NewRecorder(), done: make(chan struct{})}
	go func() {
		s.ServeHTTP(a.recorder, a.request)
		close(a.done)
	}()
	return a
}

// asked is a request under way.
type asked struct {
	request  *http.Request
	recorder *httptest.ResponseRecorder
	done     chan struct{}
}

func (a *asked) answer(t *testing.T) answer {
	t.Helper()
	<-a.done
	got := answer{status: a.recorder.Code, header: a.recorder.Header(), body: a.recorder.Body.Bytes()}
	checkAgainstDocument(t, a.request, got)
	return got
}

func TestALongPollIsAnsweredByMail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := onModel(t)
		s.op(t, "main", "bob", "ping", c3po.None{}, nil)
		waiting := s.begin(t, t.Context(), question{path: "/api/wait?timeout=3600", as: "bob"})
		<-time.After(10 * time.Minute)
		select {
		case <-waiting.done:
			t.Fatalf("answered without mail: %s", waiting.recorder.Body)
		default:
		}
		began := time.Now()
		s.op(t, "main", "ann", "send_message", c3po.SendInput{Target: "bob", Message: "wake up"}, nil)
		var pending c3po.Pending
		waiting.answer(t).into(t, &pending)
		if pending.Count != 1 || pending.Messages[0].Message != "wake up" {
			t.Errorf("woken with %+v", pending)
		}
		if waited := time.Since(began); waited > time.Second {
			t.Errorf("woken %v after the mail came", waited)
		}

		// What was seen is not waited for again.
		again := s.begin(t, t.Context(), question{path: "/api/wait?timeout=5&after=" + number(pending.Seq), as: "bob"})
		began = time.Now()
		var none c3po.Pending
		again.answer(t).into(t, &none)
		if len(none.Messages) != 0 || time.Since(began) < 5*time.Second {
			t.Errorf("after %v: %+v, want nothing new for 5 s", time.Since(began), none)
		}
	})
}

func number(n int64) string {
	text, _ := json.Marshal(n)
	return string(text)
}

func TestAWaitEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := onModel(t)
		ctx, leave := context.WithCancel(t.Context())
		waiting := s.begin(t, ctx, question{path: "/api/op/wait_for_message", as: "bob", body: `{"timeout":3600}`})
		synctest.Wait()
		began := time.Now()
		leave()
		waiting.answer(t).refused(t, http.StatusBadGateway, c3po.UnknownOutcome)
		if waited := time.Since(began); waited != 0 {
			t.Errorf("the wait went on for %v", waited)
		}
		if lines := s.log.lines(t, "request failed"); len(lines) != 0 {
			t.Errorf("a caller that left is logged as a failure: %v", lines)
		}
	})
}

func TestADrainingCoordinatorAnswersEveryWaitWithRetry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := onModel(t)
		poll := s.begin(t, t.Context(), question{path: "/api/wait?timeout=3600", as: "bob"})
		tool := s.begin(t, t.Context(), question{path: "/api/op/wait_for_message", as: "ann", body: `{"timeout":3600}`})
		synctest.Wait()
		if got := s.ask(t, question{path: "/readyz"}); got.status != http.StatusOK {
			t.Errorf("not ready: %s", got.body)
		}
		s.hub.Drain()
		for _, waiting := range []*asked{poll, tool} {
			var outcome c3po.WaitOutcome
			waiting.answer(t).into(t, &outcome)
			if outcome.Status != c3po.WaitRetry || outcome.RetryAfterMS <= 0 {
				t.Errorf("a drained wait ended with %+v", outcome)
			}
		}
		got := s.ask(t, question{path: "/readyz"})
		if got.status != http.StatusServiceUnavailable || !strings.Contains(string(got.body), "stopping") {
			t.Errorf("readiness of a draining coordinator: %d %s", got.status, got.body)
		}
		if got := s.ask(t, question{path: "/livez"}); got.status != http.StatusOK {
			t.Errorf("a draining coordinator is not dead: %s", got.body)
		}
	})
}

func TestALongPollGoesOnUnderTheNewNameOfItsAgent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := onModel(t)
		run := map[string]string{"X-C3PO-Run": "box:7:8"}
		waiting := s.begin(t, t.Context(), question{path: "/api/wait?timeout=3600", as: "bob", header: run})
		synctest.Wait()
		s.ask(t, question{path: "/api/op/rename", as: "bob", header: run, body: `{"new_id":"robert"}`})
		synctest.Wait()
		s.op(t, "main", "ann", "send_message", c3po.SendInput{Target: "robert", Message: "wake up"}, nil)
		began := time.Now()
		var pending c3po.Pending
		got := waiting.answer(t)
		got.into(t, &pending)
		if pending.Count != 1 || pending.Messages[0].Message != "wake up" || time.Since(began) > time.Second {
			t.Errorf("answered after %v with %+v", time.Since(began), pending)
		}
		if as := got.header.Get(c3po.ActedAsHeader); as != "robert" {
			t.Errorf("answered as %q", as)
		}
	})
}

// A coordinator that remembers a caller by a name it has lost elsewhere asks again.
func TestAPollAfterARenamingElsewhereIsAnsweredUnderTheNewName(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		model := storetest.NewModel(c3po.DefaultLimits())
		here, there := over(t, model), over(t, model)
		run := map[string]string{"X-C3PO-Run": "box:7:8"}
		here.ask(t, question{path: "/api/pending", as: "bob", header: run})
		there.ask(t, question{path: "/api/op/rename", as: "bob", header: run, body: `{"new_id":"robert"}`})
		there.op(t, "main", "ann", "send_message", c3po.SendInput{Target: "robert", Message: "hello"}, nil)
		var pending c3po.Pending
		here.ask(t, question{path: "/api/pending", as: "bob", header: run}).into(t, &pending)
		if pending.Count != 1 || pending.Messages[0].Message != "hello" {
			t.Errorf("answered with %+v", pending)
		}
	})
}
