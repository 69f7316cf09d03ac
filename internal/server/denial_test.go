package server_test

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

var (
	// denial is a claim that nothing happened, which is false once the key holds a message.
	denial   = regexp.MustCompile(`(?i)nothing (was|is|has been|will be) (done|sent|stored|said|changed)|not_stored`)
	storedID = regexp.MustCompile(`[a-z/]+::[#a-z/]+::[0-9a-f]{8}`)
)

// markOfKeys begins every key.
const markOfKeys = "key-of-"

// A keyed call of an agent is one that stores something under a key.
type keyedCall struct{ tool, input string }

// Each row stores a message, an answer and a post through both doors and then changes
// something. The same call then gets the receipt of what is stored, or the code of the row
// without a claim that nothing is.
func TestNoRefusalOfARepeatDeniesWhatIsStored(t *testing.T) {
	t.Parallel()
	type rig struct {
		*guarded
		redis   *redistest.Server
		proxy   *faultrig.Proxy
		as      func(agent, run, operation, input string)
		another func() // starts another coordinator, which gets all later calls
	}
	raw := func(t *testing.T, g *rig, command ...string) {
		t.Helper()
		if _, err := redistest.Do(g.redis.Addr(), command...); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name   string
		code   c3po.Code // of the repeat; empty: all get their receipts
		fresh  c3po.Code // of a new message, which shows that the change is one
		limits func(*c3po.Limits)
		change func(*testing.T, *rig)
		edit   func(input string) string // of the repeat
		token  string                    // of the repeat
		header []string                  // of the repeat
		faulty bool                      // a fault of c3po is meant to be in its log
	}{
		{name: "nothing changes"},
		{name: "the token is unknown", code: c3po.Unauthorized, token: "garbage"},
		{name: "the token is another agent's", code: c3po.Forbidden, token: "other"},
		{name: "the text is another one", code: c3po.KeyConflict, edit: func(in string) string { return strings.Replace(in, "pay", "paid", 1) }},
		{name: "the text is too long", code: c3po.InvalidRequest, edit: func(in string) string { return strings.Replace(in, "pay", strings.Repeat("x", 50_001), 1) }},
		{name: "the client is too new", code: c3po.InvalidRequest, header: []string{c3po.ProtocolHeader, "98-99"}},
		{name: "the version of the client makes no sense", code: c3po.InvalidRequest, header: []string{c3po.ProtocolHeader, "x"}},
		{name: "the recipients leave", fresh: c3po.AgentUnavailable, change: func(t *testing.T, g *rig) {
			g.as("payer", "", "register_agent", `{"capabilities":[]}`)
			g.as("bob", "", "unregister", `{}`)
			g.as("payer", "", "unregister", `{}`)
		}},
		{name: "the agent that took it over is forgotten", code: c3po.AgentNotFound, change: func(t *testing.T, g *rig) {
			raw(t, g, "DEL", "c3po:1:{main}:agent:carl")
		}},
		{name: "the rate is used up", fresh: c3po.RateLimited, limits: func(l *c3po.Limits) { l.SendsPerMinute = 6 }},
		{name: "the token's messages are used up", fresh: c3po.BudgetSpent, limits: func(l *c3po.Limits) { l.TokenMessages = 10 }},
		{name: "the token's agents are used up and the sender is forgotten", code: c3po.BudgetSpent, limits: func(l *c3po.Limits) { l.TokenAgents = 4 },
			change: func(t *testing.T, g *rig) {
				raw(t, g, "DEL", "c3po:1:{main}:agent:ann")
				g.another()
				for _, id := range []string{"eve", "fred", "gil", "hal"} {
					g.as(id, "", "register_agent", `{}`)
				}
			}},
		{name: "the inbox is full", fresh: c3po.InboxFull, limits: func(l *c3po.Limits) { l.InboxMessages, l.SenderShare = 4, 1 }},
		{name: "the space is full", fresh: c3po.StoreFull, limits: func(l *c3po.Limits) { l.SpaceBytes = 75_000 }, change: func(_ *testing.T, g *rig) {
			g.as("bob", "", "send_message", `{"target":"carl","message":"`+strings.Repeat("x", 45_000)+`"}`)
		}},
		{name: "Redis has no memory", code: c3po.StoreFull, change: func(t *testing.T, g *rig) {
			raw(t, g, "CONFIG", "SET", "maxmemory-policy", "noeviction")
			raw(t, g, "CONFIG", "SET", "maxmemory", "1mb")
		}},
		{name: "Redis is gone", code: c3po.RedisUnavailable, change: func(_ *testing.T, g *rig) { g.redis.Kill() }},
		{name: "Redis is a replica", code: c3po.RedisUnavailable, change: func(t *testing.T, g *rig) {
			raw(t, g, "REPLICAOF", "127.0.0.1", "1")
		}},
		{name: "every answer of Redis is lost", code: c3po.UnknownOutcome, change: func(_ *testing.T, g *rig) { g.proxy.LoseAnswers(markOfKeys) }},
		{name: "another run has the name", code: c3po.Superseded, change: func(_ *testing.T, g *rig) {
			g.as("ann", "box:1:1", "unregister", `{}`)
			g.as("ann", "box:9:9", "register_agent", `{}`)
		}},
		{name: "the store is damaged", code: c3po.Internal, faulty: true, change: func(t *testing.T, g *rig) {
			raw(t, g, "DEL", "c3po:1:{main}:idem")
			raw(t, g, "SET", "c3po:1:{main}:idem", "x")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			limits := c3po.DefaultLimits()
			if c.limits != nil {
				c.limits(&limits)
			}
			redis := redistest.New(t)
			proxy := faultrig.NewProxy(t, redis.URL())
			cfg := server.Config{Limits: limits, RedisURL: "redis://" + proxy.Addr(), Auth: auth.Tokens}
			g := &rig{guarded: startGuarded(t, cfg.RedisURL, cfg), redis: redis, proxy: proxy}
			g.another = func() {
				g.coordinator = startLogging(t, cfg, &faultrig.Buffer{}, slog.New(slog.DiscardHandler))
			}
			if c.faulty {
				g.another()
			}
			tokens := map[string]string{
				"":        g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "*"}).Secret,
				"other":   g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "other"}).Secret,
				"garbage": "c3po_agent_abcdefghij23_garbage",
			}
			said := func(door, token, agent, run string, asked keyedCall, header ...string) string {
				header = append([]string{auth.AgentHeader, agent, "X-C3PO-Run", run}, header...)
				path, body := "/api/op/"+asked.tool, asked.input
				if door == "mcp" {
					header = append(header, "Accept", "application/json, text/event-stream")
					path, body = "/mcp?tools=core,more,rooms", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, asked.tool, asked.input)
				}
				_, text, err := call(t.Context(), http.DefaultClient, "POST", g.url+path, tokens[token], body, header...)
				if err != nil {
					t.Error(err)
				}
				return strings.ReplaceAll(text, `\"`, `"`)
			}
			g.as = func(agent, run, operation, input string) {
				t.Helper()
				if text := said("rest", "", agent, run, keyedCall{operation, input}); strings.Contains(text, `"code"`) {
					t.Fatalf("%s as %s: %s", operation, agent, text)
				}
			}
			g.as("payer", "", "register_agent", `{"capabilities":["pay"]}`)
			g.as("bob", "", "register_agent", `{}`)
			g.as("carl", "", "register_agent", `{}`)
			g.as("ann", "box:1:1", "room_join", `{"room":"hall"}`)
			calls := map[string]keyedCall{}
			for _, door := range []string{"rest", "mcp"} {
				question := storedID.FindString(said("rest", "", "bob", "", keyedCall{"send_message", `{"target":"ann","message":"well, ` + door + `?"}`}))
				for name, keyed := range map[string]keyedCall{
					"message": {"send_message", `{"target":"bob","message":"pay","if_away":"fail","client_key":"%s"}`},
					"task":    {"send_message", `{"target":"role:pay","message":"pay","if_away":"fail","client_key":"%s"}`},
					"answer":  {"reply", `{"message_id":"` + question + `","response":"pay","status":"handed_over","handed_to":"carl","client_key":"%s"}`},
					"post":    {"room_post", `{"room":"hall","message":"pay","client_key":"%s"}`},
				} {
					calls[door+" "+name] = keyedCall{keyed.tool, fmt.Sprintf(keyed.input, markOfKeys+door+name)}
				}
			}
			stored := map[string]string{}
			for name, keyed := range calls {
				door, _, _ := strings.Cut(name, " ")
				text := said(door, "", "ann", "box:1:1", keyed)
				if stored[name] = storedID.FindString(text); stored[name] == "" || strings.Contains(text, `"code"`) {
					t.Fatalf("%s: %s", name, text)
				}
			}
			if c.change != nil {
				c.change(t, g)
			}
			if c.fresh != "" {
				if text := said("rest", "", "ann", "box:1:1", keyedCall{"send_message", `{"target":"bob","message":"` + strings.Repeat("new", 10_000) + `","if_away":"fail","client_key":"fresh"}`}); !strings.Contains(text, string(c.fresh)) {
					t.Fatalf("a new message gets %s, want %s", text, c.fresh)
				}
			}
			var work sync.WaitGroup
			var mu sync.Mutex
			refused := 0
			for name, keyed := range calls {
				door, _, _ := strings.Cut(name, " ")
				if c.edit != nil {
					keyed.input = c.edit(keyed.input)
				}
				work.Go(func() {
					text := said(door, c.token, "ann", "box:1:1", keyed, c.header...)
					switch {
					case denial.MatchString(text):
						t.Errorf("%s: it is stored, and the answer is %s", name, text)
					case strings.Contains(text, string(c3po.RedisUnavailable)) && c.code == c3po.UnknownOutcome: // it could not even ask
					case strings.Contains(text, string(c3po.UnknownOutcome)) && c.code.Retry() == c3po.RetrySameKey, c.code != "" && strings.Contains(text, string(c.code)):
						mu.Lock()
						defer mu.Unlock()
						refused++
					case storedID.FindString(text) != stored[name] || strings.Contains(text, `"code"`):
						t.Errorf("%s: got %s, want the receipt of %s or %s", name, text, stored[name], cmp.Or(c.code, "no refusal"))
					}
				})
			}
			work.Wait()
			if c.code != "" && refused == 0 {
				t.Errorf("nobody got %s: the row has lost its point", c.code)
			}
		})
	}
}
