package a2a_test

import (
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

var shownState = regexp.MustCompile(`"state":"([^"]+)"`)

func TestAStreamTellsATaskFromItsBeginningToItsEnd(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		call call
		want []string // in this order, after the states
	}{
		"1.0": {call{version: "1.0", method: "SendStreamingMessage", params: `{"message":` + versions["1.0"].message + `}`},
			[]string{`"result":{"task":{`, `"statusUpdate":{`, `"artifactUpdate":{`, `"statusUpdate":{`}},
		"0.3": {call{method: "message/stream", params: `{"message":` + versions["0.3"].message + `}`},
			[]string{`"kind":"task"`, `"final":false`, `"kind":"artifact-update"`, `"final":true`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(t, func(t *testing.T, s stack) {
				s.register(t, "api")
				w := httptest.NewRecorder()
				var streaming sync.WaitGroup
				streaming.Go(func() { s.ServeHTTP(w, row.call.request(t.Context())) })
				synctest.Wait()
				pass(time.Minute)
				asked := s.read(t, "api")
				pass(time.Minute)
				s.reply(t, "api", asked.ID, "Two.")
				streaming.Wait()
				text := w.Body.String()
				var states []string
				for _, found := range shownState.FindAllStringSubmatch(text, -1) {
					states = append(states, strings.ToLower(strings.TrimPrefix(found[1], "TASK_STATE_")))
				}
				if got := strings.Join(states, " "); got != "submitted working completed" {
					t.Errorf("its states are %q in\n%s", got, text)
				}
				rest := text
				for _, want := range row.want {
					_, after, found := strings.Cut(rest, want)
					if !found {
						t.Fatalf("%s is missing, or not in its place, in\n%s", want, text)
					}
					rest = after
				}
				if !strings.Contains(text, ": here\n\n") || !strings.Contains(text, `"Two."`) || w.Header().Get("Content-Type") != "text/event-stream" {
					t.Errorf("the stream is %v\n%s", w.Header(), text)
				}
			})
		})
	}
}

func TestAStreamIsTakenUpAgainWhereTheTaskIs(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		id := s.call(t, ask("m-1", "Deploy?")).task(t).ID
		asked := s.read(t, "api")
		w := httptest.NewRecorder()
		var streaming sync.WaitGroup
		again := call{version: "1.0", method: "SubscribeToTask", params: get(id).params}
		streaming.Go(func() { s.ServeHTTP(w, again.request(t.Context())) })
		synctest.Wait()
		s.reply(t, "api", asked.ID, "Done.")
		streaming.Wait()
		if text := w.Body.String(); !strings.Contains(text, "TASK_STATE_WORKING") || !strings.Contains(text, "TASK_STATE_COMPLETED") {
			t.Errorf("the stream is %s", text)
		}
		if ended := s.call(t, again); ended.Error.Code != -32004 {
			t.Errorf("of a task that has ended: %s", ended.text)
		}
	})
}

// An agent that is online may answer soon, and callers of the protocol wait for it by default.
func TestACallWaitsForAnAgentThatIsOnlineUnlessItAsksNotTo(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		if _, err := s.as("api").RegisterAgent(t.Context(), c3po.RegisterInput{}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		atOnce := ask("m-0", "Later?")
		atOnce.params = strings.Replace(atOnce.params, "{", `{"configuration":{"returnImmediately":true},`, 1)
		if got := s.call(t, atOnce).task(t); got.Status.State != "TASK_STATE_SUBMITTED" || time.Since(began) > time.Second {
			t.Errorf("at once it is %s after %s", got.Status.State, time.Since(began))
		}
		var answering sync.WaitGroup
		answering.Go(func() {
			pass(10 * time.Second)
			s.reply(t, "api", s.read(t, "api").ID, "Now.")
		})
		if got := s.call(t, ask("m-1", "Deploy?")).task(t); got.Status.State != "TASK_STATE_COMPLETED" {
			t.Errorf("with an answer within its patience it is %s", got.Status.State)
		}
		answering.Wait()
		if _, err := s.as("api").Ping(t.Context(), c3po.None{}); err != nil {
			t.Fatal(err)
		}
		began = time.Now()
		if got := s.call(t, ask("m-2", "And now?")).task(t); got.Status.State != "TASK_STATE_SUBMITTED" || time.Since(began) < 30*time.Second || time.Since(began) > time.Minute {
			t.Errorf("without an answer it is %s after %s", got.Status.State, time.Since(began))
		}
	})
}
