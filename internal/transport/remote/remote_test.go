package remote_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
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
	"github.com/c3po-dev/c3po/internal/transport/remote"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// A foreign agent answers as the test says, and remembers what it was asked.
type foreign struct {
	*httptest.Server
	version string
	answer  func(method string, times int) (status int, result string)

	mu     sync.Mutex
	calls  []string // the method and the id of each
	bodies []string // of each
	token  string   // that it was shown last
	trace  string   // the traceparent it was shown last
}

func newForeign(t *testing.T, version string, answer func(method string, times int) (int, string)) *foreign {
	t.Helper()
	f := &foreign{version: version, answer: answer}
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.Close)
	return f
}

func (f *foreign) serve(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "agent-card.json") {
		if f.version == "0.3" {
			fmt.Fprintf(w, `{"name":"Billing Bot","protocolVersion":"0.3.0","url":%q,"preferredTransport":"JSONRPC"}`, f.URL+"/rpc")
			return
		}
		fmt.Fprintf(w, `{"name":"Billing Bot","supportedInterfaces":[{"url":%q,"protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, f.URL+"/rpc")
		return
	}
	var call struct {
		Method string
		Params struct {
			ID      string
			Message struct{ MessageID string }
		}
	}
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &call)
	f.mu.Lock()
	times := 0
	for _, before := range f.calls {
		if strings.HasPrefix(before, call.Method+" ") {
			times++
		}
	}
	f.calls = append(f.calls, call.Method+" "+call.Params.ID+call.Params.Message.MessageID)
	f.bodies = append(f.bodies, string(body))
	f.token, f.trace = r.Header.Get("Authorization"), r.Header.Get("traceparent")
	f.mu.Unlock()
	status, result := f.answer(call.Method, times)
	w.WriteHeader(status)
	fmt.Fprint(w, result)
}

// lastBody is what it was sent last.
func (f *foreign) lastBody() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.bodies[len(f.bodies)-1]
}

// asked are the ids of the messages it was sent.
func (f *foreign) asked() (ids []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, call := range f.calls {
		if method, id, _ := strings.Cut(call, " "); method == "SendMessage" || method == "message/send" {
			ids = append(ids, id)
		}
	}
	return ids
}

func result(text string) string { return `{"jsonrpc":"2.0","id":1,"result":` + text + `}` }

// A site is a hub that forwards.
type site struct {
	t      *testing.T
	store  *redisstore.Store
	node   string
	hub    *hub.Hub
	keeper *auth.Keeper
}

func newSite(t *testing.T) site {
	t.Helper()
	store, err := redisstore.Open(t.Context(), redisstore.Config{URL: redistest.New(t).URL(), Limits: c3po.DefaultLimits()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return site{t: t, store: store}.next("one")
}

// next is another coordinator on the same store.
func (s site) next(node string) site {
	return site{s.t, s.store, node, hub.New(hub.Config{Store: s.store, Node: node}), auth.New(auth.Config{Store: s.store, Mode: auth.Tokens})}
}

// run has the hub and a forwarder work, until the returned function is called.
func (s site) run() (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	var running sync.WaitGroup
	running.Go(func() { _ = s.hub.Run(ctx) })
	running.Go(func() { _ = s.forwarder().Run(ctx) })
	var once sync.Once
	stop = func() { once.Do(func() { cancel(); running.Wait() }) }
	s.t.Cleanup(stop)
	return stop
}

func (s site) forwarder() *remote.Forwarder {
	return &remote.Forwarder{Hub: s.hub, Keeper: s.keeper, Node: s.node, GiveUpAfter: 6 * time.Second, Log: slog.New(slog.DiscardHandler),
		Getenv: func(name string) string { return "value of " + name }}
}

func (s site) admin() c3po.Caller { return c3po.Caller{Space: c3po.DefaultSpace, Role: c3po.RoleAdmin} }

func (s site) add(url, tokenEnv string) c3po.Remote {
	s.t.Helper()
	added, err := s.tryAdd(url, "billing", tokenEnv)
	if err != nil {
		s.t.Fatal(err)
	}
	return added
}

func (s site) tryAdd(url, name, tokenEnv string) (c3po.Remote, error) {
	return s.keeper.AddRemote(s.t.Context(), s.admin(), c3po.RemoteInput{URL: url + "/.well-known/agent-card.json", Name: name, TokenEnv: tokenEnv}, s.forwarder().Claim)
}

func (s site) as(id c3po.AgentID) *hub.Actor {
	return s.hub.As(c3po.Caller{Space: c3po.DefaultSpace, ID: id, Role: c3po.RoleAgent})
}

// ask sends a question and gives the answer.
func (s site) ask(text string) c3po.Message {
	s.t.Helper()
	return s.answer(s.send(text))
}

// send sends a question. What was added can be asked at once.
func (s site) send(text string) c3po.MessageID {
	s.t.Helper()
	receipt, err := s.as("web").SendMessage(s.t.Context(), c3po.SendInput{Target: "billing", Message: text})
	if err != nil {
		s.t.Fatal(err)
	}
	return receipt.ID
}

func (s site) answer(id c3po.MessageID) c3po.Message {
	s.t.Helper()
	wait := func() (c3po.WaitResult, error) {
		return s.as("web").WaitForMessage(s.t.Context(), c3po.WaitInput{MessageID: id, Timeout: 60})
	}
	got, err := wait()
	if err == nil && got.Outcome != nil && got.Outcome.Status == "superseded" {
		got, err = wait() // the next coordinator has just taken the name
	}
	if err != nil || got.Outcome != nil {
		s.t.Fatalf("no answer: %+v, %v", got.Outcome, err)
	}
	return got.Message
}

const working, completed = `{"id":"t-1","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}`,
	`{"id":"t-1","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","parts":[{"text":"Invoice 7"}]}]}`

func TestAMessageIsForwardedOnceAndItsAnswerComesBack(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"1.0", "0.3"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			old := strings.NewReplacer("TASK_STATE_WORKING", "working", "TASK_STATE_COMPLETED", "completed", `{"id":"t-1"`, `{"kind":"task","id":"t-1"`)
			f := newForeign(t, version, func(method string, times int) (int, string) {
				switch {
				case method == "SendMessage":
					return 200, result(`{"task":` + working + `}`)
				case method == "message/send":
					return 200, result(old.Replace(working))
				case method == "GetTask" && times < 2:
					return 200, result(working)
				case method == "GetTask":
					return 200, result(completed)
				default:
					return 200, result(old.Replace(completed))
				}
			})
			s := newSite(t)
			s.run()
			s.add(f.URL, "A2A_BILLING")
			if got := s.ask("order 7"); got.Response != "Invoice 7" || got.Status != c3po.ReplySuccess || got.FromAgent != "billing" {
				t.Errorf("the answer is %+v", got)
			}
			if ids := f.asked(); len(ids) != 1 || f.token != "Bearer value of A2A_BILLING" {
				t.Errorf("it was asked %v, and shown %q", ids, f.token)
			}
			agent, err := s.as("web").GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: "billing"})
			if err != nil || agent.Standing(time.Now(), time.Now()) != "remote, state unknown" {
				t.Errorf("others see %q, %v", agent.Standing(time.Now(), time.Now()), err)
			}
		})
	}
}

func TestWhateverHappensTheAskerHearsOfIt(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		answer func(method string, times int) (int, string)
		want   string
	}{
		"it fails for a while": {func(method string, times int) (int, string) {
			if times < 2 {
				return 503, ""
			}
			return 200, result(`{"message":{"role":"ROLE_AGENT","parts":[{"text":"At last"}]}}`)
		}, "At last"},
		"it never answers": {func(string, int) (int, string) { return 503, "" }, "could not ask the remote agent 'billing': it answers with status 503"},
		"it refuses": {func(string, int) (int, string) {
			return 200, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no such order"}}`
		}, "it refuses: no such order"},
		"it wants a token":   {func(string, int) (int, string) { return 401, "" }, "it answers with status 401"},
		"it speaks nonsense": {func(string, int) (int, string) { return 200, "<html>" }, "not JSON-RPC"},
		"it forgets the task": {func(method string, _ int) (int, string) {
			if method == "SendMessage" {
				return 200, result(`{"task":` + working + `}`)
			}
			return 200, `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Task not found"}}`
		}, "no longer knows the task"},
		"it fails the task": {func(string, int) (int, string) {
			return 200, result(`{"task":{"id":"t","status":{"state":"TASK_STATE_FAILED","message":{"role":"ROLE_AGENT","parts":[{"text":"Out of paper"}]}}}}`)
		}, "ended the task as failed. Out of paper"},
		"its answer is a file, in 1.0": {func(string, int) (int, string) {
			return 200, result(`{"message":{"role":"ROLE_AGENT","parts":[{"text":"Here"},{"url":"https://x/7.pdf","filename":"7.pdf","mediaType":"application/pdf"},{"raw":"aGVsbG8h","mediaType":"text/csv"}]}}`)
		}, "Here\n\nFile 7.pdf (application/pdf): https://x/7.pdf\n\nFile without a name (text/csv): 6 bytes, which c3po does not pass on"},
		"its answer is a file, in 0.3": {func(string, int) (int, string) {
			return 200, result(`{"task":{"id":"t","status":{"state":"completed"},"artifacts":[{"parts":[{"kind":"file","file":{"name":"7.pdf","mimeType":"application/pdf","uri":"https://x/7.pdf"}},{"kind":"hologram"}]}]}}`)
		}, "File 7.pdf (application/pdf): https://x/7.pdf\n\n(A part that is neither text, JSON nor a file.)"},
		"its answer is to another call": {func(string, int) (int, string) {
			return 200, `{"jsonrpc":"2.0","id":"zzz","result":{"task":` + completed + `}}`
		}, "its answer is to another call"},
		"it answers with another task": {func(method string, _ int) (int, string) {
			if method == "SendMessage" {
				return 200, result(`{"task":` + working + `}`)
			}
			return 200, result(strings.Replace(completed, "t-1", "t-2", 1))
		}, "accepted the task, and then c3po lost track of it: it answers with another task than it was asked for"},
		"it takes the task and dies": {func(method string, _ int) (int, string) {
			if method == "SendMessage" {
				return 200, result(`{"task":` + working + `}`)
			}
			return 503, ""
		}, "accepted the task, and then c3po lost track of it: it answers with status 503"},
		"its answer is too long": {func(string, int) (int, string) {
			return 200, result(`{"message":{"role":"ROLE_AGENT","parts":[{"text":"` + strings.Repeat("é", 120_000) + `"}]}}`)
		}, "[c3po has cut this: it has 120000 characters, and a reply holds 50000.]"},
		"it asks back": {func(string, int) (int, string) {
			return 200, result(`{"task":{"id":"t","status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"role":"ROLE_AGENT","parts":[{"text":"Which year?"}]}}}}`)
		}, "asks back. Reply to this with what it needs: Which year?"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newForeign(t, "1.0", row.answer)
			s := newSite(t)
			s.run()
			s.add(f.URL, "")
			if got := s.ask("order 7"); !strings.Contains(got.Response, row.want) {
				t.Errorf("the asker hears %q", got.Response)
			}
			ids := f.asked()
			for _, id := range ids {
				if id != ids[0] {
					t.Errorf("it was asked under several ids: %v", ids)
				}
			}
		})
	}
}

// A coordinator that stops in the middle leaves the message in the mailbox.
func TestTheNextCoordinatorAsksUnderTheSameID(t *testing.T) {
	t.Parallel()
	var ready sync.Map
	f := newForeign(t, "1.0", func(method string, _ int) (int, string) {
		if _, done := ready.Load("yes"); done {
			return 200, result(`{"task":` + completed + `}`)
		}
		return 200, result(`{"task":` + working + `}`)
	})
	s := newSite(t)
	stop := s.run()
	s.add(f.URL, "")
	id := s.send("order 7")
	if !faultrig.Within(30*time.Second, func() bool { return len(f.asked()) == 1 }) {
		t.Fatal("it was not asked")
	}
	stop()
	ready.Store("yes", true)
	s = s.next("two")
	s.run()
	if got := s.answer(id); got.Response != "Invoice 7" {
		t.Errorf("the answer is %+v", got)
	}
	if ids := f.asked(); len(ids) != 2 || ids[0] != ids[1] {
		t.Errorf("it was asked as %v", ids)
	}
}

func TestOnlyTheAddressThatWasAddedIsCalled(t *testing.T) {
	t.Parallel()
	var strayed sync.Map
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strayed.Store("yes", true) }))
	t.Cleanup(elsewhere.Close)
	describe := (&remote.Forwarder{Getenv: func(string) string { return "" }}).Describe
	for name, card := range map[string]http.HandlerFunc{
		"a redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) },
		"a card of another host": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"name":"x","supportedInterfaces":[{"url":%q,"protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, elsewhere.URL)
		},
		"no card":         http.NotFound,
		"an endless card": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 2<<20)) },
		"gRPC and no more": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"name":"x","supportedInterfaces":[{"url":"x","protocolBinding":"GRPC","protocolVersion":"1.0"}]}`)
		},
	} {
		at := httptest.NewServer(card)
		t.Cleanup(at.Close)
		if _, _, err := describe(t.Context(), at.URL, ""); err == nil {
			t.Errorf("%s is added", name)
		}
	}
	for _, address := range []string{"", "ftp://x", "file:///etc/passwd", "http://", "http://user:secret@host"} {
		if _, _, err := describe(t.Context(), address, ""); err == nil {
			t.Errorf("%q is added", address)
		}
	}
	if _, did := strayed.Load("yes"); did {
		t.Error("another host was called")
	}
}

func TestOnlyAnAdminAddsARemote(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, role := range []c3po.Role{c3po.RoleAgent, c3po.RoleHuman, c3po.RoleObserver, c3po.RoleRunner} {
		if _, err := s.keeper.AddRemote(t.Context(), c3po.Caller{Space: c3po.DefaultSpace, Role: role}, c3po.RemoteInput{URL: "http://x", Name: "billing"}, s.forwarder().Claim); err == nil {
			t.Errorf("a caller of the role %s adds one", role)
		}
	}
	for _, name := range []string{"human", "x y", ""} {
		if _, err := s.keeper.AddRemote(t.Context(), s.admin(), c3po.RemoteInput{URL: "http://x", Name: name}, s.forwarder().Claim); err == nil {
			t.Errorf("one is called %q", name)
		}
	}
	for _, env := range []string{"HOME", "C3PO_TOKEN", "A2A_", "a2a_x", "A2A_X=1"} {
		if auth.CheckTokenEnv(env) == nil {
			t.Errorf("the variable %q is sent", env)
		}
	}
}
