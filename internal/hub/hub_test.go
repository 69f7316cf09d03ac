package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/node"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/store/storetest"
)

// A testHub is a hub over the model, with the calls of its store counted.
type testHub struct {
	*hub.Hub
	t     *testing.T
	model *storetest.Model
	calls *calls
	stop  func() // ends Run, as the end of the test does
	tells node.Notifier
	// stalls says that the person hears of these too.
	stalls bool
	// stopped are the processes of its host that are halted.
	stopped   processes
	configure func(*hub.Config) // nil for nothing more
}

// processes is a set of them.
type processes struct {
	mu  sync.Mutex
	set map[int]bool
}

func (p *processes) has(pid int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.set[pid]
}

func (p *processes) put(pid int, in bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.set == nil {
		p.set = map[int]bool{}
	}
	p.set[pid] = in
}

// calls counts what the hub asks of its store, and can make it fail.
type calls struct {
	store.Store
	mu      sync.Mutex
	count   map[string]int
	fail    map[string]error
	given   int           // how many messages the last Next was told of
	then    func()        // what happens right after events were read
	await   chan struct{} // what reading the books waits for; nothing if nil
	members func()        // what happens right after the members of a queue were read
	slow    time.Duration // how long it takes to bury or revive a letter, or to read a thread's ends
}

func (c *calls) note(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count[name]++
	return c.fail[name]
}

func (c *calls) of(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count[name]
}

func (c *calls) failWith(name string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fail[name] = err
}

func (c *calls) Register(ctx context.Context, space c3po.Space, step store.RegisterStep) (store.Registration, error) {
	if err := c.note("Register"); err != nil {
		return store.Registration{}, err
	}
	return c.Store.Register(ctx, space, step)
}

func (c *calls) Attach(ctx context.Context, space c3po.Space, id c3po.AgentID, node string, state c3po.SessionState) error {
	if err := c.note("Attach"); err != nil {
		return err
	}
	return c.Store.Attach(ctx, space, id, node, state)
}

func (c *calls) Detach(ctx context.Context, space c3po.Space, id c3po.AgentID, node string, hungUp bool, ago time.Duration) error {
	if err := c.note("Detach"); err != nil {
		return err
	}
	return c.Store.Detach(ctx, space, id, node, hungUp, ago)
}

func (c *calls) RenewLease(ctx context.Context, space c3po.Space, node string) error {
	if err := c.note("RenewLease"); err != nil {
		return err
	}
	return c.Store.RenewLease(ctx, space, node)
}

func (c *calls) WriteNotes(ctx context.Context, space c3po.Space, notes store.Notes) error {
	if err := c.note("WriteNotes"); err != nil {
		return err
	}
	return c.Store.WriteNotes(ctx, space, notes)
}

func (c *calls) Told(ctx context.Context, space c3po.Space, account string, question c3po.MessageID) error {
	if err := c.note("Told"); err != nil {
		return err
	}
	return c.Store.Told(ctx, space, account, question)
}

func (c *calls) SetQuota(ctx context.Context, space c3po.Space, step store.QuotaStep) error {
	if err := c.note("SetQuota"); err != nil {
		return err
	}
	return c.Store.SetQuota(ctx, space, step)
}

func (c *calls) Bury(ctx context.Context, space c3po.Space, id c3po.MessageID, reason, bounce string) (bool, error) {
	if c.slow > 0 {
		pass(c.slow)
	}
	return c.Store.Bury(ctx, space, id, reason, bounce)
}

func (c *calls) Revive(ctx context.Context, space c3po.Space, id c3po.MessageID, step store.ReviveStep) (store.ReviveOutcome, error) {
	if c.slow > 0 {
		pass(c.slow)
	}
	return c.Store.Revive(ctx, space, id, step)
}

// ThreadSpans gives up after the time of one step, as a store does.
func (c *calls) ThreadSpans(ctx context.Context, space c3po.Space, threads []string) ([]store.ThreadSpan, error) {
	if c.slow > 0 {
		pass(min(c.slow*time.Duration(len(threads)), 1700*time.Millisecond))
		if c.slow*time.Duration(len(threads)) > 1700*time.Millisecond {
			return nil, c3po.Errorf(c3po.RedisUnavailable, "Redis cannot be reached").Suggest("Try again.")
		}
	}
	return c.Store.ThreadSpans(ctx, space, threads)
}

func (c *calls) Next(ctx context.Context, space c3po.Space, owner c3po.AgentID, q store.NextQuery) (store.NextMessage, error) {
	if err := c.note("Next"); err != nil {
		return store.NextMessage{}, err
	}
	c.mu.Lock()
	c.given = len(q.Given)
	c.mu.Unlock()
	return c.Store.Next(ctx, space, owner, q)
}

func (c *calls) Message(ctx context.Context, space c3po.Space, id c3po.MessageID) (*store.Entry, error) {
	if err := c.note("Message"); err != nil {
		return nil, err
	}
	return c.Store.Message(ctx, space, id)
}

func (c *calls) Tickets(ctx context.Context, space c3po.Space, before int64, limit int) ([]store.TicketMark, error) {
	if err := c.note("Tickets"); err != nil {
		return nil, err
	}
	return c.Store.Tickets(ctx, space, before, limit)
}

func (c *calls) Listen(ctx context.Context, space c3po.Space, ready func(), wake func(store.Wake)) error {
	if err := c.note("Listen"); err != nil {
		return err
	}
	return c.Store.Listen(ctx, space, ready, wake)
}

func (c *calls) Events(ctx context.Context, space c3po.Space, after int64, limit int) ([]c3po.Event, error) {
	if err := c.note("Events"); err != nil {
		return nil, err
	}
	events, err := c.Store.Events(ctx, space, after, limit)
	if c.then != nil {
		c.then()
	}
	return events, err
}

func (c *calls) Members(ctx context.Context, space c3po.Space, queue c3po.AgentID, limit int) ([]c3po.AgentID, error) {
	ids, err := c.Store.Members(ctx, space, queue, limit)
	if c.members != nil {
		c.members()
	}
	return ids, err
}

func (c *calls) Counters(ctx context.Context, space c3po.Space) (store.Counters, error) {
	if c.await != nil {
		select {
		case <-c.await:
		case <-ctx.Done():
			return store.Counters{}, ctx.Err()
		}
	}
	counters, err := c.Store.Counters(ctx, space)
	if err := c.note("Counters"); err != nil {
		counters.Sent++
	}
	return counters, err
}

// build makes a house that runs until the test ends; change adjusts the limits.
func build(t *testing.T, change ...func(*c3po.Limits)) *testHub {
	t.Helper()
	return configured(t, nil, change...)
}

// configured is build for a hub that has more than a store.
func configured(t *testing.T, configure func(*hub.Config), change ...func(*c3po.Limits)) *testHub {
	t.Helper()
	limits := c3po.DefaultLimits()
	for _, c := range change {
		c(&limits)
	}
	model := storetest.NewModel(limits)
	c := &calls{Store: model, count: map[string]int{}, fail: map[string]error{}}
	return run(t, &testHub{t: t, model: model, calls: c, configure: configure}, limits, "node-1")
}

// neighbour is another coordinator over the same store.
func (h *testHub) neighbour(change ...func(*c3po.Limits)) *testHub {
	h.t.Helper()
	limits := c3po.DefaultLimits()
	for _, c := range change {
		c(&limits)
	}
	return run(h.t, &testHub{t: h.t, model: h.model, calls: h.calls}, limits, "node-2")
}

func run(t *testing.T, h *testHub, limits c3po.Limits, node string) *testHub {
	config := hub.Config{Store: h.calls, Limits: limits, Node: node, Notifier: h.tells, TellsStalls: h.stalls, Stopped: h.stopped.has}
	if h.configure != nil {
		h.configure(&config)
	}
	h.Hub = hub.New(config)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	h.stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("Run = %v, want nil", err)
			}
		case <-time.After(time.Minute):
			// A bubble waits for its goroutines, and one that ticks never ends.
			panic(t.Name() + ": the hub was told to end a minute ago, and something in it still runs")
		}
	})
	t.Cleanup(h.stop)
	return h
}

// inBubble runs a test in time that passes only when nobody has anything to do.
// It fails if a goroutine is left over.
func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Parallel()
	synctest.Test(t, test)
}

// An actor is a caller whose answers arrive.
type actor struct{ *hub.Actor }

func (a actor) GetMessages(ctx context.Context, in c3po.GetMessagesInput) (c3po.MessageList, error) {
	defer a.Delivered()
	return a.Actor.GetMessages(ctx, in)
}

func (a actor) WaitForMessage(ctx context.Context, in c3po.WaitInput) (c3po.WaitResult, error) {
	defer a.Delivered()
	return a.Actor.WaitForMessage(ctx, in)
}

func (a actor) SendMessage(ctx context.Context, in c3po.SendInput) (c3po.Receipt, error) {
	defer a.Delivered()
	return a.Actor.SendMessage(ctx, in)
}

// As is one request of a caller.
func (h *testHub) As(caller c3po.Caller) actor { return actor{h.Hub.As(caller)} }

// as is one request of an agent without a run.
func (h *testHub) as(id c3po.AgentID) actor {
	return h.As(c3po.Caller{ID: id, Role: c3po.RoleAgent, Route: "rest"})
}

// asRun is one request of a run of an agent.
func (h *testHub) asRun(id c3po.AgentID, run string) actor {
	return h.As(c3po.Caller{ID: id, Run: run, Session: "session of " + run, Role: c3po.RoleAgent, Route: "mcp"})
}

func (h *testHub) asPerson() actor { return h.As(c3po.Caller{Role: c3po.RoleHuman, Route: "rest"}) }

// must unwraps a call that has to work.
func must[T any](got T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatalf("unexpected error: %v", err)
		}
		return got
	}
}

func (h *testHub) enter(ids ...c3po.AgentID) {
	h.t.Helper()
	for _, id := range ids {
		must(h.as(id).RegisterAgent(h.t.Context(), c3po.RegisterInput{}))(h.t)
	}
}

func (h *testHub) send(from, to c3po.AgentID, text string) c3po.Receipt {
	h.t.Helper()
	return must(h.as(from).SendMessage(h.t.Context(), c3po.SendInput{Target: string(to), Message: text}))(h.t)
}

func (h *testHub) reply(from c3po.AgentID, id c3po.MessageID, text string) c3po.Message {
	h.t.Helper()
	return must(h.as(from).Reply(h.t.Context(), c3po.ReplyInput{MessageID: id, Response: text}))(h.t)
}

func (h *testHub) inbox(id c3po.AgentID) []c3po.Message {
	h.t.Helper()
	return must(h.as(id).GetMessages(h.t.Context(), c3po.GetMessagesInput{}))(h.t).Messages
}

func (h *testHub) agent(id c3po.AgentID) c3po.Agent {
	h.t.Helper()
	return must(h.asPerson().GetAgentStatus(h.t.Context(), c3po.AgentInput{AgentID: string(id)}))(h.t)
}

func (h *testHub) trace(id c3po.MessageID) c3po.Trace {
	h.t.Helper()
	return must(h.asPerson().Trace(h.t.Context(), c3po.MessageInput{MessageID: id}))(h.t)
}

func refused(t *testing.T, err error, code c3po.Code, words ...string) {
	t.Helper()
	var e *c3po.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("got error %v, want %s", err, code)
	}
	if e.Suggestion == "" {
		t.Errorf("%q comes without a suggestion", e.Message)
	}
	for _, word := range words {
		if !strings.Contains(e.Message+"\n"+e.Suggestion, word) {
			t.Errorf("error %q (%q) does not say %q", e.Message, e.Suggestion, word)
		}
	}
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func texts(messages []c3po.Message) []string {
	out := []string{}
	for _, m := range messages {
		out = append(out, m.Text())
	}
	return out
}

// wire gives the fields of an answer as a caller reads them.
func wire(t *testing.T, answer any) map[string]any {
	t.Helper()
	data := must(json.Marshal(answer))(t)
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

// later runs a call beside the test and gives its result when it is there.
type later[T any] struct {
	done chan struct{}
	got  T
	err  error
}

func start[T any](call func() (T, error)) *later[T] {
	l := &later[T]{done: make(chan struct{})}
	go func() {
		defer close(l.done)
		l.got, l.err = call()
	}()
	synctest.Wait()
	return l
}

func (l *later[T]) isDone() bool {
	synctest.Wait()
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

func (l *later[T]) result(t *testing.T) T {
	t.Helper()
	<-l.done
	return must(l.got, l.err)(t)
}

// atOnce is the result of a call that must not take any more time.
func (l *later[T]) atOnce(t *testing.T) T {
	t.Helper()
	if !l.isDone() {
		t.Fatal("the call is still waiting")
	}
	return l.result(t)
}

// pass lets time go by inside a bubble.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestPingAnswersWithTheStoresClock(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		got := must(h.As(c3po.Caller{}).Ping(t.Context(), c3po.None{}))(t)
		same(t, "pong", got, c3po.Pong{Pong: true, Timestamp: time.Now().UTC().Truncate(time.Millisecond)})
		if n := h.calls.of("Register"); n != 0 {
			t.Errorf("a caller without an id was registered")
		}
	})
}

func TestServerInfoSaysWhatIsRunning(t *testing.T) {
	t.Parallel()
	model := storetest.NewModel(c3po.DefaultLimits())
	model.SetDurability(c3po.InMemory)
	h := hub.New(hub.Config{Store: model, Version: "1.2", Commit: "abc", Features: []string{"core"}, Node: "n"})
	got := must(h.As(c3po.Caller{Space: "team"}).ServerInfo(t.Context(), c3po.None{}))(t)
	same(t, "info", got, c3po.ServerInfo{
		Version: "1.2", Commit: "abc", Features: []string{"core"}, Node: "n", Space: "team", Durability: c3po.InMemory, Schema: 1, FileBytes: 50 << 20, Files: 10,
	})
}

func TestHealthCountsTheDefaultSpace(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("a", "b")
	must(h.As(c3po.Caller{Space: "other", ID: "c"}).Ping(t.Context(), c3po.None{}))(t)
	same(t, "health", must(h.Health(t.Context()))(t), c3po.Health{Status: "ok", AgentsOnline: 2})
}

func TestADrainingCoordinatorIsNotReady(t *testing.T) {
	t.Parallel()
	h := build(t)
	if err := h.Ready(t.Context()); err != nil {
		t.Fatalf("Ready = %v before draining", err)
	}
	h.Drain()
	refused(t, h.Ready(t.Context()), c3po.CoordDown)
}

func TestSpacesDoNotSeeEachOther(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("bob")
	alice := h.As(c3po.Caller{ID: "alice", Space: "other"})
	_, err := alice.SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: "hi"})
	refused(t, err, c3po.AgentNotFound)
	list := must(h.As(c3po.Caller{Space: "other"}).ListAgents(t.Context(), c3po.ListAgentsInput{}))(t)
	if len(list.Agents) != 1 || list.Agents[0].ID != "alice" {
		t.Errorf("the other space lists %v", list.Agents)
	}
}
