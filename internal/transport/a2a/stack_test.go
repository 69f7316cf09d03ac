package a2a_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/store/storetest"
	"github.com/c3po-dev/c3po/internal/transport/a2a"
)

var update = flag.Bool("update", false, "write the golden files anew")

// A stack is the handler over a hub over the model of the store, in time that passes only
// when everybody waits.
type stack struct {
	http.Handler
	hub *hub.Hub
}

// play runs a test on a stack of its own.
func play(t *testing.T, test func(t *testing.T, s stack)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := hub.New(hub.Config{Store: storetest.NewModel(c3po.DefaultLimits())})
		ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
		var running sync.WaitGroup
		running.Go(func() {
			if err := h.Run(ctx); err != nil {
				t.Errorf("the hub ended with %v", err)
			}
		})
		defer running.Wait()
		defer stop()
		test(t, stack{a2a.New(a2a.Config{Hub: h, Auth: auth.New(auth.Config{Mode: auth.None}), Version: "1.2.3"}), h})
	})
}

// as is the hub as an agent uses it.
func (s stack) as(id c3po.AgentID) *hub.Actor {
	return s.hub.As(c3po.Caller{Space: c3po.DefaultSpace, ID: id, Role: c3po.RoleAgent, Route: "rest"})
}

// register makes an agent known that then goes away.
func (s stack) register(t *testing.T, id c3po.AgentID, capabilities ...string) {
	t.Helper()
	if _, err := s.as(id).RegisterAgent(t.Context(), c3po.RegisterInput{Type: "codex", Capabilities: capabilities}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.as(id).Unregister(t.Context(), c3po.None{}); err != nil {
		t.Fatal(err)
	}
}

// read gives an agent its mail, and gives the last of it.
func (s stack) read(t *testing.T, id c3po.AgentID) c3po.Message {
	t.Helper()
	actor := s.as(id)
	list, err := actor.GetMessages(t.Context(), c3po.GetMessagesInput{})
	if err != nil || len(list.Messages) == 0 {
		t.Fatalf("%s has no mail: %v", id, err)
	}
	actor.Delivered()
	pass(2 * time.Second) // what was served is written down once a second
	return list.Messages[len(list.Messages)-1]
}

func (s stack) reply(t *testing.T, id c3po.AgentID, to c3po.MessageID, text string) {
	t.Helper()
	if _, err := s.as(id).Reply(t.Context(), c3po.ReplyInput{MessageID: to, Response: text}); err != nil {
		t.Fatal(err)
	}
}

// pass lets faked time pass.
func pass(d time.Duration) {
	<-time.NewTimer(d).C
	synctest.Wait()
}

// A call is a request of a test.
type call struct {
	version string // 1.0 unless it is given
	as      string // bot unless it is given
	target  string // api unless it is given; - for the host
	method  string
	params  string
}

func (c call) request(ctx context.Context) *http.Request {
	path := a2a.Prefix + "api"
	switch {
	case c.target == "-":
		path = strings.TrimSuffix(a2a.Prefix, "/")
	case c.target != "":
		path = a2a.Prefix + c.target
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`, c.method, c.params)
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Agent-ID", "bot")
	if c.as != "" {
		r.Header.Set("X-Agent-ID", c.as)
	}
	if c.version != "" {
		r.Header.Set("A2A-Version", c.version)
	}
	return r
}

// An answer is what came back.
type answer struct {
	Result json.RawMessage `json:"result"`
	Error  struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
	text string
}

func (s stack) call(t *testing.T, c call) answer {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, c.request(t.Context()))
	got := answer{text: w.Body.String()}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%s: %d %v %s", c.method, w.Code, err, w.Body)
	}
	return got
}

// A task is what the tests look at of one, in both versions.
type task struct {
	ID        string `json:"id"`
	ContextID string `json:"contextId"`
	Status    struct {
		State   string `json:"state"`
		Message struct {
			Parts []part `json:"parts"`
		} `json:"message"`
	} `json:"status"`
	Artifacts []struct {
		Parts []part `json:"parts"`
	} `json:"artifacts"`
	History []struct {
		MessageID string `json:"messageId"`
		Parts     []part `json:"parts"`
	} `json:"history"`
}

type part struct {
	Text string          `json:"text"`
	Data json.RawMessage `json:"data"`
}

// task reads the task of an answer, wrapped or not.
func (a answer) task(t *testing.T) task {
	t.Helper()
	var wrapped struct{ Task *task }
	var bare task
	if json.Unmarshal(a.Result, &wrapped) == nil && wrapped.Task != nil {
		return *wrapped.Task
	}
	if err := json.Unmarshal(a.Result, &bare); err != nil || bare.ID == "" {
		t.Fatalf("no task: %v %s", err, a.text)
	}
	return bare
}

// ask sends a text as an A2A client does.
func ask(id, text string) call {
	return call{version: "1.0", method: "SendMessage", params: fmt.Sprintf(`{"message":{"messageId":%q,"role":"ROLE_USER","parts":[{"text":%q}]}}`, id, text)}
}

func get(id string) call {
	return call{version: "1.0", method: "GetTask", params: fmt.Sprintf(`{"id":%q}`, id)}
}

var madeUp = regexp.MustCompile(`::[0-9a-f]{8}`)

// golden compares JSON with a file, except for the ids that are made up.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	var value any
	if err := json.Unmarshal(got, &value); err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	shown := madeUp.ReplaceAllString(string(text), "::0a1b2c3d") + "\n"
	path := filepath.Join("testdata", name+".golden.json")
	if *update {
		if err := os.WriteFile(path, []byte(shown), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), shown); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
