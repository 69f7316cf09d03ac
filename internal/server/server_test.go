package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// It does not run beside others, because it measures.
func TestAWaitIsWokenByASendOnAnotherCoordinator(t *testing.T) {
	const rounds, bar = 50, 200 * time.Millisecond
	redis := redistest.Start(t)
	limits := c3po.DefaultLimits()
	limits.CompareEvery = 0 // nothing but the wake itself may wake
	limits.SendsPerMinute = 0
	here := start(t, server.Config{RedisURL: redis, Limits: limits})
	there := start(t, server.Config{RedisURL: redis, Limits: limits})
	here.must(t, "bob", "ping", c3po.None{}, nil)

	var took []time.Duration
	var after int64
	for round := range rounds {
		written := make(chan struct{})
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			WroteRequest: func(httptrace.WroteRequestInfo) { close(written) },
		})
		type woken struct {
			result c3po.WaitResult
			at     time.Time
			err    error
		}
		done := make(chan woken, 1)
		go func() {
			var w woken
			_, w.err = here.op(ctx, "bob", "wait_for_message", c3po.WaitInput{Timeout: 30, After: &after}, &w.result)
			w.at = time.Now()
			done <- w
		}()
		<-written
		here.wantWaiting(t, "bob")
		began := time.Now()
		text := fmt.Sprint("round ", round)
		there.must(t, "ann", "send_message", c3po.SendInput{Target: "bob", Message: text}, nil)
		w := <-done
		if w.err != nil || w.result.Outcome != nil || w.result.Message.Message != text {
			t.Fatalf("round %d woke with %+v, %v", round, w.result, w.err)
		}
		took = append(took, w.at.Sub(began))
		after = w.result.Cursor
	}
	slices.Sort(took)
	median := took[rounds/2]
	t.Logf("from send to wake, over two coordinators: least %v, most %v", took[0], took[rounds-1])
	faultrig.Hold(t, "the median from send to wake", median, bar)
}

func TestStoppingAnswersEveryWaitAndEndsSoon(t *testing.T) {
	t.Parallel()
	c := start(t, server.Config{RedisURL: redistest.Start(t)})
	type end struct {
		status int
		result c3po.WaitResult
		err    error
	}
	ends := make(chan end, 2)
	for _, id := range []string{"ann", "bob"} {
		go func() {
			var e end
			e.status, e.err = c.op(t.Context(), id, "wait_for_message", c3po.WaitInput{Timeout: 600}, &e.result)
			ends <- e
		}()
		c.wantWaiting(t, id)
	}
	began := time.Now()
	c.stop()
	for range 2 {
		e := <-ends
		if e.err != nil || e.status != http.StatusOK || e.result.Outcome == nil ||
			e.result.Outcome.Status != c3po.WaitRetry || e.result.Outcome.RetryAfterMS <= 0 {
			t.Errorf("a wait was answered %d %+v, %v", e.status, e.result, e.err)
		}
	}
	c.wantEnd(t)
	faultrig.Hold(t, "stopping", time.Since(began), time.Second)
	if _, err := c.op(t.Context(), "ann", "ping", c3po.None{}, nil); err == nil {
		t.Error("a stopped coordinator still answers")
	}
}

func TestARequestUnderWayIsFinishedWhenTheCoordinatorStops(t *testing.T) {
	t.Parallel()
	c := start(t, server.Config{RedisURL: redistest.Start(t)})
	c.must(t, "bob", "ping", c3po.None{}, nil)
	addr := strings.TrimPrefix(c.url, "http://")
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(longEnough)); err != nil {
		t.Fatal(err)
	}
	const body = `{"target":"bob","message":"just in time"}`
	fmt.Fprintf(conn, "POST /api/op/send_message HTTP/1.1\r\nHost: localhost\r\nX-Agent-ID: ann\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\nExpect: 100-continue\r\n\r\n", len(body))
	answers := bufio.NewReader(conn)
	// Whoever is told to go on is being served.
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "100") {
		t.Fatalf("told %q, %v", line, err)
	}
	c.stop()
	for {
		probe, err := net.Dial("tcp", addr)
		if err != nil {
			break
		}
		probe.Close()
		select {
		case <-time.After(10 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("it still takes new connections")
		}
	}
	fmt.Fprint(conn, body)
	if _, err := answers.ReadString('\n'); err != nil { // the empty line after "continue"
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var sent c3po.Receipt
	if err := json.NewDecoder(answer.Body).Decode(&sent); err != nil || answer.StatusCode != http.StatusOK || sent.ID == "" {
		t.Errorf("answered %d %+v, %v", answer.StatusCode, sent, err)
	}
	c.wantEnd(t)
}

func TestMailSurvivesTheCoordinator(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	first := start(t, server.Config{RedisURL: redis})
	first.must(t, "bob", "ping", c3po.None{}, nil)
	first.must(t, "ann", "send_message", c3po.SendInput{Target: "bob", Message: "for later"}, nil)
	first.stop()
	first.wantEnd(t)

	var mail []c3po.Message
	start(t, server.Config{RedisURL: redis}).must(t, "bob", "get_messages", c3po.GetMessagesInput{}, &mail)
	if len(mail) != 1 || mail[0].Message != "for later" {
		t.Errorf("after the restart the inbox holds %+v", mail)
	}
}

func TestAConversationGoesBackAndForthOverTwoCoordinators(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	ann, bob := start(t, server.Config{RedisURL: redis}), start(t, server.Config{RedisURL: redis})
	bob.must(t, "bob", "ping", c3po.None{}, nil)
	ask := func(from, to *coordinator, asker, answerer, thread string, round int) c3po.Receipt {
		t.Helper()
		var sent c3po.Receipt
		from.must(t, asker, "send_message", c3po.SendInput{Target: answerer, Message: fmt.Sprint("question ", round), Thread: thread}, &sent)
		var got c3po.WaitResult
		to.must(t, answerer, "wait_for_message", c3po.WaitInput{Timeout: 10, Kind: c3po.KindIncoming}, &got)
		if got.ID != sent.ID {
			t.Fatalf("%s was given %s, want %s", answerer, got.ID, sent.ID)
		}
		to.must(t, answerer, "reply", c3po.ReplyInput{MessageID: got.ID, Response: fmt.Sprint("answer ", round)}, nil)
		var reply c3po.WaitResult
		from.must(t, asker, "wait_for_message", c3po.WaitInput{MessageID: sent.ID, Timeout: 10}, &reply)
		if reply.Response != fmt.Sprint("answer ", round) {
			t.Fatalf("round %d was answered %+v", round, reply)
		}
		return sent
	}
	first := ask(ann, bob, "ann", "bob", "", 1)
	ask(bob, ann, "bob", "ann", first.Thread, 2)
	ask(ann, bob, "ann", "bob", first.Thread, 3)
	var thread []c3po.Message
	ann.must(t, "ann", "get_thread", c3po.ThreadInput{Thread: first.Thread}, &thread)
	if len(thread) != 6 {
		t.Errorf("the thread has %d messages, want 6: %+v", len(thread), thread)
	}
}

func TestOnlyLocalCallersAreLetIn(t *testing.T) {
	t.Parallel()
	c := start(t, server.Config{RedisURL: redistest.Shared(t)})
	_, port, err := net.SplitHostPort(strings.TrimPrefix(c.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	for name, ask := range map[string]struct {
		method, path, host string
		header             map[string]string
		want               int
	}{
		"by address":                     {"GET", "/api/health", "127.0.0.1:" + port, nil, 200},
		"by name":                        {"GET", "/api/health", "localhost", nil, 200},
		"by its other address":           {"GET", "/api/health", "[::1]:" + port, nil, 200},
		"by a name that points here":     {"GET", "/api/health", "evil.example:" + port, nil, 403},
		"by a name that looks local":     {"GET", "/api/health", "localhost.evil.example", nil, 403},
		"MCP by a name that points here": {"POST", "/mcp", "evil.example", nil, 403},
		"by the page of another site":    {"POST", "/api/unregister", "localhost", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		"by an old browser":              {"POST", "/api/unregister", "localhost", map[string]string{"Origin": "https://evil.example"}, 403},
		"MCP by the page of another":     {"POST", "/mcp", "localhost", map[string]string{"Origin": "https://evil.example"}, 403},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := http.NewRequestWithContext(t.Context(), ask.method, c.url+ask.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = ask.host
			for k, v := range ask.header {
				r.Header.Set(k, v)
			}
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if answer.StatusCode != ask.want {
				t.Errorf("answered %d, want %d", answer.StatusCode, ask.want)
			}
			var refusal c3po.Error
			if err := json.NewDecoder(answer.Body).Decode(&refusal); ask.want == 403 &&
				(err != nil || refusal.Code != c3po.Forbidden || refusal.Suggestion == "") {
				t.Errorf("refused with %+v, %v", refusal, err)
			}
		})
	}
}

func TestMCPIsServedBesideREST(t *testing.T) {
	t.Parallel()
	c := start(t, server.Config{RedisURL: redistest.Start(t), Version: "1.2.3"})
	speak := func(body string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), "POST", c.url+"/mcp?tools=core,more", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"X-Agent-ID": "ann", "MCP-Protocol-Version": "2025-06-18",
		} {
			r.Header.Set(name, value)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		data, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("answered %d %s, %v", answer.StatusCode, data, err)
		}
		return string(data)
	}
	hello := speak(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	for _, want := range []string{`"1.2.3"`, `"features"`, `"idempotent_sends"`} {
		if !strings.Contains(hello, want) {
			t.Errorf("initialize does not say %s: %s", want, hello)
		}
	}
	if me := speak(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"whoami","arguments":{}}}`); !strings.Contains(me, `"ann"`) {
		t.Errorf("whoami over MCP: %s", me)
	}
	// The same agent is there over REST.
	var agents []c3po.Agent
	c.must(t, "bob", "list_agents", c3po.ListAgentsInput{}, &agents)
	if len(agents) != 2 || agents[0].ID != "ann" {
		t.Errorf("the agents are %+v", agents)
	}
	if !strings.Contains(c.log.String(), "route=/mcp") {
		t.Errorf("requests over MCP are not logged: %s", c.log)
	}
}

func TestAPortThatWasAskedForAndIsTakenIsRefused(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	err = server.Run(t.Context(), server.Config{RedisURL: redistest.Shared(t), Listen: taken.Addr().String()}, func(string) { t.Error("it started") })
	if !errors.Is(err, syscall.EADDRINUSE) || !errors.Is(err, c3po.InvalidRequest) || !strings.Contains(err.Error(), taken.Addr().String()) {
		t.Errorf("it fails with %v", err)
	}
}

func TestListeningForOtherMachinesInClearIsRefused(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]c3po.Code{
		"0.0.0.0:0": c3po.Forbidden, ":8420": c3po.Forbidden, "[::]:0": c3po.Forbidden,
		"127.0.0.1": c3po.InvalidRequest, "127.0.0.1:http": c3po.InvalidRequest, "127.0.0.1:65536": c3po.InvalidRequest,
	} {
		err := server.Run(t.Context(), server.Config{Listen: addr, TLS: server.TLSOff, RedisURL: "redis://127.0.0.1:1"}, nil)
		if !errors.Is(err, want) || c3po.AsError(err).Suggestion == "" {
			t.Errorf("listening on %q: %v, want %s", addr, err, want)
		}
	}
}

func TestARedisThatComesLateIsWaitedFor(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	redis.Kill()
	opened := make(chan error, 1)
	log := &faultrig.Buffer{}
	go func() {
		opened <- server.OpenStore(t.Context(), config(redis.URL(), log), longEnough)
	}()
	for !strings.Contains(log.String(), "trying again") {
		select {
		case err := <-opened:
			t.Fatalf("opened without Redis: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	redis.Restart()
	if err := <-opened; err != nil {
		t.Errorf("Redis is there, but: %v", err)
	}
}

func TestAStartThatLosesAnAnswerOfRedisAsksAgain(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	proxy := faultrig.NewProxy(t, redis.URL())
	proxy.LoseAnswers("{_}:ca") // the key of what a coordinator proves itself with
	ctx, cancel := context.WithCancel(t.Context())
	log := &faultrig.Buffer{}
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- server.Run(ctx, config("redis://"+proxy.Addr(), log), func(addr string) { ready <- addr })
	}()
	for !strings.Contains(log.String(), "trying again") {
		select {
		case err := <-ended:
			t.Fatalf("it ended: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	proxy.Heal()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatalf("Redis answers, but it ended: %v", err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestARedisThatNeverComesIsNamedWithoutItsPassword(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	redis.Kill()
	log := &faultrig.Buffer{}
	url := "redis://user:swordfish@" + redis.Addr()
	err := server.OpenStore(t.Context(), config(url, log), 300*time.Millisecond)
	if !errors.Is(err, c3po.RedisUnavailable) || !strings.Contains(err.Error(), redis.Addr()) || c3po.AsError(err).Suggestion == "" {
		t.Errorf("error %v", err)
	}
	if strings.Contains(err.Error()+log.String(), "swordfish") {
		t.Errorf("the password is shown: %v\n%s", err, log)
	}
}

func TestARedisURLThatCannotBeReadIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), longEnough)
	defer cancel()
	if err := server.OpenStore(ctx, config("gopher://x", &faultrig.Buffer{}), time.Hour); !errors.Is(err, c3po.InvalidRequest) {
		t.Errorf("error %v, want %s", err, c3po.InvalidRequest)
	}
}
