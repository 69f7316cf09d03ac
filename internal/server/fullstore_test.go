package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

// Everybody was there before the store filled up, and everybody is a new run on
// a coordinator that was started since.
func TestAtMaxmemoryANewRunOfEveryKindOfClientReadsAndAcks(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	limits := c3po.DefaultLimits()
	limits.OnlineWindow = time.Millisecond // the run before is offline
	before := startGuarded(t, redis.URL(), server.Config{Limits: limits})
	token := before.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "*"}).Secret
	person := before.mint(t, auth.Grant{Role: c3po.RoleHuman}).Secret
	kinds := clientKinds(token)
	mail := map[string]c3po.MessageID{}
	for name, kind := range kinds {
		first := kind(before.url, "1")
		first.must(t, "register_agent", `{"capabilities":["review"]}`)
		receipt := struct{ ID c3po.MessageID }{}
		sent := before.as(t, token, "writer", "send_message", fmt.Sprintf(`{"target":%q,"message":"mail for %s"}`, name, name))
		if err := json.Unmarshal([]byte(sent), &receipt); err != nil || receipt.ID == "" {
			t.Fatalf("sent %s, %v", sent, err)
		}
		mail[name] = receipt.ID
	}
	before.stop()
	before.wantEnd(t)
	for name, value := range map[string]string{"maxmemory-policy": "noeviction", "maxmemory": "1mb"} {
		if _, err := redistest.Do(redis.Addr(), "CONFIG", "SET", name, value); err != nil {
			t.Fatal(err)
		}
	}

	full := startGuarded(t, redis.URL(), server.Config{Limits: limits})
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			again := kind(full.url, "2")
			if text := again.must(t, "wait_for_message", `{"timeout":1}`); !strings.Contains(text, "mail for "+name) {
				t.Errorf("its wait gives %s", text)
			}
			if text := again.must(t, "get_messages", `{}`); !strings.Contains(text, "mail for "+name) {
				t.Errorf("it reads %s", text)
			}
			again.must(t, "register_agent", `{"capabilities":["review"]}`)
			if text, err := again(t.Context(), "send_message", `{"target":"writer","message":"one more"}`); !errors.Is(err, c3po.StoreFull) && !strings.Contains(text, string(c3po.StoreFull)) {
				t.Errorf("a send says %s, %v", text, err)
			}
			if text := again.must(t, "ack_messages", fmt.Sprintf(`{"message_ids":[%q]}`, mail[name])); !strings.Contains(text, `"acked":["`+string(mail[name])) {
				t.Errorf("its ack says %s", text)
			}
			for _, verb := range []string{"pause", "resume"} {
				full.as(t, person, "", verb, fmt.Sprintf(`{"agent_id":%q}`, name))
			}
			again.must(t, "unregister", `{}`)
		})
	}
	for _, verb := range []string{"pause", "resume"} {
		full.as(t, person, "", verb, `{"all":true}`)
	}
	status, text, err := call(t.Context(), http.DefaultClient, "POST", full.url+"/api/op/get_messages", token, "{}", "X-Agent-ID", "stranger")
	if err != nil || status != http.StatusServiceUnavailable || !strings.Contains(text, string(c3po.StoreFull)) {
		t.Errorf("an agent that was never here is told %d %s, %v", status, text, err)
	}
}

// as calls an operation with a token and has to succeed.
func (g *guarded) as(t *testing.T, token, agent, operation, input string) string {
	t.Helper()
	var headers []string
	if agent != "" {
		headers = []string{"X-Agent-ID", agent}
	}
	status, text, err := call(t.Context(), http.DefaultClient, "POST", g.url+"/api/op/"+operation, token, input, headers...)
	if err != nil || status != http.StatusOK {
		t.Fatalf("%s as %q: %d %s, %v\n%s", operation, agent, status, text, err, g.log)
	}
	return text
}

// A tongue is how a client calls operations.
type tongue func(ctx context.Context, operation, input string) (string, error)

func (c tongue) must(t *testing.T, operation, input string) string {
	t.Helper()
	text, err := c(t.Context(), operation, input)
	if err != nil {
		t.Fatalf("%s: %v", operation, err)
	}
	return text
}

// clientKinds are the ways to be an agent; each is called as its kind. They are
// given the coordinator and the name of the run.
func clientKinds(token string) map[string]func(url, run string) tongue {
	overREST := func(url, id string, headers ...string) tongue {
		headers = append([]string{"X-Agent-ID", id}, headers...)
		return func(ctx context.Context, operation, input string) (string, error) {
			status, text, err := call(ctx, http.DefaultClient, "POST", url+"/api/op/"+operation, token, input, headers...)
			if err == nil && status != http.StatusOK {
				err = fmt.Errorf("%d %s", status, text)
			}
			return text, err
		}
	}
	overMCP := func(url, id string, headers ...string) tongue {
		headers = append([]string{"X-Agent-ID", id, "Accept", "application/json, text/event-stream"}, headers...)
		return func(ctx context.Context, operation, input string) (string, error) {
			status, text, err := call(ctx, http.DefaultClient, "POST", url+"/mcp?tools=core,more,diag", token,
				fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, operation, input), headers...)
			if err == nil && (status != http.StatusOK || strings.Contains(text, `"isError":true`)) {
				err = fmt.Errorf("%d %s", status, text)
			}
			return strings.ReplaceAll(text, `\"`, `"`), err
		}
	}
	ours := func(url, id, run, session string) tongue {
		svc := client.New(client.Config{URL: url, AgentID: c3po.AgentID(id), Run: run, Session: session, Token: token, Patience: time.Millisecond})
		return func(ctx context.Context, operation, input string) (string, error) {
			for _, op := range dialect.Operations() {
				if op.Name == operation {
					out, err := op.Call(ctx, svc, []byte(input))
					text, _ := json.Marshal(out)
					return string(text), err
				}
			}
			return "", fmt.Errorf("no operation %s", operation)
		}
	}
	return map[string]func(url, run string) tongue{
		"header-only": func(url, _ string) tongue { return overREST(url, "header-only") },
		"session":     func(url, run string) tongue { return overREST(url, "session", "X-Session-ID", "session-"+run) },
		"bridge":      func(url, run string) tongue { return ours(url, "bridge", "box:10"+run+":1", "claude-"+run) },
		"cli":         func(url, _ string) tongue { return ours(url, "cli", "", "") },
		"mcp":         func(url, _ string) tongue { return overMCP(url, "mcp") },
		"mcp-session": func(url, run string) tongue { return overMCP(url, "mcp-session", "X-Session-ID", "mcp-"+run) },
	}
}
