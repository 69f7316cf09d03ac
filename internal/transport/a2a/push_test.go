package a2a_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
	"github.com/c3po-dev/c3po/internal/transport/a2a"
)

const soon = 20 * time.Second

// A pushed is what a receiver got.
type pushed struct {
	path   string
	header http.Header
	task   task
	body   string
}

// A receiver is where a caller wants to be told.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	got    []pushed
	answer func(w http.ResponseWriter, n int) // before n others; nil takes all
}

func newReceiver(t *testing.T, answer func(w http.ResponseWriter, n int)) *receiver {
	t.Helper()
	r := &receiver{answer: answer}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		one := pushed{path: req.URL.Path, header: req.Header, body: string(body)}
		var wrapped struct{ Task *task }
		if json.Unmarshal(body, &wrapped) == nil && wrapped.Task != nil {
			one.task = *wrapped.Task
		} else {
			_ = json.Unmarshal(body, &one.task)
		}
		r.mu.Lock()
		r.got = append(r.got, one)
		n := len(r.got) - 1
		r.mu.Unlock()
		if r.answer != nil {
			r.answer(w, n)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) all() []pushed {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]pushed(nil), r.got...)
}

// states are those that it was told of a task, in their order.
func (r *receiver) states(id string) (states []string) {
	for _, one := range r.all() {
		if one.task.ID == id {
			states = append(states, one.task.Status.State)
		}
	}
	return states
}

// hears waits until it was told of a state, and gives what it got then.
func (r *receiver) hears(t *testing.T, id, state string) pushed {
	t.Helper()
	var found pushed
	if !faultrig.Within(soon, func() bool {
		for _, one := range r.all() {
			if one.task.ID == id && one.task.Status.State == state {
				found = one
				return true
			}
		}
		return false
	}) {
		t.Fatalf("it never heard that %s is %s, but %v", id, state, r.states(id))
	}
	return found
}

// A post is a coordinator with a Redis, whose receivers are on this machine.
type post struct {
	stack
	store  *redisstore.Store
	keeper *auth.Keeper
	pusher *a2a.Pusher
	log    *faultrig.Buffer
}

func newPost(t *testing.T, mode auth.Mode) post {
	t.Helper()
	store, err := redisstore.Open(t.Context(), redisstore.Config{URL: redistest.New(t).URL(), Limits: unlimited()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return post{store: store}.next("one", mode)
}

// unlimited are limits under which one may ask as often as one likes.
func unlimited() c3po.Limits {
	limits := c3po.DefaultLimits()
	limits.SendsPerMinute, limits.ChainMessages, limits.PairMessages, limits.AgentMessages = 0, 0, 0, 0
	return limits
}

// next is another coordinator on the same store.
func (p post) next(node string, mode auth.Mode) post {
	p.hub = hub.New(hub.Config{Store: p.store, Node: node, Limits: unlimited()})
	p.keeper = auth.New(auth.Config{Store: p.store, Mode: mode})
	p.log = &faultrig.Buffer{}
	p.pusher = &a2a.Pusher{
		Hub: p.hub, Keeper: p.keeper, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Life: time.Hour,
		Log: slog.New(slog.NewTextHandler(p.log, nil)), FirstPause: 50 * time.Millisecond,
	}
	p.Handler = a2a.New(a2a.Config{Hub: p.hub, Auth: p.keeper, Pusher: p.pusher})
	return p
}

// run has it work until the returned function is called.
func (p post) run(t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { _ = p.hub.Run(ctx) })
	running.Go(func() { _ = p.pusher.Run(ctx) })
	var once sync.Once
	stop = func() { once.Do(func() { cancel(); running.Wait() }) }
	t.Cleanup(stop)
	return stop
}

// away makes an agent known that is offline.
func (p post) away(t *testing.T, id c3po.AgentID) {
	t.Helper()
	p.register(t, id)
}

// answers replies to all mail of an agent.
func (p post) answers(t *testing.T, id c3po.AgentID) {
	t.Helper()
	list, err := p.as(id).GetMessages(t.Context(), c3po.GetMessagesInput{})
	if err != nil || len(list.Messages) == 0 {
		t.Fatalf("%s has no mail: %v", id, err)
	}
	for _, m := range list.Messages {
		p.reply(t, id, m.ID, "You asked: "+m.Text())
	}
}

// asks sends a text, and where its answer is wanted.
func asks(version, id, config string) call {
	if version == "0.3" {
		return call{method: "message/send", params: fmt.Sprintf(
			`{"configuration":{"blocking":false,"pushNotificationConfig":%s},"message":{"kind":"message","messageId":%q,"role":"user","parts":[{"kind":"text","text":"Which topics? %s"}]}}`, config, id, id)}
	}
	return call{version: "1.0", method: "SendMessage", params: fmt.Sprintf(
		`{"configuration":{"returnImmediately":true,"taskPushNotificationConfig":%s},"message":{"messageId":%q,"role":"ROLE_USER","parts":[{"text":"Which topics? %s"}]}}`, config, id, id)}
}

func TestACallerIsToldHowItsTaskGoesOn(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]struct{ config, working, completed, kind, body string }{
		"1.0": {`{"url":%q,"token":"tok-1","authentication":{"scheme":"Bearer","credentials":"cred-1"}}`, "TASK_STATE_WORKING", "TASK_STATE_COMPLETED", "application/a2a+json", `{"task":{"id":`},
		"0.3": {`{"url":%q,"token":"tok-1","authentication":{"schemes":["Bearer"],"credentials":"cred-1"}}`, "working", "completed", "application/json", `{"kind":"task","id":`},
	} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			p := newPost(t, auth.None)
			p.run(t)
			p.away(t, "api")
			r := newReceiver(t, nil)
			sent := p.call(t, asks(version, "m-1", fmt.Sprintf(want.config, r.URL+"/hook?x=1"))).task(t)
			reader := p.as("api")
			if _, err := reader.GetMessages(t.Context(), c3po.GetMessagesInput{}); err != nil {
				t.Fatal(err)
			}
			reader.Delivered()
			r.hears(t, sent.ID, want.working)
			p.answers(t, "api")
			got := r.hears(t, sent.ID, want.completed)
			if got.header.Get("X-A2A-Notification-Token") != "tok-1" || got.header.Get("Authorization") != "Bearer cred-1" || got.header.Get("Content-Type") != want.kind {
				t.Errorf("its headers are %v", got.header)
			}
			if len(got.task.Artifacts) != 1 || got.task.Artifacts[0].Parts[0].Text != "You asked: Which topics? m-1" || !strings.HasPrefix(got.body, want.body) {
				t.Errorf("it got %s", got.body)
			}
			if !faultrig.Within(soon, func() bool {
				mail, err := p.as("bot").GetMessages(t.Context(), c3po.GetMessagesInput{})
				return err == nil && len(mail.Messages) == 0
			}) {
				t.Error("the answer that was pushed waits in the inbox of who asked")
			}
			// The last push is noted, and the task let go, after the caller has it.
			if !faultrig.Within(soon, func() bool {
				open, _, err := p.store.OpenCallbacks(t.Context(), 0)
				return err == nil && len(open) == 0
			}) {
				t.Error("its end is told, and the task is still watched")
			}
			if states := r.states(sent.ID); len(states) != 2 {
				t.Errorf("it was told %v", states)
			}
			for _, secret := range []string{"tok-1", "cred-1", "x=1"} {
				if strings.Contains(p.log.String(), secret) {
					t.Errorf("%q is in the log", secret)
				}
			}
		})
	}
}

func TestACanceledTaskIsTold(t *testing.T) {
	t.Parallel()
	p := newPost(t, auth.None)
	p.run(t)
	p.away(t, "api")
	r := newReceiver(t, nil)
	sent := p.call(t, asks("1.0", "m-1", fmt.Sprintf(`{"url":%q}`, r.URL))).task(t)
	p.call(t, call{version: "1.0", method: "CancelTask", params: fmt.Sprintf(`{"id":%q}`, sent.ID)})
	r.hears(t, sent.ID, "TASK_STATE_CANCELED")
}

// What is to be told is found from facts, so that it needs none of those who were there.
func TestAnotherCoordinatorTellsWhatOneThatDiedDidNot(t *testing.T) {
	t.Parallel()
	p := newPost(t, auth.None)
	p.away(t, "api")
	r := newReceiver(t, nil)
	sent := p.call(t, asks("1.0", "m-1", fmt.Sprintf(`{"url":%q}`, r.URL))).task(t)
	p.answers(t, "api")
	if states := r.states(sent.ID); len(states) != 0 {
		t.Fatalf("nobody ran, and it was told %v", states)
	}
	p.next("two", auth.None).run(t)
	r.hears(t, sent.ID, "TASK_STATE_COMPLETED")
}

func TestOfTwoCoordinatorsOneTells(t *testing.T) {
	t.Parallel()
	p := newPost(t, auth.None)
	p.run(t)
	p.next("two", auth.None).run(t)
	p.away(t, "api")
	r := newReceiver(t, nil)
	var ids []string
	for i := range 10 {
		ids = append(ids, p.call(t, asks("1.0", fmt.Sprintf("m-%d", i), fmt.Sprintf(`{"url":%q}`, r.URL))).task(t).ID)
	}
	p.answers(t, "api")
	for _, id := range ids {
		r.hears(t, id, "TASK_STATE_COMPLETED")
	}
	for _, id := range ids {
		ended := 0
		for _, state := range r.states(id) {
			if state == "TASK_STATE_COMPLETED" {
				ended++
			}
		}
		if ended != 1 {
			t.Errorf("of %s it was told %v", id, r.states(id))
		}
	}
}

func TestAReceiverThatFailsIsTriedAgainAndThenGivenUp(t *testing.T) {
	t.Parallel()
	p := newPost(t, auth.None)
	p.pusher.Patience = time.Second
	p.run(t)
	p.away(t, "api")
	later := newReceiver(t, func(w http.ResponseWriter, n int) {
		if n < 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	never := newReceiver(t, func(w http.ResponseWriter, _ int) { w.WriteHeader(http.StatusInternalServerError) })
	sent := p.call(t, asks("1.0", "m-1", fmt.Sprintf(`{"url":%q}`, later.URL))).task(t)
	lost := p.call(t, asks("1.0", "m-2", fmt.Sprintf(`{"url":%q}`, never.URL+"/secret-path"))).task(t)
	p.answers(t, "api")
	if !faultrig.Within(soon, func() bool { return len(later.states(sent.ID)) == 3 }) {
		t.Errorf("it was told %v", later.states(sent.ID))
	}
	if !faultrig.Within(soon, func() bool { return strings.Contains(p.log.String(), "a push notification is given up") }) {
		t.Error("nobody says that it was given up")
	}
	if !faultrig.Within(soon, func() bool {
		open, _, err := p.store.OpenCallbacks(t.Context(), 0)
		return err == nil && len(open) == 0
	}) {
		t.Error("it is watched for ever")
	}
	if len(never.states(lost.ID)) < 3 || strings.Contains(p.log.String(), "secret-path") {
		t.Errorf("it was tried %d times; the log is %s", len(never.states(lost.ID)), p.log)
	}
}
