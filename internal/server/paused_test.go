package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
	"github.com/c3po-dev/c3po/internal/testkit/seed"
)

// A pausedHost is an agent called api that a person pauses, and others that write to it meanwhile.
type pausedHost struct {
	*guarded
	agent, person string
	tickets       []c3po.MessageID // that api has asked, and that are answered while it is paused
	task          c3po.MessageID
}

// read makes one request of api's in a session.
func (p *pausedHost) read(t *testing.T, session, method, path, body string) string {
	t.Helper()
	_, text, err := call(t.Context(), http.DefaultClient, method, p.url+path, p.agent, body,
		auth.AgentHeader, "api", auth.RunHeader, "r1", auth.SessionHeader, session, "Accept", "application/json, text/event-stream")
	if err != nil {
		t.Error(err)
	}
	return text
}

func (p *pausedHost) tool(t *testing.T, session, toolset, name, arguments string) string {
	t.Helper()
	return p.read(t, session, "POST", "/mcp?tools="+toolset, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, arguments))
}

// waysToWait are all ways by which an agent is given what others write, of one ticket of its own.
func (p *pausedHost) waysToWait() []func(t *testing.T, session string, ticket c3po.MessageID) string {
	op := func(name, body string) func(*testing.T, string, c3po.MessageID) string {
		return func(t *testing.T, session string, ticket c3po.MessageID) string {
			return p.read(t, session, "POST", "/api/op/"+name, strings.ReplaceAll(body, "TICKET", string(ticket)))
		}
	}
	get := func(path string) func(*testing.T, string, c3po.MessageID) string {
		return func(t *testing.T, session string, ticket c3po.MessageID) string {
			return p.read(t, session, "GET", strings.ReplaceAll(path, "TICKET", string(ticket)), "")
		}
	}
	tool := func(toolset, name, arguments string) func(*testing.T, string, c3po.MessageID) string {
		return func(t *testing.T, session string, ticket c3po.MessageID) string {
			return p.tool(t, session, toolset, name, strings.ReplaceAll(arguments, "TICKET", string(ticket)))
		}
	}
	return []func(*testing.T, string, c3po.MessageID) string{
		op("wait_for_message", `{"timeout":1}`),
		op("wait_for_message", `{"timeout":1,"kind":"incoming"}`),
		op("wait_for_message", `{"timeout":1,"after":0}`),
		op("wait_for_message", `{"timeout":1,"message_id":"TICKET"}`),
		op("wait_for_message", `{"timeout":1,"message_id":"TICKET","asked":{}}`),
		op("pending", `{"timeout":1,"paused":""}`),
		op("pending", `{"timeout":1,"after":0}`),
		op("claim", `{"message_id":"`+string(p.task)+`"}`),
		get("/api/wait?timeout=1"),
		get("/api/wait?timeout=1&after=0"),
		get("/api/pending"),
		get("/replies/TICKET?waitMs=20"),
		get("/replies/TICKET/stream?waitMs=20"),
		tool("core", "wait_for_message", `{"timeout":1}`),
		tool("core", "wait_for_message", `{"timeout":1,"message_id":"TICKET"}`),
		tool("compat", "wait_for_request", `{"timeout":1}`),
		tool("compat", "wait_for_response", `{"timeout":1,"request_id":"TICKET"}`),
		tool("bridge", "await_reply", `{"timeoutMs":20,"ticketId":"TICKET"}`),
	}
}

// Everything that waits for mail is tried at random while an agent is paused: only its
// person's words come, and afterwards everything that others wrote, once and in order.
func TestNothingThatWaitsHandsAPausedAgentTheWordsOfOthers(t *testing.T) {
	t.Parallel()
	const choices, senders, each = 200, 6, 6
	p := &pausedHost{guarded: startGuarded(t, redistest.Start(t), server.Config{})}
	p.agent, p.person = p.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "*"}).Secret, p.mint(t, auth.Grant{Role: c3po.RoleHuman}).Secret
	do := func(token, as, name string, in, out any) {
		t.Helper()
		if status, refusal := p.do(t, token, as, name, in, out); status != http.StatusOK {
			t.Fatalf("%s of %q: %d %v", name, as, status, refusal)
		}
	}
	web := func(n int) string { return fmt.Sprint("web", n) }
	p.read(t, "s0", "POST", "/api/op/register_agent", `{"capabilities":["review"]}`)
	p.read(t, "s0", "POST", "/api/op/room_join", `{"room":"ops","notify":"all"}`)
	for n := range senders {
		do(p.agent, web(n), "room_join", c3po.RoomJoinInput{Room: "ops"}, nil)
		var asked c3po.Receipt
		if err := json.Unmarshal([]byte(p.read(t, "s0", "POST", "/api/op/send_message", fmt.Sprintf(`{"target":%q,"message":"Which port?"}`, web(n)))), &asked); err != nil || asked.ID == "" {
			t.Fatalf("api cannot ask: %+v %v", asked, err)
		}
		p.tickets = append(p.tickets, asked.ID)
	}
	do(p.person, "", "pause", c3po.PauseInput{AgentID: "api", Reason: "lunch"}, nil)
	var kept []c3po.MessageID
	for i := range each {
		for n := range senders {
			var sent c3po.Receipt
			switch i {
			case 0:
				var answer c3po.Message
				do(p.agent, web(n), "reply", c3po.ReplyInput{MessageID: p.tickets[n], Response: "FOREIGN answer"}, &answer)
				kept = append(kept, answer.ID)
				continue
			case 1:
				do(p.agent, web(n), "room_post", c3po.RoomPostInput{Room: "ops", Message: "FOREIGN post"}, nil)
				continue
			}
			do(p.agent, web(n), "send_message", c3po.SendInput{Target: "api", Message: fmt.Sprint("FOREIGN message ", i)}, &sent)
			kept = append(kept, sent.ID)
		}
	}
	var task c3po.Receipt
	do(p.agent, web(0), "send_message", c3po.SendInput{Target: "role:review", Message: "FOREIGN task"}, &task)
	p.task = task.ID
	for n := range 3 {
		do(p.person, "", "send_message", c3po.SendInput{Target: "api", Message: fmt.Sprint("PERSON ", n)}, nil)
	}

	ways := p.waysToWait()
	var running sync.WaitGroup
	var mu sync.Mutex
	heard, told := 0, 0
	for lane := range 20 {
		chance := seed.Rand(t, uint64(lane))
		running.Go(func() {
			for range choices / 20 {
				way := chance.IntN(len(ways))
				text := ways[way](t, fmt.Sprint("s", chance.IntN(5)), p.tickets[chance.IntN(len(p.tickets))])
				mu.Lock()
				heard, told = heard+strings.Count(text, "PERSON "), told+strings.Count(text, "lunch")
				mu.Unlock()
				if strings.Contains(text, "FOREIGN") {
					t.Errorf("way %d hands the paused agent others' words: %s", way, text)
				}
			}
		})
	}
	running.Wait()
	if heard == 0 || told == 0 {
		t.Errorf("the person's words came %d times, and %d answers say why it is paused", heard, told)
	}

	do(p.person, "", "resume", c3po.PauseInput{AgentID: "api"}, nil)
	var came []c3po.MessageID
	posts, tasks := 0, 0
	for {
		var got c3po.WaitResult
		text := p.read(t, "s0", "POST", "/api/op/wait_for_message", `{"timeout":1}`)
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err, text)
		}
		if got.Outcome != nil {
			break
		}
		switch {
		case got.Room != "":
			posts++
		case got.ToAgent.Queue() != "":
			tasks++
		case got.FromAgent != c3po.Human:
			came = append(came, got.ID)
		}
	}
	if !slices.Equal(came, kept) {
		t.Errorf("after the pause came %v, want %v", came, kept)
	}
	if posts != senders || tasks != 1 {
		t.Errorf("after the pause came %d posts and %d tasks, want %d and 1", posts, tasks, senders)
	}
}
