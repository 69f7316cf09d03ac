package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// do calls an operation with a token, as an agent if one is named.
func (g *guarded) do(t *testing.T, token, as, name string, in, out any) (int, c3po.Error) {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var headers []string
	if as != "" {
		headers = []string{auth.AgentHeader, as}
	}
	status, text, err := call(t.Context(), http.DefaultClient, "POST", g.url+"/api/op/"+name, token, string(body), headers...)
	if err != nil {
		t.Fatal(err)
	}
	var refusal c3po.Error
	if status != http.StatusOK {
		if err := json.Unmarshal([]byte(text), &refusal); err != nil {
			t.Fatalf("%s as %s: %d %q, %v", name, as, status, text, err)
		}
	} else if out != nil {
		if err := json.Unmarshal([]byte(text), out); err != nil {
			t.Fatalf("%s as %s: %q, %v", name, as, text, err)
		}
	}
	return status, refusal
}

// An agent that floods another one's inbox must not shut its person out.
func TestAPersonsStopReachesAndWakesAnAgentWhoseInboxIsFull(t *testing.T) {
	t.Parallel()
	limits := c3po.DefaultLimits()
	limits.InboxMessages = 12
	g := startGuarded(t, redistest.Start(t), server.Config{Limits: limits})
	mallory := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "laptop/*"}).Secret
	victim := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "box/*"}).Secret
	person := g.mint(t, auth.Grant{Role: c3po.RoleHuman}).Secret
	g.do(t, victim, "box/victim", "ping", c3po.None{}, nil)
	var refusal c3po.Error
	for n := 0; refusal.Code == ""; n++ {
		_, refusal = g.do(t, mallory, fmt.Sprintf("laptop/m%d", n), "send_message", c3po.SendInput{Target: "box/victim", Message: fmt.Sprint("noise ", n)}, nil)
	}
	if refusal.Code != c3po.InboxFull {
		t.Fatalf("the flood ends with %+v", refusal)
	}
	// It has seen the noise and waits for what is new.
	g.do(t, victim, "box/victim", "get_messages", c3po.GetMessagesInput{}, nil)
	woken := make(chan c3po.Message, 1)
	go func() {
		var got c3po.Message
		g.do(t, victim, "box/victim", "wait_for_message", c3po.WaitInput{Timeout: 60}, &got)
		woken <- got
	}()
	var stop c3po.Receipt
	if status, refusal := g.do(t, person, "", "send_message", c3po.SendInput{Target: "box/victim", Message: "STOP"}, &stop); status != http.StatusOK {
		t.Fatalf("the person's STOP is answered %d %+v", status, refusal)
	}
	select {
	case got := <-woken:
		if got.ID != stop.ID || got.FromAgent != c3po.Human {
			t.Errorf("the victim is given %+v", got)
		}
	case <-time.After(longEnough):
		t.Error("the victim is not woken")
	}
	for _, as := range []string{"human", "laptop/human"} {
		if status, _ := g.do(t, mallory, as, "send_message", c3po.SendInput{Target: "box/victim", Message: "me too"}, nil); status == http.StatusOK {
			t.Errorf("an agent that calls itself %s writes into the reserve", as)
		}
	}
}

// budgeted is a coordinator whose tokens may use little.
func budgeted(t *testing.T, change func(*c3po.Limits)) *guarded {
	t.Helper()
	limits := c3po.DefaultLimits()
	limits.SendsPerMinute = 0
	change(&limits)
	return startGuarded(t, redistest.Start(t), server.Config{Limits: limits})
}

// wantSpent wants a refusal by a token's budget that says what to do.
func wantSpent(t *testing.T, refusal c3po.Error, what string) {
	t.Helper()
	if refusal.Code != c3po.BudgetSpent || !strings.Contains(refusal.Message, what) || !strings.Contains(refusal.Suggestion, "Try again in ") ||
		refusal.Code.Retry() != c3po.RetryLater {
		t.Errorf("refused with %+v, want BUDGET_SPENT for %s", refusal, what)
	}
}

func TestOneTokenCannotMakeAgentsWithoutEnd(t *testing.T) {
	t.Parallel()
	g := budgeted(t, func(l *c3po.Limits) { l.TokenAgents = 20 })
	mallory := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "laptop/*"})
	other := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "box/*"}).Secret
	made := 0
	var refusal c3po.Error
	for n := 0; n < 100 && refusal.Code == ""; n++ {
		if _, refusal = g.do(t, mallory.Secret, fmt.Sprintf("laptop/m%d", n), "register_agent", c3po.RegisterInput{}, nil); refusal.Code == "" {
			made++
		}
	}
	wantSpent(t, refusal, "20 new agents an hour")
	if made != 20 {
		t.Errorf("one token made %d agents", made)
	}
	// Those there are go on, and so does everybody else.
	for _, as := range []string{"laptop/m0", "laptop/m19"} {
		if status, refusal := g.do(t, mallory.Secret, as, "register_agent", c3po.RegisterInput{}, nil); status != http.StatusOK {
			t.Errorf("%s, who is known, is answered %d %+v", as, status, refusal)
		}
	}
	if status, refusal := g.do(t, other, "box/api", "ping", c3po.None{}, nil); status != http.StatusOK {
		t.Errorf("another token's agent is answered %d %+v", status, refusal)
	}
	// A successor has no budget of its own.
	admin := g.mint(t, auth.Grant{Role: c3po.RoleAdmin}).Secret
	status, text, err := call(t.Context(), http.DefaultClient, "POST", g.url+"/api/admin/tokens/"+mallory.KID+"/rotate", admin, "")
	var next c3po.NewToken
	if err != nil || status != http.StatusOK || json.Unmarshal([]byte(text), &next) != nil {
		t.Fatalf("rotated: %d %s %v", status, text, err)
	}
	_, refusal = g.do(t, next.Secret, "laptop/next", "ping", c3po.None{}, nil)
	wantSpent(t, refusal, "20 new agents an hour")
}

func TestTheTokensOfARunnerShareItsBudget(t *testing.T) {
	t.Parallel()
	g := budgeted(t, func(l *c3po.Limits) { l.TokenAgents = 3 })
	runner := g.mint(t, auth.Grant{Role: c3po.RoleRunner, Pattern: "box/*"}).Secret
	var refusal c3po.Error
	for n := 0; n < 10 && refusal.Code == ""; n++ {
		name := fmt.Sprintf("box/a%d", n)
		body := fmt.Sprintf(`{"role":"agent","agents":%q,"spaces":["main"]}`, name)
		status, text, err := call(t.Context(), http.DefaultClient, "POST", g.url+"/api/admin/tokens", runner, body)
		var child c3po.NewToken
		if err != nil || status != http.StatusOK || json.Unmarshal([]byte(text), &child) != nil {
			t.Fatalf("a runner's token: %d %s %v", status, text, err)
		}
		_, refusal = g.do(t, child.Secret, name, "ping", c3po.None{}, nil)
	}
	wantSpent(t, refusal, "3 new agents an hour")
}

func TestOneTokenCannotFillInboxesUnderManyNames(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 1000)
	weight := store.Draft{From: "laptop/m0", To: "box/victim", Text: text, ExpectsReply: true}.Bytes()
	for what, change := range map[string]func(*c3po.Limits){
		"10 messages an hour":                               func(l *c3po.Limits) { l.TokenMessages = 10 },
		fmt.Sprintf("%d bytes an hour", 10*weight+weight/2): func(l *c3po.Limits) { l.TokenBytes = 10*weight + weight/2 },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			g := budgeted(t, change)
			mallory := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "laptop/*"}).Secret
			victim := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "box/*"}).Secret
			g.do(t, victim, "box/victim", "ping", c3po.None{}, nil)
			stored := 0
			var refusal c3po.Error
			send := func(n int) (c3po.Receipt, c3po.Error) {
				var receipt c3po.Receipt
				_, refusal := g.do(t, mallory, fmt.Sprintf("laptop/m%d", n%3), "send_message",
					c3po.SendInput{Target: "box/victim", Message: fmt.Sprintf("%03d%s", n, text[3:]), ClientKey: fmt.Sprint("k", n)}, &receipt)
				return receipt, refusal
			}
			var first c3po.Receipt
			for n := 0; n < 50 && refusal.Code == ""; n++ {
				var receipt c3po.Receipt
				if receipt, refusal = send(n); refusal.Code == "" {
					stored++
				}
				if n == 0 {
					first = receipt
				}
			}
			wantSpent(t, refusal, what)
			if stored < 9 || stored > 12 { // bytes are rounded up as Redis' allocator does
				t.Errorf("%d messages are stored, want 10", stored)
			}
			// What was stored is never said to be refused.
			if again, refusal := send(0); again.ID != first.ID {
				t.Errorf("a repeat is answered %+v %+v, want %s", again, refusal, first.ID)
			}
			// A post and an answer are messages too.
			_, refusal = g.do(t, mallory, "laptop/m9", "broadcast", c3po.BroadcastInput{Message: text}, nil)
			wantSpent(t, refusal, what)
			var asked c3po.Receipt
			g.do(t, victim, "box/victim", "send_message", c3po.SendInput{Target: "laptop/m0", Message: "why?"}, &asked)
			_, refusal = g.do(t, mallory, "laptop/m0", "reply", c3po.ReplyInput{MessageID: asked.ID, Response: text}, nil)
			wantSpent(t, refusal, what)
			// It still reads and acks.
			if status, refusal := g.do(t, mallory, "laptop/m0", "ack_messages", c3po.AckInput{MessageIDs: []c3po.MessageID{asked.ID}}, nil); status != http.StatusOK {
				t.Errorf("an ack is answered %d %+v", status, refusal)
			}
		})
	}
}

func TestOneTokenCannotFloodThePersonWithQuestions(t *testing.T) {
	t.Parallel()
	g := budgeted(t, func(l *c3po.Limits) { l.TokenQuestions = 5 })
	mallory := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "laptop/*"}).Secret
	person := g.mint(t, auth.Grant{Role: c3po.RoleHuman}).Secret
	var refusal c3po.Error
	asked := 0
	for n := 0; n < 50 && refusal.Code == ""; n++ {
		as := fmt.Sprintf("laptop/m%d", n)
		if n%2 == 0 {
			_, refusal = g.do(t, mallory, as, "escalate_to_human", c3po.EscalateInput{Reason: fmt.Sprint("may I? ", n)}, nil)
		} else {
			_, refusal = g.do(t, mallory, as, "send_message", c3po.SendInput{Target: "human", Message: fmt.Sprint("hello ", n)}, nil)
		}
		if refusal.Code == "" {
			asked++
		}
	}
	wantSpent(t, refusal, "5 messages to the person an hour")
	if asked != 5 {
		t.Errorf("one token asked %d times", asked)
	}
	// What the person asks is answered all the same.
	var question c3po.Receipt
	g.do(t, person, "", "send_message", c3po.SendInput{Target: "laptop/m0", Message: "what is it?"}, &question)
	if status, refusal := g.do(t, mallory, "laptop/m0", "reply", c3po.ReplyInput{MessageID: question.ID, Response: "nothing"}, nil); status != http.StatusOK {
		t.Errorf("an answer to the person is answered %d %+v", status, refusal)
	}
}

// Whoever calls over the socket needs no token: there the user is counted.
func TestTheSocketWithoutATokenHasABudgetToo(t *testing.T) {
	t.Parallel()
	limits := c3po.DefaultLimits()
	limits.TokenQuestions = 5
	dir, err := os.MkdirTemp("", "c3b") // short, for the socket in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	start(t, server.Config{RedisURL: redistest.Start(t), Socket: socket, Auth: auth.Tokens, Limits: limits})
	local := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	defer local.CloseIdleConnections()
	asked, status, text := 0, http.StatusOK, ""
	for n := 0; n < 50 && status == http.StatusOK; n++ {
		if status, text, err = call(t.Context(), local, "POST", "http://localhost/api/op/escalate_to_human", "", fmt.Sprintf(`{"reason":"may I? %d"}`, n),
			auth.AgentHeader, fmt.Sprintf("m%d", n)); err != nil {
			t.Fatal(err)
		}
		if status == http.StatusOK {
			asked++
		}
	}
	var refusal c3po.Error
	if err := json.Unmarshal([]byte(text), &refusal); err != nil || asked != 5 {
		t.Fatalf("%d questions, then %s, %v", asked, text, err)
	}
	wantSpent(t, refusal, "5 messages to the person an hour")
}

func TestOneTokenCannotHoldAllTheWaitsAndStreams(t *testing.T) {
	t.Parallel()
	g := budgeted(t, func(l *c3po.Limits) { l.TokenWaits, l.TokenStreams = 3, 2 })
	mallory := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "laptop/*"}).Secret
	other := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "box/*"}).Secret
	ctx, cancel := context.WithCancel(t.Context())
	var waits sync.WaitGroup
	defer waits.Wait()
	defer cancel()
	for n := range 3 {
		waits.Go(func() {
			// The look below may have been there first.
			for ctx.Err() == nil {
				_, _, _ = call(ctx, http.DefaultClient, "POST", g.url+"/api/op/wait_for_message", mallory, `{"timeout":600}`, auth.AgentHeader, fmt.Sprintf("laptop/w%d", n))
			}
		})
	}
	var refusal c3po.Error
	for deadline := time.Now().Add(longEnough); refusal.Code != c3po.RateLimited; {
		if _, refusal = g.do(t, mallory, "laptop/w9", "wait_for_message", c3po.WaitInput{Timeout: 1}, nil); time.Now().After(deadline) {
			t.Fatalf("a fourth wait of a token is answered %+v", refusal)
		}
	}
	if !strings.Contains(refusal.Message, "3 waits of this token") || refusal.Suggestion == "" {
		t.Errorf("refused with %+v", refusal)
	}
	if status, refusal := g.do(t, other, "box/api", "wait_for_message", c3po.WaitInput{Timeout: 1}, nil); status != http.StatusOK {
		t.Errorf("another token's wait is answered %d %+v", status, refusal)
	}
	stream := func(token string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, "GET", g.url+"/api/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = answer.Body.Close() })
		return answer.StatusCode
	}
	got := []int{stream(mallory), stream(mallory), stream(mallory), stream(other)}
	if want := []int{200, 200, 429, 200}; !slices.Equal(got, want) {
		t.Errorf("streams are answered %v, want %v", got, want)
	}
}
