package server_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// A repeat under the key of a stored message gets its receipt, or a refusal that leaves open
// whether the message is stored.
func TestNoDoorDeniesAStoredMessage(t *testing.T) {
	t.Parallel()
	limits := c3po.DefaultLimits()
	limits.TokenCalls = 1
	g := startGuarded(t, redistest.Start(t), server.Config{Limits: limits})
	const input = `{"target":"role:pay","message":"pay","client_key":"k"}`
	register := func(secret, input string) {
		t.Helper()
		if status, said, err := call(t.Context(), http.DefaultClient, "POST", g.url+"/api/op/register_agent", secret, input, auth.AgentHeader, "payer"); err != nil || status != http.StatusOK {
			t.Fatal(status, said, err)
		}
	}
	send := map[string]func(secret, agent string) string{
		"rest": func(secret, agent string) string {
			_, said, err := call(t.Context(), http.DefaultClient, "POST", g.url+"/api/op/send_message", secret, input, auth.AgentHeader, agent)
			if err != nil {
				t.Error(err)
			}
			return said
		},
		"mcp": func(secret, agent string) string {
			_, said, err := call(t.Context(), http.DefaultClient, "POST", g.url+"/mcp", secret,
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send_message","arguments":`+input+`}}`,
				auth.AgentHeader, agent, "Accept", "application/json, text/event-stream")
			if err != nil {
				return "lost" // a refusal that comes before the request was read can be cut off
			}
			return said
		},
	}
	payer := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "payer"}).Secret
	register(payer, `{"capabilities":["pay"]}`)
	secrets := map[string]string{}
	for door := range send {
		secrets[door] = g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: door}).Secret
		if said := send[door](secrets[door], door); !strings.Contains(said, "durability") {
			t.Fatalf("%s: %s", door, said)
		}
	}
	register(payer, `{"capabilities":[]}`)
	for door := range send {
		var mu sync.Mutex
		var work sync.WaitGroup
		receipts, refused := 0, 0
		for range 16 { // some wait for their second, the others are refused
			work.Go(func() {
				said := send[door](secrets[door], door)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case strings.Contains(said, "durability"):
					receipts++
				case strings.Contains(said, "RATE_LIMITED") && !strings.Contains(said, "not_stored") && !strings.Contains(said, "Nothing was done"):
					refused++
				case said == "lost":
				default:
					t.Errorf("%s: %s", door, said)
				}
			})
		}
		work.Wait()
		if receipts == 0 || refused == 0 {
			t.Errorf("%s: %d receipts and %d refusals, want some of both", door, receipts, refused)
		}
	}
}
