package a2a_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// ownNetwork lets a coordinator call receivers on this machine, as it never does by itself.
const ownNetwork = "notify:\n  allow: [127.0.0.1]\n"

// A told is one push that came, with what it showed.
type told struct{ id, state, answer, token, credentials string }

// A receiver is where clients want to be told.
type receiver struct {
	*httptest.Server
	deaf atomic.Bool // it takes nothing
	mu   sync.Mutex
	got  []told
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r.deaf.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		type task struct {
			ID     string
			Status struct{ State string }

			Artifacts []struct{ Parts []struct{ Text string } }
		}
		var body struct {
			Task *task // of 1.0
			task
		}
		text, err := io.ReadAll(req.Body)
		if err == nil {
			err = json.Unmarshal(text, &body)
		}
		if err != nil {
			t.Errorf("it got %s: %v", text, err)
		}
		if body.Task == nil {
			body.Task = &body.task
		}
		one := told{id: body.Task.ID, state: body.Task.Status.State, token: req.Header.Get("X-A2A-Notification-Token"), credentials: req.Header.Get("Authorization")}
		for _, artifact := range body.Task.Artifacts {
			one.answer += artifact.Parts[0].Text
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, one)
	}))
	t.Cleanup(r.Close)
	return r
}

// hears waits until it was told that a task has completed.
func (r *receiver) hears(t *testing.T, id string) told {
	t.Helper()
	var found told
	if !faultrig.Within(90*time.Second, func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, one := range r.got {
			if one.id == id && strings.HasSuffix(strings.ToLower(one.state), "completed") {
				found = one
				return true
			}
		}
		return false
	}) {
		t.Fatalf("it never heard that %s has completed, but %+v", id, r.got)
	}
	return found
}

func TestTheOfficialClientsAreToldThatTheirTaskHasCompleted(t *testing.T) {
	t.Parallel()
	s := site{faultrig.StartWith(t, redistest.New(t).URL(), ownNetwork), t}
	r := newReceiver(t)
	for _, version := range []string{"1.0", "0.3", goSDK} {
		agent := c3po.AgentID("box/api-" + version)
		s.away(agent)
		p := newPeer(t, s.URL(), string(agent), version)
		sent := p.task(map[string]string{"do": "send", "id": "m-" + version, "text": "Which topics?", "push": r.URL, "token": "tok-" + version, "credentials": "cred"})
		p.say(map[string]string{"do": "push", "task": sent.ID, "config": "second", "push": r.URL + "/second", "token": "other"})
		if ok, wrong := p.hear(); !strings.Contains(string(ok), `"second"`) {
			t.Errorf("%s: a second one: %s %s", version, ok, wrong)
		}
		p.say(map[string]string{"do": "pushed", "task": sent.ID, "config": "second"})
		if ok, wrong := p.hear(); !strings.Contains(string(ok), r.URL+"/second") {
			t.Errorf("%s: the second one: %s %s", version, ok, wrong)
		}
		p.say(map[string]string{"do": "unpush", "task": sent.ID, "config": "second"})
		if _, wrong := p.hear(); wrong != "" {
			t.Errorf("%s: to forget it: %s", version, wrong)
		}
		p.say(map[string]string{"do": "pushes", "task": sent.ID})
		var left []struct{ ID string }
		ok, wrong := p.hear()
		if err := json.Unmarshal(ok, &left); err != nil || len(left) != 1 || left[0].ID != sent.ID {
			t.Errorf("%s: left are %s %s", version, ok, wrong)
		}
		s.answers(agent)
		if got := r.hears(t, sent.ID); got.token != "tok-"+version || got.credentials != "Bearer cred" || got.answer != "You asked: Which topics?" {
			t.Errorf("%s: it is told %+v", version, got)
		}
		p.say(map[string]string{"do": "push", "task": sent.ID, "push": "http://169.254.169.254/latest/meta-data/"})
		if _, wrong := p.hear(); !strings.Contains(wrong, "169.254.169.254") {
			t.Errorf("%s: to be told at a cloud's address: %s", version, wrong)
		}
	}
}

func TestAPushComesAlthoughTheCoordinatorIsKilled(t *testing.T) {
	t.Parallel()
	s := site{faultrig.StartWith(t, redistest.New(t).URL(), ownNetwork), t}
	r, rounds := newReceiver(t), faultrig.Size(3, 50)
	s.away("api")
	p := newPeer(t, s.URL(), "api", "1.0")
	for i := range rounds {
		sent := p.task(map[string]string{"do": "send", "id": fmt.Sprintf("m-%d", i), "text": fmt.Sprintf("Question %d", i), "push": r.URL, "token": "tok"})
		if i%2 == 0 { // between the message and its answer
			s.Kill()
			s.Restart()
		}
		r.deaf.Store(i%3 != 2) // else it is killed perhaps before the push, perhaps after it
		s.answers("api")
		s.Kill()
		r.deaf.Store(false)
		s.Restart()
		if got := r.hears(t, sent.ID); got.token != "tok" || got.answer != fmt.Sprintf("You asked: Question %d", i) {
			t.Errorf("it is told %+v", got)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t.Logf("%d tasks, killed %d times, told %d times", rounds, rounds+(rounds+1)/2, len(r.got))
}
